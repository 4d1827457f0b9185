// Package config reads the node file: who this node is, where it listens, whom it knows and where it
// keeps its data. What the cluster does (trunk groups, numbers, routes) is not here: that is the
// cluster document, which all nodes share.
//
// [Load] reads YAML and the TANDEM_* environment, converts every value into the type that the rest of
// the program wants, and reports all faults of a file at once, each with the path of its key and a
// remedy. What Load returns needs no further check. A value is never repaired silently.
//
// Viper does the reading and stays inside: it lower-cases the keys of maps and splits keys at dots, so
// the file has no map whose keys a user chooses, only lists of entries with a name.
package config
