// Package app is the only place that knows everybody: it builds a node from its
// configuration, starts its parts in the order that lets calls go first, and
// stops them in reverse. The engine, the cluster and the watchers never import
// each other; what one needs of another is handed over here.
package app
