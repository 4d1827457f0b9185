package b2bua

// stage is how far an admitted call has got before its hunt. Each may make it wait for
// somebody outside of the shard, who says later what became of it; the call goes on with
// the next stage then.
type stage uint8

const (
	stageDecide stage = iota // a server, or decks, say which routes it has
	stageCharge              // credit is reserved
	stageHunt
)

// proceed takes the call through its stages for as long as none of them waits.
func (c *Call) proceed() {
	for c.phase == hunting && c.seq == nil {
		switch c.stage {
		case stageDecide:
			if !c.askRoutes() {
				return
			}
		case stageCharge:
			if !c.reserve() {
				return
			}
		case stageHunt:
			c.hunt()
			return
		}
		c.stage++
	}
}

// resume goes on after a stage that waited.
func (c *Call) resume() {
	c.stage++
	c.proceed()
}
