package diameter

import (
	"github.com/tandem-sbc/tandem/sbc/charging"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// maxSeconds bounds what a server can grant or demand: a longer time is no time that we wait for.
const maxSeconds = 1 << 28

// ParseAnswer reads a CCA or ACA.
func ParseAnswer(m *Message) charging.Answer {
	a := charging.Answer{Result: m.Result()}
	each(m.AVPs, func(v AVP) {
		switch {
		case v.is(avpFailureHandling):
			a.Failure, a.Fails = failureOf(v.number())
		case v.is(avpAcctInterimInterval):
			a.Interim = seconds(&v)
		case v.is(avpMultipleServices):
			unit(&a, v.Data)
		}
	})
	if !a.HasGrant { // servers of one service may say it outside (RFC 8506 3.2)
		unit(&a, topLevel(m.AVPs))
	}
	return a
}

// topLevel returns the level itself, without the result code, which is the whole's.
func topLevel(b []byte) []byte {
	var kept []byte
	for n := 0; len(b) > 0 && n < maxAVPs; n++ {
		a, rest, err := next(b)
		if err != nil {
			break
		}
		if !a.is(avpResultCode) {
			kept = append(kept, b[:len(b)-len(rest)]...)
		}
		b = rest
	}
	return kept
}

// unit reads what a server says of the service.
func unit(a *charging.Answer, b []byte) {
	each(b, func(v AVP) {
		switch {
		case v.is(avpResultCode):
			a.Service = v.number()
		case v.is(avpGrantedServiceUnit):
			each(v.Data, func(u AVP) {
				if u.is(avpCCTime) && len(u.Data) == 4 {
					a.Granted, a.HasGrant = seconds(&u), true
				}
			})
		case v.is(avpValidityTime):
			a.Validity = seconds(&v)
		case v.is(avpQuotaThreshold):
			a.Threshold = seconds(&v)
		case v.is(avpFinalUnitIndication):
			a.Last = true // a call cannot be redirected or restricted: it ends
		}
	})
}

func seconds(a *AVP) int64 { return int64(min(a.number(), maxSeconds)) }

// failureOf reads Credit-Control-Failure-Handling (RFC 8506 8.14).
func failureOf(n uint32) (trunkgroup.ChargingFailure, bool) {
	switch n {
	case 0:
		return trunkgroup.ChargingTerminate, true
	case 1:
		return trunkgroup.ChargingContinue, true
	case 2:
		return trunkgroup.ChargingRetry, true
	}
	return 0, false
}
