package diameter

import (
	"errors"
	"net/netip"
	"time"

	"github.com/tandem-sbc/tandem/sbc/charging"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// What a server makes and reads: the other side of a client, for the servers that tests are made with.

// ErrRequest: a CCR or ACR lacks what it must have.
var ErrRequest = errors.New("diameter: not a request of charging")

// AppendCapabilitiesAnswer appends a CEA.
func AppendCapabilitiesAnswer(b []byte, id *Identity, to *Message, local netip.Addr, result uint32) []byte {
	h := to.Header
	h.Flags = 0
	w := Begin(b, h)
	w.Number(avpResultCode, result)
	w.origin(id)
	w.Address(avpHostIPAddress, local)
	w.Number(avpVendorID, 0)
	w.Text(avpProductName, "Tandem")
	w.Number(avpAuthApplicationID, AppCredit)
	w.Number(avpAcctApplicationID, AppAccounting)
	return w.End()
}

// AppendAsk appends a RAR, or an ASR, about a session.
func AppendAsk(b []byte, id *Identity, session string, abort bool, hop, end uint32) []byte {
	h := Header{Flags: FlagRequest | FlagProxiable, Command: ReAuth, App: AppCredit, HopByHop: hop, EndToEnd: end}
	if abort {
		h.Command = AbortSession
	}
	w := Begin(b, h)
	w.Text(avpSessionID, session)
	w.origin(id)
	w.Number(avpAuthApplicationID, AppCredit)
	return w.End()
}

// AppendAnswer appends the CCA or ACA to a request.
func AppendAnswer(b []byte, id *Identity, to *Message, r *charging.Request, a *charging.Answer) []byte {
	h := to.Header
	h.Flags = to.Flags & FlagProxiable
	if a.Result/1000 == 3 {
		h.Flags |= FlagError
	}
	w := Begin(b, h)
	w.Text(avpSessionID, r.Session)
	w.Number(avpResultCode, a.Result)
	w.origin(id)
	if !r.Kind.Online() {
		w.Number(avpAccountingRecordType, recordType(r.Kind))
		w.Number(avpAccountingRecordNumber, r.Number)
		if a.Interim > 0 {
			w.Number(avpAcctInterimInterval, clamp(a.Interim))
		}
		return w.End()
	}
	w.Number(avpAuthApplicationID, AppCredit)
	w.Number(avpCCRequestType, uint32(r.Kind))
	w.Number(avpCCRequestNumber, r.Number)
	if a.Fails {
		w.Number(avpFailureHandling, handlingOf(a.Failure))
	}
	w.Group(avpMultipleServices, func() { w.granted(a) })
	return w.End()
}

// handlingOf is Credit-Control-Failure-Handling (RFC 8506 8.14).
func handlingOf(f trunkgroup.ChargingFailure) uint32 {
	switch f {
	case trunkgroup.ChargingTerminate:
		return 0
	case trunkgroup.ChargingContinue:
		return 1
	}
	return 2
}

func (w *Writer) granted(a *charging.Answer) {
	if a.HasGrant {
		w.Group(avpGrantedServiceUnit, func() { w.Number(avpCCTime, clamp(a.Granted)) })
	}
	if a.Service != 0 {
		w.Number(avpResultCode, a.Service)
	}
	if a.Validity > 0 {
		w.Number(avpValidityTime, clamp(a.Validity))
	}
	if a.Threshold > 0 {
		w.Number(avpQuotaThreshold, clamp(a.Threshold))
	}
	if a.Last {
		w.Group(avpFinalUnitIndication, func() { w.Number(449, 0) }) // Final-Unit-Action TERMINATE
	}
}

// ParseRequest reads a CCR or ACR as far as it says what charging.Request does.
func ParseRequest(m *Message) (charging.Request, error) {
	r := charging.Request{Session: m.Session(), ID: m.EndToEnd, Repeated: m.Flags&FlagRepeated != 0}
	each(m.AVPs, func(v AVP) {
		switch {
		case v.is(avpCCRequestType):
			if n := v.number(); n >= 1 && n <= 3 {
				r.Kind = charging.Kind(n)
			}
		case v.is(avpAccountingRecordType):
			r.Kind = kindOf(v.number())
		case v.is(avpCCRequestNumber), v.is(avpAccountingRecordNumber):
			r.Number = v.number()
		case v.is(avpServiceContextID):
			r.Service.Context = bounded(v.Data)
		case v.is(avpEventTimestamp):
			r.At = instant(&v)
		case v.is(avpDestinationRealm):
			r.Service.Realm = bounded(v.Data)
		case v.is(avpUserName):
			r.Call.User = bounded(v.Data)
		case v.is(avpAcctSessionTime):
			r.Used = seconds(&v)
		case v.is(avpSubscriptionID):
			subscriptionOf(&r.Call, v.Data)
		case v.is(avpMultipleServices):
			servicesOf(&r, v.Data)
		case v.is(avpServiceInfo):
			serviceOf(&r, v.Data)
		}
	})
	if r.Kind == 0 || r.Session == "" || r.Kind.Online() != (m.Command == CreditControl) {
		return charging.Request{}, ErrRequest
	}
	return r, nil
}

func kindOf(n uint32) charging.Kind {
	switch n {
	case 1:
		return charging.Event
	case 2:
		return charging.Start
	case 3:
		return charging.Interim
	case 4:
		return charging.Stop
	}
	return 0
}

func bounded(b []byte) string { return string(b[:min(len(b), 255)]) }

func instant(a *AVP) time.Time {
	n := a.number()
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(int64(n)-2_208_988_800, 0).UTC()
}

func subscriptionOf(c *charging.Call, b []byte) {
	each(b, func(v AVP) {
		switch {
		case v.is(avpSubscriptionIDType):
			c.Account.Kind = charging.AccountKind(min(v.number(), 255))
		case v.is(avpSubscriptionIDData):
			c.Account.ID = bounded(v.Data)
		}
	})
}

func servicesOf(r *charging.Request, b []byte) {
	each(b, func(v AVP) {
		switch {
		case v.is(avpRatingGroup):
			r.Service.Rating = v.number()
		case v.is(avpServiceIdentifier):
			r.Service.Identifier = v.number()
		case v.is(avpReportingReason):
			r.Report = charging.Report(min(v.number(), 255))
		case v.is(avpRequestedServiceUnit), v.is(avpUsedServiceUnit):
			each(v.Data, func(u AVP) {
				switch {
				case !u.is(avpCCTime):
				case v.is(avpUsedServiceUnit):
					r.Used = seconds(&u)
				default:
					r.Service.Requested = seconds(&u)
				}
			})
		}
	})
}

func serviceOf(r *charging.Request, b []byte) {
	each(b, func(v AVP) {
		switch {
		case v.is(avpSubscriptionID):
			subscriptionOf(&r.Call, v.Data)
		case v.is(avpIMSInfo):
			each(v.Data, func(u AVP) { imsOf(&r.Call, &u) })
		}
	})
}

func imsOf(c *charging.Call, v *AVP) {
	switch {
	case v.is(avpUserSessionID):
		c.SIPCallID = bounded(v.Data)
	case v.is(avpChargingID):
		c.ID = bounded(v.Data)
	case v.is(avpRoleOfNode):
		c.Outbound = v.number() == 0
	case v.is(avpCarrierSelection):
		c.Carrier = bounded(v.Data)
	case v.is(avpCauseCode):
		if n := -int64(int32(v.number())); n > 0 && n < 700 {
			c.Code = int(n)
		}
	case v.is(avpTrunkGroupID):
		each(v.Data, func(t AVP) {
			switch {
			case t.is(avpIncomingTrunk):
				c.Ingress = bounded(t.Data)
			case t.is(avpOutgoingTrunk):
				c.Egress = bounded(t.Data)
			}
		})
	case v.is(avpTimeStamps):
		each(v.Data, func(t AVP) {
			switch {
			case t.is(avpRequestTime):
				c.Begin = instant(&t)
			case t.is(avpResponseTime):
				c.Answered = instant(&t)
			}
		})
	}
}
