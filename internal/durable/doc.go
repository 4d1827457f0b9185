// Package durable replaces files so that a power loss leaves the old content or the new, and
// never a mixture of them.
package durable
