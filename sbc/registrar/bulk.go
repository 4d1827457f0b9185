package registrar

import "github.com/tandem-sbc/tandem/sbc/sip"

// bulk checks what stands for all numbers of a group (RFC 6140 5.1): with gin
// every contact has bnc, and none a user, which the called number takes the
// place of. Without gin none has bnc.
func (r *Request) bulk() *Refusal {
	if !r.gin {
		for i := range r.Contacts {
			if r.Contacts[i].Bulk {
				return &Refusal{Code: 421, Extra: "Require: gin\r\n", Result: "bulk"}
			}
		}
		return nil
	}
	for i := range r.Contacts {
		c := &r.Contacts[i]
		u, err := sip.ParseURI([]byte(c.URI))
		if err != nil || !c.Bulk || len(u.User) > 0 {
			return refuse(400, "With gin a Contact Has bnc and No User", "bulk")
		}
	}
	return nil
}
