#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Configuration of the target by the command line tool: every kind of object added, changed, shown and
# deleted, what is refused and why, events, batches, and the module unloaded with everything
# configured. No host connects.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 180
. "$VM_LIB"
. "${VM_LIB%/*}/config-lib.sh"

n=nqn.2026-11.org.example
disc=nqn.2014-08.org.nvmexpress.discovery

set_up()
{
	modprobe brd rd_nr=3 rd_size=8192 && rxe_up && modprobe pollard-target &&
		ip addr add fd77::1/64 dev "$VM_NETDEV" nodad
}

subsystem_life()
{
	pollard subsystem add $n:a || return
	shows "subsystem $n:a allow-any-host off" pollard subsystem show $n:a || return
	shows 'model Pollard' pollard subsystem show $n:a || return
	pollard subsystem set $n:a allow-any-host on serial 'S 1' model 'A model' cntlid-min 10 cntlid-max 20 || return
	shows 'allow-any-host on' pollard subsystem show $n:a || return
	shows 'cntlid-min 10 cntlid-max 20' pollard subsystem show $n:a || return
	refused 'there is a subsystem of this NQN already (nqn)' pollard subsystem add $n:a || return
	refused 'lowest controller ID is above the highest' pollard subsystem set $n:a cntlid-min 21 || return
	refused 'begins with' pollard subsystem add iqn.x || return
	refused 'no spaces' pollard subsystem add "nqn.a b" || return
	refused 'discovery' pollard subsystem set $disc allow-any-host off || return
	refused 'already' pollard subsystem add $disc || return
	refused 'there is no such subsystem (nqn)' pollard subsystem del $n:none || return
	pollard subsystem del $n:a && refused 'there is no such subsystem' pollard subsystem show $n:a
}

serial_of()
{
	pollard subsystem show "$1" | sed -n 's/.* serial \([^ ]*\).*/\1/p'
}

serial_stable()
{
	local first other again

	pollard subsystem add $n:a && pollard subsystem add $n:b || return
	first=$(serial_of $n:a) other=$(serial_of $n:b)
	pollard subsystem del $n:a && pollard subsystem add $n:a || return
	again=$(serial_of $n:a)
	echo "$first $other $again"
	[ -n "$first" ] && [ "$first" = "$again" ] && [ "$first" != "$other" ] &&
		pollard subsystem del $n:a && pollard subsystem del $n:b
}

namespace_life()
{
	local uuid=11111111-2222-4333-8444-555555555555

	pollard subsystem add $n:a && pollard subsystem add $n:b || return
	shows 'nsid 1' pollard namespace add $n:a device /dev/ram0 uuid $uuid || return
	shows "uuid $uuid" pollard namespace show $n:a 1 || return
	shows 'size-bytes 8M\|size-bytes 8388608\|size-bytes 8MiB' pollard namespace show $n:a 1 || return
	shows 'nsid 2' pollard namespace add $n:a ram 1M block-size 4096 submit worker read-only on || return
	shows 'read-only on' pollard namespace show $n:a 2 || return
	shows 'submit worker submit-used worker' pollard namespace show $n:a 2 || return
	shows 'nsid 7' pollard namespace add $n:a nsid 7 ram 1M || return
	shows 'nsid 3' pollard namespace add $n:a ram 1M enabled off || return
	shows 'enabled off' pollard namespace show $n:a 3 || return
	pollard namespace set $n:a 3 enabled on submit worker || return
	shows 'enabled on' pollard namespace show $n:a 3 || return
	refused 'namespace of this ID already (nsid)' pollard namespace add $n:a nsid 7 ram 1M || return
	refused 'namespace of this UUID already (uuid)' pollard namespace add $n:a ram 1M uuid $uuid || return
	refused '(device)' pollard namespace add $n:b device /dev/ram0 || return
	refused '(device)' pollard namespace add $n:b device /dev/nothing || return
	refused '(device)' pollard namespace add $n:b device /dev/null || return
	refused 'no such subsystem' pollard namespace add $n:none ram 1M || return
	refused 'for reading only' pollard namespace set $n:a 2 read-only off || return
	refused 'no such namespace (nsid)' pollard namespace del $n:a 9 || return
	pollard namespace add $n:b device /dev/ram1 shared on &&
		pollard namespace add $n:b device /dev/ram1 shared on || return
	pollard namespace del $n:a 2 && shows 'nsid 2' pollard namespace add $n:a ram 1M || return
	[ "$(pollard namespace show $n:a | wc -l)" -eq 4 ] &&
		[ "$(pollard namespace show | wc -l)" -eq 6 ] || return
	pollard subsystem del $n:a && pollard subsystem del $n:b || return
	[ -z "$(pollard namespace show)" ] || { pollard namespace show; return 1; }
	# All devices are closed again.
	pollard subsystem add $n:a && pollard namespace add $n:a device /dev/ram0 &&
		pollard subsystem del $n:a
}

