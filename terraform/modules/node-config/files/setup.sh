#!/usr/bin/env bash
# Makes a machine a node of Tandem: data disk, package, keys, service. cloud-init runs it at the first
# start, a startup script at each. What is done already stays as it is: a second run is how to go on
# after a fault, and keys that were rotated on the machine are never put back.
set -euo pipefail
umask 077

fail() {
	echo "tandem-setup: $*" >&2
	exit 1
}

settings=${1:-/etc/tandem/setup.env}
[ -r "$settings" ] || fail "$settings cannot be read"
# shellcheck source=/dev/null
. "$settings"

# token prints the access token of the machine's identity.
token() {
	curl -fsS --retry 5 -H 'Metadata-Flavor: Google' \
		http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token |
		sed -n 's/.*"access_token" *: *"\([^"]*\)".*/\1/p'
}

# authorized URL prints what is there. The token goes by standard input, since arguments can be seen by all.
authorized() {
	printf 'header = "Authorization: Bearer %s"\n' "$(token)" | curl -fsS --retry 5 --config - "$1"
}

# secret NAME prints a secret.
secret() {
	local command
	case $SECRET_SOURCE in
	gcp)
		authorized "https://secretmanager.googleapis.com/v1/projects/$SECRET_PROJECT/secrets/$1/versions/latest:access" |
			sed -n 's/.*"data" *: *"\([^"]*\)".*/\1/p' | base64 -d
		;;
	command)
		read -ra command <<<"$SECRET_COMMAND"
		"${command[@]}" "$1"
		;;
	esac
}

# The data disk is formatted only while nothing is on it: blkid ends with 2. Partitions, or several signatures at
# once, are no file system and still somebody's data.
disk() {
	local tries=60 code=0 found
	until [ -b "$DISK_DEVICE" ]; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || fail "the data disk $DISK_DEVICE is not there"
		sleep 1
	done
	found=$(blkid -p -o export "$DISK_DEVICE" 2>&1) || code=$?
	if [ "$code" -eq 2 ] && [ -z "$found" ]; then
		"mkfs.$DISK_FILESYSTEM" -L "$DISK_LABEL" "$DISK_DEVICE"
	elif [ "$code" -ne 0 ] || ! grep -qx "LABEL=$DISK_LABEL" <<<"$found"; then
		fail "$DISK_DEVICE holds something else than a file system with the label $DISK_LABEL and is left as it is: $(xargs <<<"$found")"
	fi
	install -d -m 0750 "$LIB"
	if ! grep -q "^LABEL=$DISK_LABEL " /etc/fstab; then
		printf 'LABEL=%s %s %s defaults,noatime,nofail,x-systemd.device-timeout=30s 0 2\n' \
			"$DISK_LABEL" "$LIB" "$DISK_FILESYSTEM" >>/etc/fstab
	fi
	mountpoint -q "$LIB" || mount "$LIB"
	# Without its disk the node would begin anew on the system's, with empty hands.
	mkdir -p /etc/systemd/system/tandem.service.d
	printf '[Unit]\nRequiresMountsFor=%s\nAssertPathIsMountPoint=%s\n' "$LIB" "$LIB" \
		>/etc/systemd/system/tandem.service.d/data-disk.conf
	chmod 0644 /etc/systemd/system/tandem.service.d/data-disk.conf
}

# The package is installed once. Another version comes by hand, one node at a time.
package() {
	local dir
	if dpkg-query -W -f '${Status}' tandem 2>/dev/null | grep -q 'install ok installed'; then
		return
	fi
	dir=$(mktemp -d)
	case $PACKAGE_URL in
	gs://*) authorized "https://storage.googleapis.com/${PACKAGE_URL#gs://}" >"$dir/tandem.deb" ;;
	*) curl -fsSL --retry 5 -o "$dir/tandem.deb" "$PACKAGE_URL" ;;
	esac
	echo "$PACKAGE_SHA256  $dir/tandem.deb" | sha256sum --check --quiet ||
		fail "the package of $PACKAGE_URL is not the one with SHA-256 $PACKAGE_SHA256"
	# apt reads the file as another user, and the node file that stands already stays.
	chmod 0755 "$dir" && chmod 0644 "$dir/tandem.deb"
	DEBIAN_FRONTEND=noninteractive apt-get -q install -y -o Dpkg::Options::=--force-confold "$dir/tandem.deb"
	rm -rf "$dir"
}

# own FILE gives a file to the node alone.
own() {
	chown tandem:tandem "$1"
	chmod 0600 "$1"
}

# Each secret is fetched into a file that is not there yet, whole or not at all.
secrets() {
	local pair file missing=()
	for pair in $SECRETS; do
		file=$ETC/${pair%%=*}
		if [ ! -e "$file" ] && [ "$SECRET_SOURCE" = files ]; then
			missing+=("$file")
			continue
		fi
		if [ ! -e "$file" ]; then
			secret "${pair#*=}" >"$file.part" || fail "the secret ${pair#*=} cannot be fetched"
			[ -s "$file.part" ] || fail "the secret ${pair#*=} is empty"
			mv "$file.part" "$file"
		fi
		own "$file"
	done
	[ ${#missing[@]} -eq 0 ] || fail "put these files there and run tandem-setup again: ${missing[*]}"
	if [ -n "$JOIN" ] && [ ! -e "$ETC/$NODE.pem" ]; then
		tandem cluster join "$ETC/join.token" --dir "$ETC"
	fi
	for file in "$ETC/$NODE.pem" "$ETC/$NODE.key" "$ETC/ca.pem" "$ETC/cluster.key"; do
		[ ! -e "$file" ] || own "$file"
	done
}

[ -z "$DISK_DEVICE" ] || disk
[ -z "$PACKAGE_URL" ] || package
id tandem >/dev/null 2>&1 || fail "there is no user tandem: the package is not installed, and package is not set"
chown root:tandem "$ETC" && chmod 0750 "$ETC"
own "$ETC/node.yaml"
secrets
sysctl -q -p /etc/sysctl.d/70-tandem-node.conf
runuser -u tandem -- tandem server --config "$ETC/node.yaml" --check
systemctl daemon-reload
systemctl enable --now tandem.service
