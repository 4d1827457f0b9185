package app

import (
	"time"

	"github.com/tandem-sbc/tandem/cluster/soft"
	"github.com/tandem-sbc/tandem/sbc/lcr"
)

// share tells all nodes an answer that is kept here, as it came (S-090). It is off the
// path of calls.
func (r *callRoutes) share(k lcr.Key, body []byte, asked time.Time, ttl time.Duration) {
	r.soft.Do(func(now time.Time, store *soft.Store) {
		if err := store.PutOf(now, asked, soft.KindLCR, k.String(), body, ttl); err != nil {
			r.untold.Add(1) // too large, or no room: the others ask by themselves
		}
	})
}

// flush makes all nodes forget the answers of a plan, or of all plans with an empty
// name, and returns how many this node knew.
func (r *callRoutes) flush(plan string) (n int, err error) {
	at := time.Now()
	r.soft.Do(func(now time.Time, store *soft.Store) {
		at = now
		err = store.Put(now, soft.KindLCR, lcr.FlushKey(plan), nil, lcr.MaxTTL)
	})
	return r.client.Flush(plan, at), err
}

// forget makes all nodes forget one answer.
func (r *callRoutes) forget(k lcr.Key) bool {
	r.soft.Do(func(now time.Time, store *soft.Store) { store.Delete(now, soft.KindLCR, k.String()) })
	return r.client.Forget(k.String())
}

// changed takes answers that other nodes have got, and their orders to forget.
func (r *callRoutes) changed(changes []soft.Change) {
	for i := range changes {
		e := &changes[i]
		if e.Kind != soft.KindLCR {
			continue
		}
		plan, flush := lcr.ParseFlush(e.Key)
		switch {
		case flush && e.Reason == soft.Put:
			if n := r.client.Flush(plan, e.Since); n > 0 {
				r.log.Info("kept decisions forgotten", "plan", plan, "decisions", n, "ordered_at", e.Owner)
			}
		case flush:
		case e.Reason == soft.Put:
			if !r.client.Hear(e.Key, e.Value, e.Since, e.Expires) { // S-092
				r.useless.Add(1)
				r.log.Debug("an answer of another node is of no use", "peer", e.Owner, "key", e.Key)
			}
		case e.Reason == soft.Deleted:
			r.client.Forget(e.Key)
		}
	}
}