# Where submitting may sleep it is not done by the group's thread, whatever is asked for.
submit_life()
{
	local blocking='submit inline is not possible (submit)'

	null_disk slow memory_backed=1 && pollard subsystem add $n:a || return
	refused 'submit inline is not possible' pollard namespace add $n:a device /dev/slow submit inline || return
	pollard namespace add $n:a device /dev/slow && pollard namespace add $n:a ram 1M || return
	refused "$blocking" pollard namespace set $n:a 1 submit inline read-only on || return
	shows 'read-only off submit auto submit-used worker' pollard namespace show $n:a 1 || return
	pollard namespace set $n:a 1 submit worker && refused "$blocking" pollard namespace set $n:a 1 submit inline &&
		pollard namespace set $n:a 1 submit auto || return
	shows 'submit auto submit-used worker' pollard namespace show $n:a 1 || return
	pollard namespace set $n:a 2 submit worker && pollard namespace set $n:a 2 submit inline || return
	shows 'submit inline submit-used inline' pollard namespace show $n:a 2 || return
	pollard namespace set $n:a 2 submit worker && pollard namespace set $n:a 2 submit auto || return
	shows 'submit auto submit-used inline' pollard namespace show $n:a 2 || return
	# Nobody adds a disk in one transaction and makes it block the thread there.
	printf '%s\n' "subsystem add $n:b" "namespace add $n:b device /dev/slow shared on" \
		"namespace set $n:b 1 submit inline" > /tmp/inline
	pollard namespace del $n:a 1 && refused "$blocking" pollard -b /tmp/inline || return
	refused 'no such subsystem' pollard subsystem show $n:b && pollard subsystem del $n:a
}

# A disk that has grown is looked at when somebody says so.
resize_life()
{
	modprobe dm_mod && dmsetup create grows --noudevsync --table '0 8192 linear /dev/ram1 0' || return
	pollard subsystem add $n:a && pollard namespace add $n:a device /dev/dm-0 || return
	dmsetup suspend --noudevsync grows && dmsetup load grows --table '0 16384 linear /dev/ram1 0' &&
		dmsetup resume --noudevsync grows || return
	shows 'size-bytes 4M' pollard namespace show $n:a 1 && pollard namespace set $n:a 1 || return
	shows 'size-bytes 8M' pollard namespace show $n:a 1 || return
	pollard subsystem del $n:a && dmsetup remove --noudevsync grows
}

mounted_refused()
{
	local status=0

	modprobe ext4 && mke2fs -q -t ext4 /dev/ram2 && mkdir -p /tmp/m && mount -t ext4 /dev/ram2 /tmp/m || return
	pollard subsystem add $n:a || return
	refused '(device)' pollard namespace add $n:a device /dev/ram2 || status=1
	umount /tmp/m
	pollard namespace add $n:a device /dev/ram2 || status=1
	mount -t ext4 /dev/ram2 /tmp/m 2>/dev/null && { umount /tmp/m; status=1; }
	pollard subsystem del $n:a || status=1
	return $status
}

host_life()
{
	pollard subsystem add $n:a && pollard host add $n:a $n:h1 && pollard host add $n:a $n:h2 || return
	shows 'hosts 2' pollard subsystem show $n:a || return
	shows "$n:h1" pollard host show $n:a $n:h1 || return
	refused 'list already (nqn)' pollard host add $n:a $n:h1 || return
	refused 'not on the subsystem' pollard host del $n:a $n:h3 || return
	pollard host del $n:a $n:h1 || return
	[ "$(pollard host show | wc -l)" -eq 1 ] && pollard subsystem del $n:a && [ -z "$(pollard host show)" ]
}

