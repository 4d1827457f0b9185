// Package e2e holds the end-to-end tests: clusters of real `tandem server`
// processes in the laboratory (package lab), called by foreign programs.
//
// The tests need root and the programs listed in tools/debian-packages, and are
// built with the tag e2e:
//
//	go test -tags e2e ./e2e/...
//
// Everything that a run started and wrote is kept in e2e/artifacts when a test
// failed, or always with E2E_KEEP=1.
package e2e
