package demo

import "syscall"

// childAttributes make a node end with the demo, however that ends, and keep a
// Ctrl-C of the terminal for the demo, which ends the calls before the nodes.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
