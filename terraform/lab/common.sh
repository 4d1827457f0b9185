# shellcheck shell=bash
# What the scripts of the lab share. LAB is the directory of its state: nodes/NAME and peers/NAME
# hold one process each, `facts` there says what it is. Sourced, never run.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
LAB=$(realpath -m "${LAB:-$root/out/lab}")

die() {
	printf 'lab: %s\n' "$*" >&2
	exit 1
}

# settings reads what `world up` wrote: ID, the prefix of the namespaces, and TANDEM, the program.
settings() {
	[ -f "$LAB/settings" ] || die "there is no lab in $LAB: 'terraform/lab/lab up' makes one, LAB names another directory"
	# shellcheck disable=SC1091
	. "$LAB/settings"
}

# hold is taken by whatever builds a part of the lab, so that `world down` waits for parts whose Terraform
# was killed: their scripts go on.
hold() {
	exec 9>>"$LAB/lock"
	flock -s 9
}

# space prints the name of a namespace of this lab.
space() { printf 'tl-%s-%s' "$ID" "$1"; }

# enter PLACE sets `way`, the words before a command that runs in a namespace. Nothing of the caller's
# environment comes along, since TANDEM_ variables are keys of the node file.
enter() {
	way=(env -i PATH="$PATH" HOME="${HOME:-/root}" TERM="${TERM:-dumb}" ${TANDEM_ADDR:+TANDEM_ADDR="$TANDEM_ADDR"}
		ip netns exec "$(space "$1")")
}

# launch DIR PLACE COMMAND...: starts a program that outlives the caller, in a session of its own. It
# keeps none of the caller's files: Terraform waits until those of its commands are closed, and a lock
# that somebody took around the lab must end with him.
launch() {
	local dir=$1 way fd
	enter "$2"
	shift 2
	(
		for fd in /proc/self/fd/*; do
			fd=${fd##*/}
			[ "$fd" -le 2 ] || exec {fd}>&-
		done
		exec "${way[@]}" setsid "$@"
	) </dev/null >>"$dir/log" 2>&1 &
	echo $! >"$dir/pid"
}

# pid DIR PLACE prints the process of DIR when it runs; a number that has become somebody else's is not in
# the namespace.
pid() {
	local p
	p=$(cat "$1/pid" 2>/dev/null) || return 1
	ip netns pids "$(space "$2")" 2>/dev/null | grep -qx "$p" || return 1
	printf '%s\n' "$p"
}

# ended DIR PLACE SECONDS waits until the process of DIR is gone.
ended() {
	local end=$((SECONDS + $3))
	while pid "$1" "$2" >/dev/null; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.1
	done
}

# fact FILE KEY prints one value of a facts file.
fact() { sed -n "s/^$2=//p" "$1"; }

# names KIND [SITE] lists nodes or peers in order, those of one site or all.
names() {
	local f
	for f in "$LAB/$1"/*/facts; do
		[ -f "$f" ] || continue
		[ -z "${2:-}" ] || [ "$(fact "$f" site)" = "$2" ] || continue
		basename "$(dirname "$f")"
	done
}

# asks NAME ARGS...: a command of tandem to the admin API of a node.
asks() {
	local name=$1
	shift
	"$TANDEM" --address "unix:$LAB/nodes/$name/run/admin.sock" "$@"
}
