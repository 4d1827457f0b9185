package diameter

// AVPs of the base protocol, of accounting and of credit control.
const (
	avpUserName               = 1
	avpAcctSessionTime        = 46
	avpEventTimestamp         = 55
	avpAcctInterimInterval    = 85
	avpHostIPAddress          = 257
	avpAuthApplicationID      = 258
	avpAcctApplicationID      = 259
	avpSessionID              = 263
	avpOriginHost             = 264
	avpSupportedVendorID      = 265
	avpVendorID               = 266
	avpResultCode             = 268
	avpProductName            = 269
	avpDisconnectCause        = 273
	avpOriginStateID          = 278
	avpDestinationRealm       = 283
	avpDestinationHost        = 293
	avpTerminationCause       = 295
	avpOriginRealm            = 296
	avpExperimentalResult     = 297
	avpExperimentalResultCode = 298
	avpCCRequestNumber        = 415
	avpCCRequestType          = 416
	avpCCTime                 = 420
	avpFailureHandling        = 427
	avpFinalUnitIndication    = 430
	avpGrantedServiceUnit     = 431
	avpRatingGroup            = 432
	avpRequestedServiceUnit   = 437
	avpServiceIdentifier      = 439
	avpSubscriptionID         = 443
	avpSubscriptionIDData     = 444
	avpUsedServiceUnit        = 446
	avpValidityTime           = 448
	avpSubscriptionIDType     = 450
	avpMultipleIndicator      = 455
	avpMultipleServices       = 456
	avpServiceContextID       = 461
	avpAccountingRecordType   = 480
	avpAccountingRecordNumber = 485
)

// AVPs of the 3GPP (TS 32.299 7.2).
const (
	avpSIPMethod        = 824
	avpEventType        = 823
	avpRoleOfNode       = 829
	avpUserSessionID    = 830
	avpCallingParty     = 831
	avpCalledParty      = 832
	avpTimeStamps       = 833
	avpRequestTime      = 834
	avpResponseTime     = 835
	avpChargingID       = 841
	avpTrunkGroupID     = 851
	avpIncomingTrunk    = 852
	avpOutgoingTrunk    = 853
	avpCauseCode        = 861
	avpNodeFunction     = 862
	avpQuotaThreshold   = 868
	avpReportingReason  = 872
	avpServiceInfo      = 873
	avpIMSInfo          = 876
	avpCarrierSelection = 2023
)

// Codes from first3GPP on are the 3GPP's here: we use none of others.
const (
	vendor3GPP = 10415
	first3GPP  = 800
	ends3GPP   = 5000
)

// optional reports whether an AVP may be ignored by who does not know it.
func optional(code uint32) bool {
	switch code {
	case avpProductName, avpAcctSessionTime:
		return true
	}
	return false
}
