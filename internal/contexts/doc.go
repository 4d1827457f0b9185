// Package contexts reads and writes the file that names the nodes which an operator asks from his
// own machine: where each one's admin API answers, and how client and node prove themselves.
package contexts
