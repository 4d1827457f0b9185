// Package lease shares limits out between sites and nodes so that what all of
// them have in use together is never above the limit (DEC-10). It is pure: an
// Engine is stepped with the time, with what other nodes sent and with who lives,
// and puts frames out. Admission itself is limit.Meter, which the engine gives
// its share and the end of its lease.
//
// A limit is a number of rights. Each right is held by one node at most, whatever
// is lost, delayed, reordered or cut; no clock is needed for that.
//
// In a site, one node is the grantor of a limit: the one that rendezvous hashing
// over the live nodes names. Nodes report to the grantor that they see; the
// grantor calls them into a term, and a node that joined a term obeys no other
// grantor until it joins another. When every node of the site has joined, or is
// known to be dead and its lease has ended, the grantor holds the rights that
// nobody reports: it is full, and hands them out as they are asked for. Until
// then it is partial and moves rights only between those that joined. So there
// are never two that hand out the same right: to be full, a grantor needs the old
// one to have joined it.
//
// A node that is silent may be dead or only cut off, with its calls up. Its
// rights stay its own until its death is certain: its process refuses
// connections, or has come back under a new boot, or, when the grantor sees most
// nodes of the cluster, it has been silent for Config.DeadAfter. Nodes tell each
// other under which boots they met the others, so that a proof is of one process
// only; who was paused for longer than DeadAfter gives up what it held.
//
// Between sites each owns its static share. A site that has rights to spare moves
// some to one that asks. What was moved from site to site is counted per
// direction in numbers that only grow (rows), known to every node of the site
// before the other one hears of them, so that a repeated or late frame does no
// harm and a new grantor knows them. In a cut the lender goes on counting what it
// lent. The borrower, unconfirmed for one lease, uses no more than its own share
// and gives back what becomes free; after the longest time that a call may last
// the lender knows that all of it came back.
package lease
