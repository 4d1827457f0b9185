package trunkgroup

// monitoring checks a profile and what overrides it.
func (v *validator) monitoring(path string, s *MonitoringSpec) {
	p, ok := profile(s.Profile)
	switch {
	case !ok:
		v.faults.addf(path+".profile", Suggest(s.Profile, ProfileNames()), "there is no monitoring profile %q", s.Profile)
		return
	case !p.Enabled:
		if s.overrides() {
			v.faults.add(path+".profile", "is missing, so nothing is probed", Suggest("", ProfileNames()))
		}
		return
	}
	ok = v.duration(path+".interval", s.Interval, false)
	ok = v.duration(path+".down_interval", s.DownInterval, false) && ok
	ok = v.duration(path+".timeout", s.Timeout, false) && ok
	if s.Repeats != nil {
		v.notNegative(path+".repeats", *s.Repeats)
	}
	v.notNegative(path+".down_after", s.DownAfter)
	v.notNegative(path+".up_after", s.UpAfter)
	v.notNegative(path+".evidence_after", s.EvidenceAfter)
	v.replyCodes(path+".good_codes", s.GoodCodes)
	v.replyCodes(path+".bad_codes", s.BadCodes)
	if len(s.GoodCodes) > 0 && len(s.BadCodes) > 0 {
		v.faults.add(path+".bad_codes", "stands beside good_codes", "use one of the two")
	}
	if ok {
		v.probeTimes(path, s)
	}
}

// probeTimes checks that probes of one target do not overlap (PRB-03: a probe
// has its own reply timeout, below the interval).
func (v *validator) probeTimes(path string, s *MonitoringSpec) {
	m := compileMonitoring(*s)
	switch {
	case m.Timeout >= m.Interval:
		v.faults.addf(path+".timeout", "lower timeout or raise interval", "%s is not below interval, %s", m.Timeout, m.Interval)
	case m.Timeout > m.DownInterval:
		v.faults.addf(path+".timeout", "lower timeout or raise down_interval", "%s is above down_interval, %s", m.Timeout, m.DownInterval)
	}
}

func (v *validator) replyCodes(path string, codes []int) {
	if codes != nil && len(codes) == 0 {
		v.faults.add(path, "is empty, which would mean the profile's own", "leave the key out, or name codes")
	}
	for i, c := range codes {
		if c < causeMin || c > causeMax {
			v.faults.addf(index(path, i), "use 200 to 699", "%d is not a final response", c)
		}
	}
}

// overrides reports whether any key but the profile is set.
func (s *MonitoringSpec) overrides() bool {
	return s.Interval != 0 || s.DownInterval != 0 || s.Timeout != 0 || s.Repeats != nil ||
		s.DownAfter != 0 || s.UpAfter != 0 || s.EvidenceAfter != 0 || s.GoodCodes != nil || s.BadCodes != nil
}
