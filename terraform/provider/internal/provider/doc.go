// Package provider is the Terraform provider of Tandem.
//
// A resource is one named thing of the cluster document: a trunk group, a member, a
// number, a digest user, a route plan, a number policy. What a resource writes is
// described once, as a table of fields ([thing]), and all of them are created, read,
// changed and removed by the same code (resource.go): it finds the thing by its name
// in the text of the document and edits the keys of its fields there. Keys that the
// table does not have, things that no resource names, and comments belong to people and
// are never touched.
//
// Begin with things.go, the tables; then resource.go and edit.go.
package provider
