#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Poll groups, RDMA devices, latency and what both ends show of a connection, through the command
# line tool; transactions of several processes at once. (40-config.sh has the target's objects.)
#
# vm-kernels: 6.12 6.1
# vm-timeout: 150
# vm-debug: is about the tool; 40 and 41 send the kernel more
. "$VM_LIB"
. "${VM_LIB%/*}/bench-lib.sh"
. "${VM_LIB%/*}/config-lib.sh"

n=nqn.2026-11.org.example

group_life()
{
	shows '^group 0 cpu 0 mode adaptive spin-us 50 state active' pollard group || return
	pollard group add 7 cpu 1 mode event || return
	shows '^group 7 cpu 1 mode event state active' pollard group show 7 || return
	refused 'such a group already (id)' pollard group add 7 cpu 1 || return
	refused 'no such CPU (cpu)' pollard group add 8 cpu 4095 || return
	refused 'out of range (id, must be 0 to 65535)' pollard group add 70000 cpu 1 || return
	refused 'out of range (spin-us, must be 1 to 1000000)' pollard group set 7 spin-us 2000000 || return
	refused 'adaptive only (spin-us)' pollard group set 7 spin-us 10 || return
	refused 'adaptive only (spin-us)' pollard group set 7 mode busy spin-us 10 || return
	pollard group set 7 mode adaptive spin-us 10 || return
	shows 'mode adaptive spin-us 10' pollard group show 7 || return
	pollard group set 7 mode adaptive || return
	shows 'mode adaptive spin-us 50' pollard group show 7 || return
	pollard group set 7 mode busy && shows 'mode busy state' pollard group show 7 || return
	refused 'stay without a busy group' pollard group set 0 mode busy || return
	pollard group del 7 || return
	refused 'no such' pollard group show 7 && refused 'no such' pollard group del 7 &&
		refused 'no such' pollard group set 7 mode busy
}

json()
{
	shows '^\[{"id":0,"cpu":0,"mode":"adaptive","spin-us":50,.*"counters":{"passes":[0-9]' \
		pollard group show 0 -j || return
	shows '^    "id": 1,$' pollard group show -p || return
	shows '^	counters passes [0-9]* busy-passes' pollard -s group show 1
}

device_life()
{
	rxe_up || return
	shows '^device rxe0 state active node-guid [0-9a-f:]* ' pollard device || return
	shows '^	port 1 state active netdev ' pollard device show rxe0 || return
	refused 'no such' pollard device show rxe9 || return
	rxe_down && [ -z "$(pollard device)" ]
}

# An unprivileged user may look, but not touch.
privilege()
{
	shows '^group 0' setpriv --reuid 65534 --clear-groups pollard group &&
		refused 'Operation not permitted' setpriv --reuid 65534 --clear-groups pollard group set 0 mode event
}

event_comes()
{
	pollard group set 0 spin-us 51 && pollard group set 0 spin-us 50 && [ -s /tmp/events ]
}

events()
{
	local monitor want status=0

	pollard -j monitor > /tmp/events &
	monitor=$!
	wait_for event_comes && pollard group add 7 cpu 0 && pollard group set 7 mode event &&
		pollard group del 7 && rxe_up && rxe_down
	wait_for grep -q '"gone","object":"device"' /tmp/events
	kill $monitor
	wait $monitor 2>/dev/null
	for want in '{"event":"change","object":"group","data":{"id":7,"cpu":0,"mode":"adaptive"' \
		'{"event":"change","object":"group","data":{"id":7,"cpu":0,"mode":"event",.*"queues":0' \
		'{"event":"gone","object":"group","data":{"id":7}}' \
		'{"event":"change","object":"device","data":{"name":"rxe0","state":"active"' \
		'{"event":"gone","object":"device","data":{"name":"rxe0"}}'; do
		grep -q "^$want" /tmp/events || { echo "no event: $want"; status=1; }
	done
	[ $status -eq 0 ] || cat /tmp/events
	return $status
}

# batch_open: a batch that goes on as long as its input, on descriptor 8; its number is in $batch
batch_open()
{
	rm -f /tmp/fifo
	mkfifo /tmp/fifo
	pollard -b - < /tmp/fifo > /tmp/prepared 2>&1 &
	batch=$!
	exec 8> /tmp/fifo
}

