// Package logs brings the log output of the libraries below the cluster
// (hashicorp/raft by hclog, hashicorp/memberlist by the standard logger) into
// log/slog.
//
// Both libraries repeat one line for every failed dial and for every packet of
// a stranger, at levels that would wake an operator. So each distinct message is
// passed on at most once per ten seconds, with the count of those that were held
// back, and errors of a library are warnings of ours: what they mean for the
// cluster is said by the cluster itself.
package logs