port_life()
{
	pollard port add 1 traddr "$VM_ADDR1" || return
	shows 'trsvcid 4420' pollard port show 1 || return
	shows 'state listening' pollard port show 1 || return
	pollard port set 1 inline-data-size 8k max-queue-depth 64 || return
	shows 'max-queue-depth 64' pollard port show 1 || return
	refused 'a port of this number already (id)' pollard port add 1 traddr "$VM_ADDR2" || return
	refused 'another port has this address already (traddr)' pollard port add 2 traddr "$VM_ADDR1" || return
	pollard port add 2 traddr "$VM_ADDR1" trsvcid 4421 && pollard port add 3 traddr fd77::1 || return
	shows 'adrfam ipv6' pollard port show 3 || return
	refused 'other family' pollard port add 4 traddr fd77::1 trsvcid 4421 adrfam ipv4 || return
	refused '(traddr)' pollard port add 4 traddr fe80::1 || return
	refused '(traddr)' pollard port add 4 traddr 224.0.0.1 || return
	refused 'no such port' pollard port del 4 || return
	pollard port del 1 && pollard port del 2 && pollard port del 3 && [ -z "$(pollard port show)" ]
}

port_is()
{
	pollard port show "$1" | grep -q "state $2"
}

# A link-local address; its interface is behind the per cent sign.
port_link_local()
{
	local addr

	addr=$(ip -6 addr show dev "$VM_NETDEV" scope link | sed -n 's,.*inet6 \([^/]*\)/.*,\1,p')
	[ -n "$addr" ] || { echo "no link-local address"; return 1; }
	pollard port add 1 traddr "$addr%$VM_NETDEV" && pollard port del 1
}

# A port whose address is not there says so, and listens once it is.
port_late()
{
	refused 'annot assign requested address' pollard port add 1 traddr 10.77.9.9 || return
	shows 'state failed' pollard port show 1 || return
	ip addr add 10.77.9.9/24 dev "$VM_NETDEV" || return
	wait_for port_is 1 listening || { pollard port show; return 1; }
	rxe_down || return
	wait_for port_is 1 failed || { pollard port show; return 1; }
	rxe_up || return
	wait_for port_is 1 listening || { pollard port show; return 1; }
	ip addr del 10.77.9.9/24 dev "$VM_NETDEV"
	pollard port del 1
}

link_life()
{
	pollard subsystem add $n:a && pollard subsystem add $n:b &&
		pollard port add 1 traddr "$VM_ADDR1" && pollard port add 2 traddr "$VM_ADDR2" || return
	pollard port add-subsystem 1 $n:a && pollard port add-subsystem 1 $n:b &&
		pollard port add-subsystem 2 $n:a || return
	shows 'ports 2' pollard subsystem show $n:a || return
	refused 'offered on the port already' pollard port add-subsystem 1 $n:a || return
	refused 'not offered' pollard port del-subsystem 2 $n:b || return
	refused 'no such port' pollard port add-subsystem 3 $n:b || return
	pollard port del-subsystem 1 $n:a && pollard port add-subsystem 1 $n:a || return
	pollard port del 1 || return
	shows 'ports 1' pollard subsystem show $n:a || return
	shows 'ports 0' pollard subsystem show $n:b || return
	pollard subsystem del $n:a && pollard subsystem del $n:b && pollard port del 2
}

