// Package pushlist is a list that many goroutines push to and one takes from, without a
// lock: what calls report waits on it for whoever works it off.
package pushlist
