// Command tfmirror makes a mirror that holds the Google provider's schema, so that what is written for that
// provider can be validated and tested without a network and without an account.
//
//	tfmirror -bindings node_modules/@cdktf/provider-google -for ../../terraform -mirror DIR
//
// The provider itself is not to be had from the package managers that the tests use. Its generated bindings are:
// every type with its arguments, which of them are needed, what nests in what, and how often. tfmirror reads them
// for the types that the configurations below -for name, writes them as schema.json, and puts a copy of itself
// beside it under the provider's name. Started under that name it is the provider: Terraform gets the schema of it
// and refuses what does not fit. It makes and reads nothing; tests say mock_provider.
//
// What the bindings do not tell: the values that an argument may have, arguments that exclude each other, and which
// optional arguments the provider fills in (all are taken to be so).
package main
