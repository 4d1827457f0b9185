package cdr

// causeName returns FreeSWITCH's name of a Q.850 cause (switch_types.h).
func causeName(q850 int) (string, bool) {
	switch q850 {
	case 0:
		return "NONE", true
	case 1:
		return "UNALLOCATED_NUMBER", true
	case 2:
		return "NO_ROUTE_TRANSIT_NET", true
	case 3:
		return "NO_ROUTE_DESTINATION", true
	case 6:
		return "CHANNEL_UNACCEPTABLE", true
	case 7:
		return "CALL_AWARDED_DELIVERED", true
	case 16:
		return "NORMAL_CLEARING", true
	case 17:
		return "USER_BUSY", true
	case 18:
		return "NO_USER_RESPONSE", true
	case 19:
		return "NO_ANSWER", true
	case 20:
		return "SUBSCRIBER_ABSENT", true
	case 21:
		return "CALL_REJECTED", true
	case 22:
		return "NUMBER_CHANGED", true
	case 23:
		return "REDIRECTION_TO_NEW_DESTINATION", true
	case 25:
		return "EXCHANGE_ROUTING_ERROR", true
	case 27:
		return "DESTINATION_OUT_OF_ORDER", true
	case 28:
		return "INVALID_NUMBER_FORMAT", true
	case 29:
		return "FACILITY_REJECTED", true
	case 30:
		return "RESPONSE_TO_STATUS_ENQUIRY", true
	case 31:
		return "NORMAL_UNSPECIFIED", true
	case 34:
		return "NORMAL_CIRCUIT_CONGESTION", true
	case 38:
		return "NETWORK_OUT_OF_ORDER", true
	case 41:
		return "NORMAL_TEMPORARY_FAILURE", true
	case 42:
		return "SWITCH_CONGESTION", true
	case 43:
		return "ACCESS_INFO_DISCARDED", true
	case 44:
		return "REQUESTED_CHAN_UNAVAIL", true
	case 45:
		return "PRE_EMPTED", true
	}
	return highCauseName(q850)
}

// highCauseName holds the causes of resources, services and protocols.
func highCauseName(q850 int) (string, bool) {
	switch q850 {
	case 50:
		return "FACILITY_NOT_SUBSCRIBED", true
	case 52:
		return "OUTGOING_CALL_BARRED", true
	case 54:
		return "INCOMING_CALL_BARRED", true
	case 57:
		return "BEARERCAPABILITY_NOTAUTH", true
	case 58:
		return "BEARERCAPABILITY_NOTAVAIL", true
	case 63:
		return "SERVICE_UNAVAILABLE", true
	case 65:
		return "BEARERCAPABILITY_NOTIMPL", true
	case 66:
		return "CHAN_NOT_IMPLEMENTED", true
	case 69:
		return "FACILITY_NOT_IMPLEMENTED", true
	case 79:
		return "SERVICE_NOT_IMPLEMENTED", true
	case 81:
		return "INVALID_CALL_REFERENCE", true
	case 88:
		return "INCOMPATIBLE_DESTINATION", true
	case 95:
		return "INVALID_MSG_UNSPECIFIED", true
	case 96:
		return "MANDATORY_IE_MISSING", true
	case 97:
		return "MESSAGE_TYPE_NONEXIST", true
	case 98:
		return "WRONG_MESSAGE", true
	case 99:
		return "IE_NONEXIST", true
	case 100:
		return "INVALID_IE_CONTENTS", true
	case 101:
		return "WRONG_CALL_STATE", true
	case 102:
		return "RECOVERY_ON_TIMER_EXPIRE", true
	case 103:
		return "MANDATORY_IE_LENGTH_ERROR", true
	case 111:
		return "PROTOCOL_ERROR", true
	case 127:
		return "INTERWORKING", true
	}
	return "", false
}
