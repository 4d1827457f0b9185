package registrar

import "github.com/tandem-sbc/tandem/sbc/sip"

// bulk checks a REGISTER that stands for all numbers of its group (RFC 6140
// 5.1): every contact has bnc, and none a user, which the called number takes
// the place of.
func (r *Request) bulk() *Refusal {
	for i := range r.Contacts {
		c := &r.Contacts[i]
		u, err := sip.ParseURI([]byte(c.URI))
		if err != nil || !c.Bulk || len(u.User) > 0 {
			return refuse(400, "With gin a Contact Has bnc and No User", "bulk")
		}
	}
	return nil
}
