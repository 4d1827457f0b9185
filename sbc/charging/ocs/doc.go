// Package ocs is a small charging server for tests: accounts with seconds in place of money, Ro and Rf
// over any stream. It counts what it is told once, however often it is told, as a real server must:
// by session and request number. Faults are played on demand.
package ocs
