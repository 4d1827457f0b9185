// Package calllog writes the one line per call that operators grep for.
package calllog
