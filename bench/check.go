//go:build linux

package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// checkRate is low enough for every generator and server.
const checkRate = 200.0

// sippCall is a caller for SIPp: INVITE with SDP, ACK and BYE along the route set
// to the Contact of the answer, nothing held.
const sippCall = `<?xml version="1.0" encoding="UTF-8" ?>
<scenario name="call">
<send retrans="500" start_rtd="1"><![CDATA[
INVITE sip:` + calledNumber + `@[remote_ip]:[remote_port] SIP/2.0
Via: SIP/2.0/[transport] [local_ip]:[local_port];rport;branch=[branch]
Max-Forwards: 70
From: <sip:+19725550199@[local_ip]:[local_port]>;tag=[pid]x[call_number]
To: <sip:` + calledNumber + `@[remote_ip]:[remote_port]>
Call-ID: [call_id]
CSeq: 1 INVITE
Contact: <sip:+19725550199@[local_ip]:[local_port]>
Content-Type: application/sdp
Content-Length: [len]

v=0
o=sipp 1 1 IN IP4 [local_ip]
s=-
c=IN IP4 [local_ip]
t=0 0
m=audio 16000 RTP/AVP 0
]]></send>
<recv response="100" optional="true"/>
<recv response="180" optional="true" rtd="1"/>
<recv response="200" rrs="true"/>
<send><![CDATA[
ACK [next_url] SIP/2.0
Via: SIP/2.0/[transport] [local_ip]:[local_port];rport;branch=[branch]
Max-Forwards: 70
[routes]
From: <sip:+19725550199@[local_ip]:[local_port]>;tag=[pid]x[call_number]
To: <sip:` + calledNumber + `@[remote_ip]:[remote_port]>[peer_tag_param]
Call-ID: [call_id]
CSeq: 1 ACK
Content-Length: 0

]]></send>
<send retrans="500"><![CDATA[
BYE [next_url] SIP/2.0
Via: SIP/2.0/[transport] [local_ip]:[local_port];rport;branch=[branch]
Max-Forwards: 70
[routes]
From: <sip:+19725550199@[local_ip]:[local_port]>;tag=[pid]x[call_number]
To: <sip:` + calledNumber + `@[remote_ip]:[remote_port]>[peer_tag_param]
Call-ID: [call_id]
CSeq: 2 BYE
Content-Length: 0

]]></send>
<recv response="200"/>
</scenario>
`

// finding is what one load program says of one server.
type finding struct {
	completed, failed, repeats int
	pdd                        string
	why                        string        // a call failed
	cpu                        time.Duration // of the server
}

// crossCheck lets our load program and others call the same servers at the same
// rate: what they report, and what the server spends on each, must agree.
func (b *bench) crossCheck(ctx context.Context) error {
	b.say("| server | load program | completed | failed | repeated | ring p50 | server CPU, us/call |\n|---|---|---:|---:|---:|---:|---:|")
	for _, name := range b.suts {
		if name == "direct" {
			continue
		}
		for _, program := range []struct {
			name string
			ours bool // our far ends take the calls
			run  func(ctx context.Context, s *session) (finding, error)
		}{{"tandem load", true, ourCalls}, {"SIPp", true, sippCalls}, {"C generator", false, yardstickCalls}} {
			f, err := b.check(ctx, name, program.ours, program.run)
			if errors.Is(err, errMissing) {
				b.say("| %s | %s | left out: %v |", name, program.name, err)
				continue
			}
			if err != nil {
				return fmt.Errorf("%s against %s: %w", program.name, name, err)
			}
			b.say("| %s | %s | %d | %d | %d | %s | %.0f |", name, program.name, f.completed, f.failed, f.repeats, f.pdd, perCall(f.cpu, f.completed))
			if f.why != "" {
				b.say("\n%s on %s: %s\n", program.name, name, f.why)
			}
		}
	}
	return nil
}

func (b *bench) check(ctx context.Context, name string, ours bool, run func(context.Context, *session) (finding, error)) (finding, error) {
	s, err := b.open(ctx, name, ours)
	if err != nil {
		return finding{}, err
	}
	defer s.close()
	before := s.cpu()
	f, err := run(ctx, s)
	f.cpu = s.cpu() - before
	return f, err
}

func (b *bench) checkCalls() int { return int(checkRate * b.size.load.Seconds()) }

func ourCalls(_ context.Context, s *session) (finding, error) {
	a, err := s.tell(order{Do: "load", Rate: checkRate, Calls: s.bench.checkCalls()})
	return finding{completed: a.Completed, failed: a.Failed, repeats: a.Repeats, pdd: fmt.Sprintf("%.0f us", a.PDD.P50), why: a.Why}, err
}

