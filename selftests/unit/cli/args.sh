#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the tool makes of its words where it need not ask the kernel. Prints TAP.
# A well-formed command ends with status 1 here, because no module is loaded for it (--no-load) and
# this must not be run where one is.

set -u
pollard=$1
nqn=nqn.2026-11.org.example:disk1
uuid=9a3c2f60-6b1d-4a57-8c1e-0f2d5b7a9c11
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
nr=0 failed=0

result()
{
	nr=$((nr + 1))
	if [ "$1" = 0 ]; then
		echo "ok $nr $2"
	else
		failed=$((failed + 1))
		sed 's/^/# /' "$dir/out" "$dir/err"
		echo "not ok $nr $2"
	fi
}

# expect STATUS PATTERN WORD...: the status, and PATTERN (an extended regular expression) in what is
# printed on stderr, or on stdout where the status is 0
expect()
{
	local status=$1 pattern=$2 where=err bad=0
	shift 2

	"$pollard" --no-load "$@" >"$dir/out" 2>"$dir/err" </dev/null
	[ $? = "$status" ] || bad=1
	[ "$status" = 0 ] && where=out
	[ -z "$pattern" ] || grep -qE -- "$pattern" "$dir/$where" || bad=1
	[ "$where" = out ] || [ ! -s "$dir/out" ] || bad=1
	result $bad "$status: $(printf '%.60s' "$*")"
}

fine() { expect 1 'kernel module pollard.* is not loaded' "$@"; }
usage() { expect 2 "$@"; }

echo "TAP version 13"

expect 0 '^pollard test$' -V
expect 0 'Objects:' -h
expect 0 'Objects:' help
expect 0 'pollard subsystem add NQN' subsystem help
expect 0 'pollard monitor \[OBJECT\]' monitor help

usage 'OBJECT is missing'
usage "'bogus' is no object" bogus
usage "'' is no object" ''
usage "'bogus' is no verb of group" group bogus
usage 'unrecognized option|invalid option' --bogus
usage 'with -b there is no OBJECT' -b - group show

# abbreviations
fine sub sh
fine s a $nqn allow on
fine n a $nqn ram 64M
fine p add-s 1 $nqn
fine p
fine g set 1 m b
expect 1 'neither kernel module is loaded' ctrl
expect 0 'pollard controller show' ctrl help
usage "'d' is not the only verb" p d 1
usage "do not know what to do with 'cntlid'" subsystem add $nqn cntlid 1

# the commands of the documentation
fine subsystem add $nqn allow-any-host on
fine namespace add $nqn device /dev/vdb
fine namespace add $nqn ram 64M
fine host add $nqn nqn.2014-08.org.nvmexpress:uuid:$uuid
fine port add 1 traddr 10.0.0.1 trsvcid 4420
fine port add-subsystem 1 $nqn
fine group set 1 mode busy
fine group add 2 cpu 3 mode adaptive spin-us 50
fine latency show
fine latency show group 1
fine latency reset
fine group show -j
fine namespace del $nqn 1
fine namespace del $nqn nsid 1
fine device show rxe0
fine controller show subsystem $nqn
fine controller show name nvme0
fine queue show subsystem $nqn cntlid 1
fine queue show controller nvme0
expect 1 'neither kernel module is loaded, pollard-target nor pollard-host' queue show

# words that are missing or too many
usage 'the nqn is missing' subsystem add
usage '^Usage: pollard subsystem add NQN' subsystem add
usage 'the nqn is missing' host add $nqn
usage 'the traddr is missing' port add 1
usage 'the cpu is missing' group add 1
usage 'the value of group is missing' latency show group
usage "do not know what to do with 'x'" group show 1 x
usage 'cpu is given twice' group add 2 cpu 3 cpu 4
usage 'not said what to change' group set 1
fine namespace set $nqn 1
usage 'either on a device or in ram' namespace add $nqn
usage 'either on a device or in ram' namespace add $nqn ram 64M device /dev/vdb
usage "do not know what to do with 'cntlid'" queue show controller nvme0 cntlid 1
usage "no events of 'latency'" monitor latency

