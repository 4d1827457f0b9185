// Package sdnotify tells the service manager how the process is: that it takes calls, in one line what it does, that its
// loops answer, that it ends. Without a manager that listens it does nothing.
//
// The protocol is that of sd_notify(3): datagrams of NAME=value lines to the socket that the environment names. What a
// node is, the package asks of a Service; when it tells what, stands in Keep.
package sdnotify
