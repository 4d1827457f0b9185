package app

// alarmKnobSave: the disk does not take what operators said of members and sites. It
// holds here and on the other nodes; what is lost is lost with a restart of them all.
const alarmKnobSave = "knob_save"

// knobsKept raises and clears the alarm.
func (a *App) knobsKept(err error) {
	if err == nil {
		a.node.ClearAlarm(alarmKnobSave)
		return
	}
	a.node.RaiseAlarm(alarmKnobSave, err.Error())
}
