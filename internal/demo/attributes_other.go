//go:build !linux

package demo

import "syscall"

func childAttributes() *syscall.SysProcAttr { return nil }