batch_prepared()
{
	wait_for grep -q "$1" /tmp/prepared || { cat /tmp/prepared; echo "not prepared: $1"; return 1; }
}

# Nobody sees what is prepared. Who is slower loses as a whole.
transaction_loses()
{
	local status=0

	batch_open
	printf '%s\n' "subsystem add $n:a" "subsystem add $n:b" "namespace add $n:a ram 1M" "group show 0" >&8
	batch_prepared 'group 0' && shows 'nsid 1' cat /tmp/prepared &&
		refused 'no such subsystem' pollard subsystem show $n:a && pollard subsystem add $n:a || status=1
	exec 8>&-
	wait $batch && { echo "the slower one has won"; status=1; }
	cat /tmp/prepared
	shows 'namespaces 0' pollard subsystem show $n:a && pollard subsystem del $n:a &&
		refused 'no such subsystem' pollard subsystem show $n:b || status=1
	return $status
}

# What a killed process had prepared is gone, the disk it had opened is free.
transaction_is_killed()
{
	batch_open
	printf '%s\n' "subsystem add $n:a" "namespace add $n:a device /dev/ram0" >&8
	batch_prepared 'nsid 1' && kill -9 $batch
	exec 8>&-
	wait $batch 2>/dev/null
	refused 'no such subsystem' pollard subsystem show $n:a && pollard subsystem add $n:b || return
	wait_for pollard namespace add $n:b device /dev/ram0 && pollard subsystem del $n:b
}

no_controllers() { [ -z "$(pollard controller)" ]; }

# Both ends of one connection.
connection()
{
	rxe_up && modprobe pollard-host || return
	printf '%s\n' "subsystem add $n:a allow-any-host on" "namespace add $n:a ram 4M" \
		"port add 1 traddr $VM_ADDR1" "port add-subsystem 1 $n:a" | pollard -b - || return
	nvme connect -t pollard -a "$VM_ADDR1" -s 4420 -n $n:a -i 1 && wait_for nvme_of $n:a ||
		{ echo "no disk"; return 1; }
	shows "^controller target subsystem $n:a cntlid [0-9]* kind io state ready hostnqn nqn" \
		pollard controller show subsystem $n:a || return
	shows "^controller host name nvme0 .* state live .* device rxe0" pollard controller || return
	shows 'copy-max 16K' pollard controller show name nvme0 || return
	refused 'no such controller' pollard controller show name nvme77 || return
	shows "^queue target subsystem $n:a cntlid [0-9]* qid 1 state live depth 128 group [0-9]* device rxe0" \
		pollard queue || return
	shows '^queue host controller nvme0 qid 1 kind default state live depth 128' \
		pollard queue show controller nvme0 || return
	dd if="$(nvme_of $n:a)" of=/dev/null bs=4k count=20 iflag=direct status=none || return
	shows ' target   *read  *backend  *[1-9]' pollard latency || return
	shows '"class":"read","stage":"total","count":[1-9]' pollard latency show -j || return
	shows '^	group [0-9]* queues [1-9][0-9]* completion-queues 1 ' pollard device show rxe0 || return
	shows ' memory-bytes [1-9]' pollard device show rxe0 || return
	pollard latency reset && ! pollard latency | grep ' read ' || return
	# The target's one ends when its queues have.
	nvme disconnect -n $n:a && wait_for no_controllers || { pollard controller; return 1; }
}

# What disappears under its users is gone when the command returns.
everything_goes()
{
	pollard subsystem del $n:a && pollard port del 1 &&
		[ -z "$(pollard subsystem)$(pollard namespace)$(pollard port)" ] && rxe_down &&
		rmmod pollard-host pollard-target pollard
}

modprobe brd rd_nr=1 rd_size=16384
tap_run "poll groups" group_life
tap_run "text and JSON" json
tap_run "RDMA devices" device_life
tap_run "an unprivileged user" privilege
tap_run "events" events
tap_run "a transaction that somebody else outruns" transaction_loses
tap_run "a transaction whose process is killed" transaction_is_killed
tap_run "both ends of a connection" connection
tap_run "everything goes" everything_goes
tap_end
