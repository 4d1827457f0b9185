// Package archtest holds the rules of this repository that a compiler does not know, as tests:
// which package may import which and why, which packages are pure, and how code is written.
//
// There is nothing here to import. Every rule reads the source as text or syntax, so that it also
// covers files behind build tags, and every failure names the file, the rule, its reason and what to
// do instead. A rule that turns out to be wrong is changed here, in the open, not worked around.
package archtest
