package diameter

import "github.com/tandem-sbc/tandem/sbc/charging"

// To names who a request is for.
type To struct {
	Host  string // the server that has the session; empty at its begin
	Realm string
}

// AppendRequest appends the CCR or ACR of a request.
func AppendRequest(b []byte, r *charging.Request, id *Identity, to To, hop, end uint32) []byte {
	h := Header{Flags: FlagRequest | FlagProxiable, Command: CreditControl, App: AppCredit, HopByHop: hop, EndToEnd: end}
	if r.Repeated {
		h.Flags |= FlagRepeated
	}
	if !r.Kind.Online() {
		h.Command, h.App = Accounting, AppAccounting
	}
	w := Begin(b, h)
	w.Text(avpSessionID, r.Session)
	w.origin(id)
	realm := to.Realm
	if r.Service.Realm != "" {
		realm = r.Service.Realm
	}
	w.Text(avpDestinationRealm, realm)
	w.Text(avpDestinationHost, to.Host)
	if r.Kind.Online() {
		w.credit(r)
	} else {
		w.account(r)
	}
	w.Number(avpOriginStateID, id.State)
	w.Time(avpEventTimestamp, r.At)
	w.service(r)
	return w.End()
}

// credit is what a CCR has of its own (RFC 8506 3.1).
func (w *Writer) credit(r *charging.Request) {
	w.Number(avpAuthApplicationID, AppCredit)
	w.Text(avpServiceContextID, r.Service.Context)
	w.Number(avpCCRequestType, uint32(r.Kind)) // our kinds are numbered as they are
	w.Number(avpCCRequestNumber, r.Number)
	w.Text(avpUserName, r.Call.User)
	if r.Kind == charging.Termination {
		w.Number(avpTerminationCause, terminationCause(&r.Call))
	}
	w.subscription(&r.Call)
	w.Number(avpMultipleIndicator, 1)
	w.Group(avpMultipleServices, func() {
		if r.Kind != charging.Termination {
			w.Group(avpRequestedServiceUnit, func() { w.Number(avpCCTime, clamp(r.Service.Requested)) })
		}
		if r.Kind != charging.Initial {
			w.Group(avpUsedServiceUnit, func() { w.Number(avpCCTime, clamp(r.Used)) })
			w.Number(avpReportingReason, uint32(r.Report))
		}
		if n := r.Service.Identifier; n != 0 {
			w.Number(avpServiceIdentifier, n)
		}
		if n := r.Service.Rating; n != 0 {
			w.Number(avpRatingGroup, n)
		}
	})
}

// account is what an ACR has of its own (RFC 6733 9.7.1).
func (w *Writer) account(r *charging.Request) {
	w.Number(avpAccountingRecordType, recordType(r.Kind))
	w.Number(avpAccountingRecordNumber, r.Number)
	w.Number(avpAcctApplicationID, AppAccounting)
	w.Text(avpUserName, r.Call.User)
	w.Text(avpServiceContextID, r.Service.Context)
	if r.Kind == charging.Interim || r.Kind == charging.Stop {
		w.Number(avpAcctSessionTime, clamp(r.Used))
	}
}

// recordType is RFC 6733 9.8.1's.
func recordType(k charging.Kind) uint32 {
	switch k {
	case charging.Start:
		return 2
	case charging.Interim:
		return 3
	case charging.Stop:
		return 4
	}
	return 1 // EVENT_RECORD
}

func (w *Writer) subscription(c *charging.Call) {
	w.Group(avpSubscriptionID, func() {
		w.Number(avpSubscriptionIDType, uint32(c.Account.Kind))
		w.Text(avpSubscriptionIDData, c.Account.ID)
	})
}

// service describes the call (TS 32.299 7.2.192).
func (w *Writer) service(r *charging.Request) {
	c := &r.Call
	w.Group(avpServiceInfo, func() {
		if !r.Kind.Online() {
			w.subscription(c) // an ACR has no place of its own for it (TS 32.260 6.1.3)
		}
		w.Group(avpIMSInfo, func() {
			const border = 7 // Node-Functionality IBCF
			role := uint32(1)
			if c.Outbound {
				role = 0
			}
			w.Group(avpEventType, func() { w.Text(avpSIPMethod, method(r)) })
			w.Number(avpRoleOfNode, role)
			w.Number(avpNodeFunction, border)
			w.Text(avpUserSessionID, c.SIPCallID)
			w.Text(avpCallingParty, party(c.Caller))
			w.Text(avpCalledParty, party(c.Called))
			w.Group(avpTimeStamps, func() {
				w.Time(avpRequestTime, c.Begin)
				w.Time(avpResponseTime, c.Answered)
			})
			w.Text(avpChargingID, c.ID)
			w.Group(avpTrunkGroupID, func() {
				w.Text(avpIncomingTrunk, c.Ingress)
				w.Text(avpOutgoingTrunk, c.Egress)
			})
			w.Text(avpCarrierSelection, c.Carrier)
			if !c.Ended.IsZero() {
				w.Number(avpCauseCode, uint32(causeCode(c)))
			}
		})
	})
}

func method(r *charging.Request) string {
	if r.Kind == charging.Stop || r.Kind == charging.Termination {
		return "BYE"
	}
	return "INVITE"
}

// party is a number as TS 32.299 7.2.33 wants it.
func party(number string) string {
	if number == "" {
		return ""
	}
	return "tel:" + number
}

// terminationCause is RFC 6733 8.15's.
func terminationCause(c *charging.Call) uint32 {
	const logout, noService, administrative = 1, 2, 4
	switch c.Why {
	case charging.NoCredit:
		return noService
	case charging.Fault:
		return administrative
	}
	return logout
}

// causeCode says how a call ended (TS 32.299 7.2.35): 0 for one that was answered, else the negative
// final; 402 where we ended it for credit.
func causeCode(c *charging.Call) int32 {
	switch {
	case c.Why == charging.NoCredit:
		return -402
	case c.Why == charging.Fault && !c.Answered.IsZero():
		return -503
	case c.Code >= 300:
		return -int32(min(c.Code, 699))
	}
	return 0
}

func clamp(n int64) uint32 { return uint32(min(max(n, 0), 1<<31-1)) }
