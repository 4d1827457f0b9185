//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// kamailioCommon is a stateful proxy that stays in the signalling path and shares
// calls between the far ends, one worker process.
const kamailioCommon = `#!KAMAILIO
debug=1
log_stderror=yes
children=1
disable_tcp=yes
auto_aliases=no
dns=no
rev_dns=no
maxbuffer=4194304
listen=udp:%[1]s
loadmodule "tm.so"
loadmodule "sl.so"
loadmodule "rr.so"
loadmodule "pv.so"
loadmodule "maxfwd.so"
loadmodule "siputils.so"
loadmodule "textops.so"
loadmodule "dispatcher.so"
%[2]s
modparam("rr", "enable_full_lr", 1)
modparam("tm", "fr_timer", 4000)
modparam("tm", "fr_inv_timer", 30000)
modparam("dispatcher", "list_file", "%[3]s")
modparam("dispatcher", "flags", 2)
modparam("dispatcher", "xavp_dst", "_dst")
modparam("dispatcher", "ds_ping_interval", 10)
modparam("dispatcher", "ds_probing_mode", 1)

request_route {
	if (!mf_process_maxfwd_header("70")) {
		sl_send_reply("483", "Too Many Hops");
		exit;
	}
	if (is_method("CANCEL")) {
		if (t_check_trans()) t_relay();
		exit;
	}
	if (has_totag()) {
		if (loose_route() || (is_method("ACK") && t_check_trans())) {
			t_relay();
		} else if (!is_method("ACK")) {
			sl_send_reply("481", "Call Does Not Exist");
		}
		exit;
	}
	if (is_method("OPTIONS")) {
		sl_send_reply("200", "OK");
		exit;
	}
	t_check_trans();
	if (!is_method("INVITE")) {
		sl_send_reply("405", "Method Not Allowed");
		exit;
	}
	record_route();
	if (!ds_select_dst("1", "4")) {
		sl_send_reply("503", "No Destination");
		exit;
	}
	t_on_failure("NEXT");
	t_relay();
}

failure_route[NEXT] {
	if (!t_is_canceled() && (t_branch_timeout() || t_check_status("50[03]"))) {
		if (ds_next_dst()) {
			t_on_failure("NEXT");
			t_relay();
		}
	}
}
`

// kamailioTopos hides the topology of each side with the topos module, whose
// state lives in redis.
const kamailioTopos = `loadmodule "ndb_redis.so"
loadmodule "topos.so"
loadmodule "topos_redis.so"
modparam("ndb_redis", "server", "name=store;unix=%s;db=1")
modparam("topos", "storage", "redis")
modparam("topos_redis", "serverid", "store")
`

func startKamailio(b *bench, dir string) ([]*process, error) {
	p, err := kamailioIn(b, dir, "")
	if err != nil {
		return nil, err
	}
	return []*process{p}, nil
}

func startKamailioTopos(b *bench, dir string) ([]*process, error) {
	if err := need("redis-server"); err != nil {
		return nil, err
	}
	modules, _ := filepath.Glob("/usr/lib/*/kamailio/modules/topos_redis.so")
	if len(modules) == 0 {
		return nil, fmt.Errorf("%w: kamailio-redis-modules", errMissing)
	}
	socket := filepath.Join(dir, "redis.sock")
	redis, err := b.spawn(dir, "redis", b.sutCore, false, nil, "redis-server",
		"--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", dir)
	if err != nil {
		return nil, err
	}
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		if time.Since(start) > 5*time.Second {
			defer redis.stop()
			return nil, fmt.Errorf("redis did not start\n%s", redis.tail())
		}
	}
	p, err := kamailioIn(b, dir, fmt.Sprintf(kamailioTopos, socket))
	if err != nil {
		redis.stop()
		return nil, err
	}
	return []*process{redis, p}, nil
}

func kamailioIn(b *bench, dir, modules string) (*process, error) {
	if err := need("kamailio"); err != nil {
		return nil, err
	}
	var list strings.Builder
	for i := range 2 {
		fmt.Fprintf(&list, "1 sip:%s\n", farAddr(i))
	}
	config, members := filepath.Join(dir, "kamailio.cfg"), filepath.Join(dir, "dispatcher.list")
	err := errors.Join(
		os.WriteFile(config, fmt.Appendf(nil, kamailioCommon, sutAddr, modules, members), 0o600),
		os.WriteFile(members, []byte(list.String()), 0o600),
	)
	if err != nil {
		return nil, fmt.Errorf("kamailio: %w", err)
	}
	return b.spawn(dir, "kamailio", b.sutCore, false, nil, "kamailio", "-DD", "-E", "-m", "1024", "-M", "16", "-Y", dir, "-f", config)
}