# Every change is told, in order, the end of a deletion last.
events()
{
	local monitor want

	# appending, so that emptying the file does not leave a hole
	pollard monitor >> /tmp/events &
	monitor=$!
	# The monitor is there when it tells of something.
	wait_for event_comes || { kill $monitor; return 1; }
	: > /tmp/events
	pollard subsystem add $n:e && pollard namespace add $n:e ram 1M && pollard host add $n:e $n:h &&
		pollard port add 9 traddr "$VM_ADDR1" && pollard port add-subsystem 9 $n:e &&
		pollard subsystem del $n:e && pollard port del 9
	wait_for grep -q '^gone port 9' /tmp/events
	kill $monitor
	wait $monitor 2>/dev/null
	for want in "change subsystem $n:e" "change namespace $n:e" "change host $n:e" 'change port 9.*state listening' \
		"gone namespace $n:e" "gone host $n:e" "gone subsystem $n:e" 'gone port 9'; do
		grep -q "^$want" /tmp/events || { echo "no event: $want"; cat /tmp/events; return 1; }
	done
	# A subsystem is gone after all that was part of it.
	[ "$(grep "^gone .*$n:e" /tmp/events | tail -1 | cut -d ' ' -f 2)" = subsystem ] ||
		{ cat /tmp/events; return 1; }
}

event_comes()
{
	pollard subsystem add $n:probe && pollard subsystem del $n:probe && [ -s /tmp/events ]
}

batch()
{
	cat > /tmp/good <<-END
		subsystem add $n:a allow-any-host on
		namespace add $n:a device /dev/ram0
		namespace add $n:a ram 1M
		host add $n:a $n:h
		port add 1 traddr $VM_ADDR1
		port add-subsystem 1 $n:a
	END
	pollard -b /tmp/good || return
	shows 'namespaces 2 hosts 1 ports 1' pollard subsystem show $n:a || return
	port_is 1 listening || return
	# Deleted and made anew in one go, the last line is wrong: nothing happens.
	{ echo "subsystem del $n:a"; echo "subsystem add $n:a"; echo "host add $n:x $n:h"; } > /tmp/bad
	refused 'no such subsystem' pollard -b /tmp/bad || return
	shows 'namespaces 2 hosts 1 ports 1' pollard subsystem show $n:a || return
	{ echo "subsystem del $n:a"; echo "subsystem add $n:a serial new"; } > /tmp/anew
	pollard -b /tmp/anew || return
	shows 'serial new' pollard subsystem show $n:a || return
	shows 'namespaces 0 hosts 0 ports 0' pollard subsystem show $n:a || return
	pollard subsystem del $n:a && pollard port del 1
}

many()
{
	local i

	for i in {1..200}; do
		echo "subsystem add $n:m$i"
		echo "namespace add $n:m$i ram 64k"
		echo "host add $n:m$i $n:h"
	done > /tmp/many
	pollard -b /tmp/many || return
	[ "$(pollard subsystem show | sort -u | wc -l)" -eq 200 ] &&
		[ "$(pollard namespace show | sort -u | wc -l)" -eq 200 ] &&
		[ "$(pollard host show | sort -u | wc -l)" -eq 200 ] || return
	sed -n 's/^subsystem add/subsystem del/p' /tmp/many > /tmp/few
	pollard -b /tmp/few && [ -z "$(pollard subsystem show)$(pollard namespace show)$(pollard host show)" ]
}

# Nothing is deleted first.
unload()
{
	local before

	rmmod pollard-target || return
	before=$(rdma_snapshot)
	modprobe pollard-target && pollard -b /tmp/good && modprobe -r pollard-target || return
	rdma_settled "$before" || { rdma_snapshot; return 1; }
	[ ! -e /sys/module/pollard_target ] && dd if=/dev/ram0 of=/dev/null bs=4k count=1 2>/dev/null &&
		mke2fs -q -F /dev/ram0
}

tap_run "set up" set_up || { tap_end; exit 1; }
config_run "subsystems" subsystem_life
config_run "a serial number made up is always the same" serial_stable
config_run "namespaces" namespace_life
config_run "submission from the thread only where it cannot sleep" submit_life
config_run "a namespace grows with its disk" resize_life
config_run "a mounted disk cannot be exported, nor an exported one mounted" mounted_refused
config_run "hosts" host_life
config_run "ports" port_life
config_run "a port on a link-local address" port_link_local
config_run "a port waits for its address and its device" port_late
config_run "subsystems offered on ports" link_life
config_run "events" events
config_run "a batch takes effect as a whole or not at all" batch
config_run "600 changes at once" many
config_run "the module is unloaded with everything configured" unload
tap_end
