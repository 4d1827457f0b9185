// Package tandem runs a cluster of `tandem server` processes in the laboratory:
// it writes the node files, starts, kills and restarts nodes, asks their admin
// API through the program's own commands, and reads their metrics and call
// records. It knows the product by its outside only.
package tandem