func sippCalls(ctx context.Context, s *session) (finding, error) {
	if err := need("sipp"); err != nil {
		return finding{}, err
	}
	scenario, stat := filepath.Join(s.dir, "call.xml"), filepath.Join(s.dir, "stat.csv")
	if err := os.WriteFile(scenario, []byte(sippCall), 0o600); err != nil {
		return finding{}, fmt.Errorf("sipp: %w", err)
	}
	cmd := exec.CommandContext(ctx, "taskset", "-c", s.bench.genCore, "sipp", "-sf", scenario,
		"-i", callerAddr.Addr().String(), "-p", strconv.Itoa(int(callerAddr.Port())), "-nostdin",
		"-r", strconv.Itoa(int(checkRate)), "-m", strconv.Itoa(s.bench.checkCalls()), "-l", "10000",
		"-buff_size", "4194304", "-trace_stat", "-fd", "1", "-stf", stat, "-timeout", "120s", sutAddr.String())
	cmd.Dir = s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		var status *exec.ExitError
		if !errors.As(err, &status) || status.ExitCode() != 1 { // 1: some calls failed
			return finding{}, fmt.Errorf("sipp: %w\n%s", err, out)
		}
	}
	file, err := os.Open(stat)
	if err != nil {
		return finding{}, fmt.Errorf("sipp: %w", err)
	}
	defer func() { _ = file.Close() }()
	r := csv.NewReader(file)
	r.Comma, r.FieldsPerRecord = ';', -1
	rows, err := r.ReadAll()
	if err != nil || len(rows) < 2 {
		return finding{}, fmt.Errorf("sipp: %d rows of statistics: %w", len(rows), err)
	}
	value := func(column string) string {
		for i, title := range rows[0] {
			if title == column && i < len(rows[len(rows)-1]) {
				return rows[len(rows)-1][i]
			}
		}
		return ""
	}
	number := func(column string) int {
		n, _ := strconv.Atoi(value(column))
		return n
	}
	return finding{
		completed: number("SuccessfulCall(C)"), failed: number("FailedCall(C)"), repeats: number("Retransmissions(C)"),
		pdd: "mean " + sippTime(value("ResponseTime1(C)")),
	}, nil
}

// sippTime turns SIPp's hours:minutes:seconds:microseconds into milliseconds, all
// the resolution that it has.
func sippTime(s string) string {
	f := strings.Split(s, ":")
	if len(f) != 4 {
		return s
	}
	seconds, errS := strconv.Atoi(f[2])
	micros, errM := strconv.Atoi(f[3])
	if errS != nil || errM != nil {
		return s
	}
	return fmt.Sprintf("%d ms", seconds*1000+micros/1000)
}

// yardstickCalls compiles the other generator, which brings its own far ends.
func yardstickCalls(ctx context.Context, s *session) (finding, error) {
	if _, err := os.Stat(s.bench.yardstick); err != nil {
		return finding{}, fmt.Errorf("%w: source of the C generator (-yardstick)", errMissing)
	}
	if err := need("gcc"); err != nil {
		return finding{}, err
	}
	program := filepath.Join(s.dir, "yardstick")
	if out, err := exec.CommandContext(ctx, "gcc", "-O2", "-w", "-o", program, s.bench.yardstick).CombinedOutput(); err != nil {
		return finding{}, fmt.Errorf("gcc: %w\n%s", err, out)
	}
	args := []string{
		"-c", s.bench.genCore, program, "-s", strconv.Itoa(int(sutAddr.Port())), "-p", strconv.Itoa(int(callerAddr.Port())),
		"-r", fmt.Sprint(checkRate), "-d", fmt.Sprint(s.bench.size.load.Seconds()), "-N", calledNumber,
	}
	for i := range 2 {
		args = append(args, "-u", strconv.Itoa(int(farAddr(i).Port())))
	}
	out, err := exec.CommandContext(ctx, "taskset", args...).Output()
	if err != nil {
		return finding{}, fmt.Errorf("c generator: %w", err)
	}
	var r struct {
		OK, Fail, Retrans int
		PDD               struct{ P50 float64 } `json:"pdd_us"`
	}
	if err := json.Unmarshal([]byte(strings.TrimSpace(string(out))), &r); err != nil {
		return finding{}, fmt.Errorf("c generator: %w", err)
	}
	return finding{completed: r.OK, failed: r.Fail, repeats: r.Retrans, pdd: fmt.Sprintf("%.0f us", r.PDD.P50)}, nil
}
