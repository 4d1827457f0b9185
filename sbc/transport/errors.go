package transport

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// Errors that Handler.Failed reports. Errors of the system (refused, reset, unreachable, TLS) come wrapped as they are.
var (
	ErrClosed     = errors.New("transport: closed")
	ErrNoListener = errors.New("transport: no listener for this transport and address family")
	ErrFlowGone   = errors.New("transport: the flow has ended")
	ErrQueueFull  = errors.New("transport: write queue full")
	ErrNoTLS      = errors.New("transport: no TLS client configuration")
	ErrPeerClosed = errors.New("transport: connection closed by the peer")
	ErrDropped    = errors.New("transport: socket send buffer full")
	// ErrNotSent marks, in an error's chain, that no byte of the message left: its connection could not be made.
	ErrNotSent = errors.New("not sent")
	// ErrTooMany is for a connection beyond MaxConns or MaxConnsPerSource, which hold for those that we dial too.
	ErrTooMany = fmt.Errorf("transport: too many connections to this address, or at all: %w", ErrNotSent)
)

// ICMPError reports that a datagram was refused by a host on its way. The kernel tells which address it was for and gives back
// its first bytes.
type ICMPError struct {
	Branch []byte // branch of the first Via of the datagram; nil when the ICMP message quoted too little of it
	Addr   netip.AddrPort
	Errno  syscall.Errno // ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EMSGSIZE ...
}

func (e *ICMPError) Error() string {
	return fmt.Sprintf("transport: icmp from the way to %s: %s", e.Addr, e.Errno.Error())
}

// Unwrap gives the errno, so that errors.Is(err, syscall.ECONNREFUSED) holds.
func (e *ICMPError) Unwrap() error { return e.Errno }

// innermost drops what package net says of a socket, when the caller says it already.
func innermost(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}
