// Package webhook tells others over HTTP what becomes of calls: which attempts failed, which route answered,
// and what rules made of a failure (S-046).
//
// It is at least once and never in the way. A shard puts an event into the queue of each webhook of its plan,
// without a lock, and goes on; a queue that is full loses the new event and counts it. A few workers for each
// webhook write the events as JSON, sign them, and repeat what was not taken, with growing pauses and an end.
// Webhooks do not wait for each other. What is still queued when the node ends has a bounded time to leave.
//
//	New, Close   the sender and its end
//	Use          the plans that are in force: webhooks come and go with the configuration
//	Tell         an event, from the goroutine of a call
//	Stats        what became of them, for metrics and the alarm
//
// It does not decide what is told: package trunkgroup/policy has the events, sbc/b2bua their moments. Begin
// reading at sender.go.
package webhook
