// Package admin is the HTTP API by which operators and programs look into one node and change the cluster.
//
// It answers on a unix socket, whose file mode says who may use it, or on a TCP address: loopback, or any with a bearer token. /livez, /readyz
// and /metrics may have a listener of their own for load balancers and Prometheus. Everything below /v1 is described by OpenAPI 3.1 at
// /openapi.json, and errors are problems as RFC 9457 writes them ([Problem]), with every fault of a document in them.
//
// The package knows no other room: what it shows and changes it asks for through the small interfaces of [Backend], which the application
// implements. Its types are the ones that the command line decodes.
package admin
