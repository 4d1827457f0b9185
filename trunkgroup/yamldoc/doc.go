// Package yamldoc reads and writes the cluster document as YAML.
//
// Reading is strict. Unknown and duplicate keys, values of the wrong type,
// empty values, aliases and a second document are faults; and all faults of the
// text are reported at once, each with its line, its path and a remedy,
// together with those that trunkgroup finds in the content. Text that was
// written without quotes is taken as it stands, so +12145550100 keeps its plus
// and 0800 its zero.
package yamldoc
