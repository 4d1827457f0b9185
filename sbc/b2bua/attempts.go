package b2bua

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/sbc/sip"
)

// wireAttempt is an attempt as a peer site reports it to the origin, inside
// the header X-Tandem-Attempts. It never leaves the interconnect.
type wireAttempt struct {
	Group    string `json:"g"`
	Member   string `json:"m"`
	Site     string `json:"s"`
	Cause    string `json:"c,omitempty"`
	Code     int    `json:"n"`
	Dialed   bool   `json:"d"`
	Progress bool   `json:"p"`
	Final    bool   `json:"f"`
	Elapsed  int64  `json:"ms"`
}

// maxWireAttempts bounds what an origin takes from a peer.
const maxWireAttempts = 256

const definitiveMark = "definitive;"

// appendAttempts appends the header line with all attempts of this site. A
// forwarded final is the callee's last word unless the engine says otherwise.
func (c *Call) appendAttempts(dst []byte, forwarded bool) []byte {
	var list []wireAttempt
	if c.seq != nil {
		for _, a := range c.seq.Attempts() {
			if a.Target < 0 || a.Target >= len(c.cands) {
				continue
			}
			m := c.cands[a.Target].Member
			list = append(list, wireAttempt{
				Group: m.Group.Name, Member: m.ID, Site: c.s.cfg.Site, Cause: a.Cause, Code: a.Code,
				Dialed: a.Dialed, Progress: a.Progress, Final: a.Final, Elapsed: a.Elapsed.Milliseconds(),
			})
		}
	}
	body, err := json.Marshal(list)
	if err != nil {
		return dst
	}
	dst = append(append(dst, sip.Attempts.String()...), ": "...)
	if forwarded || c.definitive {
		dst = append(dst, definitiveMark...)
	}
	dst = base64.RawURLEncoding.AppendEncode(dst, body)
	return append(dst, "\r\n"...)
}

// peerResult reads what a peer's final response says about its attempts.
func peerResult(m *sip.Message) hunt.HandoffResult {
	var r hunt.HandoffResult
	if m == nil {
		return r
	}
	text, definitive := strings.CutPrefix(string(m.Header(sip.Attempts)), definitiveMark)
	r.Definitive = definitive
	body, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return r
	}
	var list []wireAttempt
	if json.Unmarshal(body, &list) != nil || len(list) > maxWireAttempts {
		return r
	}
	for _, a := range list {
		r.Attempts = append(r.Attempts, hunt.Attempt{
			Target: -1, Group: a.Group, Member: a.Member, Site: a.Site, Cause: a.Cause, Code: a.Code,
			Dialed: a.Dialed, Progress: a.Progress, Final: a.Final, Elapsed: time.Duration(a.Elapsed) * time.Millisecond,
		})
	}
	return r
}
