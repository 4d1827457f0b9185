// Package nftset writes networks into sets of the kernel's packet filter, each for a
// time, so that what comes from them is dropped before any program sees it.
//
// The sets and the rule that drops are the operator's: this package only fills what is
// there. It needs CAP_NET_ADMIN in the network namespace of the process, and exists on
// Linux alone.
package nftset
