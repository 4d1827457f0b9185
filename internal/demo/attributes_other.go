//go:build !linux

package demo

import "syscall"

// childAttributes keep a Ctrl-C of the terminal for the demo, which ends the
// calls before the nodes.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