# numbers
fine port show 65535
usage 'id: 65536 is too large' port show 65536
usage "id: '-1' is not a number" port show -- -1
usage "id: '1x' is not a number" port show 1x
usage "id: '' is not a number" port show ''
usage "id: '99999999999999999999' is not a number" group show 99999999999999999999
fine group show 0x10
usage "id: '0x' is not a number" group show 0x
usage 'trsvcid: 70000 is too large' port add 1 traddr 10.0.0.1 trsvcid 70000

# sizes
for size in 4096 64K 64k 64M 1G 2T 64MiB 0x10000; do
	fine namespace add $nqn ram $size
done
for size in 64Q M 64MB 64Mi 1.5G '64 M' '' 99999999999T 16777216T; do
	usage "ram: '.*' is not a size" namespace add $nqn ram "$size"
done
usage 'block-size: 4G is too large' namespace add $nqn ram 64M block-size 4G

# switches, choices, identifiers
usage "allow-any-host: 'yes' is neither on nor off" subsystem add $nqn allow-any-host yes
usage "mode: 'lazy' is none of event, adaptive, busy" group set 1 mode lazy
usage "adrfam: '' is none of ipv4, ipv6" port add 1 traddr 10.0.0.1 adrfam ''
fine namespace add $nqn ram 64M uuid $uuid nguid 0123456789abcdef0123456789ABCDEF
usage "uuid: '.*' is not a UUID" namespace add $nqn ram 64M uuid ${uuid//-/}
usage "uuid: '.*' is not a UUID" namespace add $nqn ram 64M uuid ${uuid}0
usage "nguid: '.*' is not 32 hexadecimal digits" namespace add $nqn ram 64M nguid 0123

# addresses
for address in 10.0.0.1 ::1 fe80::1%eth0 2001:db8::1; do
	fine port add 1 traddr $address
done
for address in 10.0.0 10.0.0.256 example.org fe80::1% %eth0 2001:db8::g '' 10.0.0.1%eth0; do
	usage "traddr: '.*' is not an IPv4 or IPv6 address" port add 1 traddr "$address"
done

# names
long=$(printf 'x%.0s' {1..223})
fine subsystem add "$long"
usage 'nqn: an NQN has 1 to 223 bytes' subsystem add "${long}x"
usage 'nqn: an NQN has 1 to 223 bytes' subsystem add ''
usage 'serial: is empty' subsystem add $nqn serial ''

# batches
usage 'cannot open /nonexistent' -b /nonexistent
printf '# nothing\n\n   # at all\n' >"$dir/batch"
expect 0 '' -b "$dir/batch"
printf '\ngroup set 1 mode lazy # comment\n' >"$dir/batch"
usage "batch:2: mode: 'lazy' is none of" -b "$dir/batch"
printf 'subsystem add "open\n' >"$dir/batch"
usage 'batch:1: an open quote' -b "$dir/batch"
printf 'subsystem add %s serial "a b" model '"'c d'"' x' $nqn >"$dir/batch"
usage "batch:1: do not know what to do with 'x'" -b "$dir/batch"
printf 'subsystem add %s serial a\\ b mo"del" c' $nqn >"$dir/batch"
expect 1 'batch:1: the kernel module pollard-target is not loaded' -b "$dir/batch"
printf 'group help\000 and more\n' >"$dir/batch"
usage 'batch:1: there is a NUL in the line' -b "$dir/batch"
printf 'group help\n' >"$dir/batch"
expect 0 'pollard group add ID' -b "$dir/batch"

# output that cannot be written
"$pollard" help >/dev/full 2>"$dir/err"
[ $? = 1 ] && grep -q 'cannot write' "$dir/err"
result $? 'a full disk'

echo "1..$nr"
[ $failed = 0 ]
