#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# 51-host-recovery.sh [ROUNDS]: the initiator loses its target, its link, its RDMA device and its patience, under
# load, and comes back with all data; or it is deleted or unloaded, whatever it is at, and that in bounded time.
# There are two disks: fio writes and verifies on the first, on the second ackwrite remembers what was
# acknowledged, and after each event that is looked for. The target is the kernel's own.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 500
# vm-long: 20
# vm-long-timeout: 9000
. "$VM_LIB"
. "${VM_LIB%/*}/bench-lib.sh"
. "${VM_LIB%/*}/interop-lib.sh"
. "${VM_LIB%/*}/ackwrite-lib.sh"

# shellcheck disable=SC2034 # interop-lib.sh reads them
target=in-tree host=ours
subsystem=$nvmet/subsystems/$cell_nqn
away=10.77.0.3		# an address of the target that may be gone
nowhere=10.77.0.77	# one that nobody has
# shellcheck disable=SC2034 # interop-lib.sh reads it
cell_survives_mib=24	# there is ackwrite's load besides

set_up()
{
	local ns=$subsystem/namespaces/2

	cell_setup && mkdir $ns && echo -n /dev/ram1 > $ns/device_path && echo 1 > $ns/enable || return
	leads_nowhere $nowhere
}

# Not by itself: soft-RoCE keeps to itself what goes to an address without a neighbour on a dummy.
leads_nowhere()
{
	ip neigh replace "$1" lladdr 52:54:00:77:00:ff dev "$VM_NETDEV" nud permanent
}

port_del() { rm "$nvmet/ports/1/subsystems/$cell_nqn" && rmdir "$nvmet/ports/1"; }
port_add()
{
	intree_port_add 1 $VM_ADDR1 && ln -s "$subsystem" "$nvmet/ports/1/subsystems/"
}

device_del() { rdma link delete rxe0; }
device_add()
{
	rm "$nvmet/ports/1/subsystems/$cell_nqn"; rmdir "$nvmet/ports/1"
	rxe_up && port_add
}

# The whole network device, which takes the RDMA device on it along.
netdev_add()
{
	dummy_up && leads_nowhere $nowhere && device_add
}

# The link is down, for both ends. Soft-RoCE finds no route then, and a queue pair that sends is in error. With the
# first goodbye so is that of the connection manager: its receives are flushed, and nobody posts new ones when the link
# is up again, on either kernel and whoever the peer is. Only over a new RDMA device can anybody connect.
# (Without a carrier nothing would happen: between addresses of one machine no packet leaves soft-RoCE. Packets that
# are lost on their way are in 52-host-silence.sh.)
link_down() { ip link set "$VM_NETDEV" down; }
# Neighbours that were entered by hand went with it.
link_up()
{
	ip link set "$VM_NETDEV" up && leads_nowhere $nowhere && device_del && device_add
}

# The port is gone, and then the address: who connects there hears nothing.
away_del()
{
	rm "$nvmet/ports/3/subsystems/$cell_nqn" && rmdir "$nvmet/ports/3" && leads_nowhere $away &&
		ip addr del $away/24 dev "$VM_NETDEV"
}
away_add()
{
	ip addr add $away/24 dev "$VM_NETDEV" && intree_port_add 3 $away || return
	# The RDMA device learns of the address a little later.
	wait_for -t 10 ln -s "$subsystem" "$nvmet/ports/3/subsystems/" || { diag "nobody can listen at $away"; return 1; }
}

# connect [OPTION...]: with the same data as before
connect()
{
	modprobe pollard-host && cell_connect "$@" && wait_for host_disk $cell_nqn 1 && wait_for host_disk $cell_nqn 2 ||
		return
	cell_dev=$(host_disk $cell_nqn 1) raw=$(host_disk $cell_nqn 2)
	ctrl=/sys/class/nvme/$(nvme_ctrl_of $cell_nqn)
	ack_check "$raw"
}

# Instead of interop-lib.sh's: what ackwrite writes does not count.
cell_busy()
{
	ack_writes "$cell_dev"
	[ "$ack_nr" -gt 100 ] && [ "$ack_nr" != "${busy_last:-}" ] || { busy_last=$ack_nr; return 1; }
}

# What there is to be seen, for people
looks()
{
	diag "controllers: $(grep -s . /sys/class/nvme/*/state)"
	dmesg | tail -n 20
}

# remembered COMMAND...: meanwhile ackwrite writes, sees no error, and all is there
remembered()
{
	ack_begin "$raw" && "$@" && ack_end && ack_check "$raw" || { looks; return 1; }
}

# reset NUMBER: again and again while there is I/O
reset_under_load()
{
	local pid n

	cell_fio resets --rw=randwrite --bs=8k --iodepth=16 --size=8m --loops=2 & pid=$!
	wait_for cell_busy || return
	for n in $(seq "$1"); do
		nvme reset "/dev/$(nvme_ctrl_of $cell_nqn)" || { diag "reset $n failed"; wait $pid; return 1; }
	done
	wait $pid
}

# A queue whose only CPU is offline is left out, and comes back with the first I/O on that CPU.
reset_without_cpu()
{
	local cpu=/sys/devices/system/cpu/cpu1/online before status=0

	before=$(cat "$ctrl/pollard/reconnects")
	echo 0 > $cpu || return
	nvme reset "/dev/${ctrl##*/}" && cell_fio without --rw=randwrite --bs=8k --iodepth=4 --size=2m || status=1
	echo 1 > $cpu && [ $status = 0 ] || return
	cell_fio with --rw=randwrite --bs=8k --iodepth=4 --size=2m --cpus_allowed=1 || return
	[ "$(cat "$ctrl/pollard/reconnects")" -gt "$before" ] ||
		{ diag "the queue of the CPU was not left out"; return 1; }
}

# ---- how a controller goes, whatever it is at ------------------------------------------------------

# As nvme disconnect does, without the time the program takes to start.
delete_controller() { echo 1 > "$ctrl/delete_controller"; }

# The disks may be open: they are the subsystem's. Not without native multipath.
unload() { modprobe -r pollard-host; }

connecting() { wait_for cell_is connecting || { diag "the host does not notice"; return 1; }; }

# Nothing is the matter, there is I/O.
at_live() { true; }

# It has lost its target and sleeps until it tries again.
at_sleep()
{
	local before
	before=$(sleeps)

	port_del && connecting && wait_for sleeps_again "$before" || { diag "it does not sleep"; return 1; }
}
sleeps() { dmesg | grep -c 'reconnecting in 30 seconds'; }
sleeps_again() { [ "$(sleeps)" -gt "$1" ]; }

# It tries again: a queue's connection is asked for, and nobody answers.
at_reconnect()
{
	away_del && connecting && wait_for tries || { diag "it does not try again"; rdma resource show cm_id; return 1; }
}
tries() { rdma resource show cm_id | grep -qE "state +CONNECT .*dst-addr +$away:4420"; }

# at STATE SECONDS COMMAND...: there COMMAND takes so long at the most, then the controller is gone and its users know
at()
{
	local state=$1 limit=$2 option='' status=0
	shift 2

	case $state in
	sleep)		option=--reconnect-delay=30 ;;
	reconnect)	option=--traddr=$away; away_add || return ;;
	esac
	connect ${option:+"$option"} && ack_begin "$raw" && "at_$state" || { looks; return 1; }
	within "$limit" "$@" && wait_for -t 5 cell_no_ctrl && ack_failed || { looks; status=1; }
	[ "$state" != sleep ] || port_add && return $status
}

# at_reset STATE COMMAND [TRY]: a reset has brought the controller into STATE when COMMAND makes it go, and is still on
at_reset()
{
	local n pid state start now status=0

	connect && ack_begin "$raw" || return
	for ((n = 0; n < 20; n++)); do
		echo 1 > "$ctrl/reset_controller" & pid=$!
		while kill -0 $pid 2>/dev/null; do
			read -r state < "$ctrl/state"
			[ "$state" != "$1" ] || break 2
		done
		wait $pid || { diag "reset $n failed"; looks; return 1; }
	done
	[ $n -lt 20 ] || { diag "no reset was seen $1"; return 1; }
	vm_now; start=$now
	"$2" || status=$?
	vm_now
	[ $status = 0 ] && wait_for -t 5 cell_no_ctrl && ack_failed || { looks; return 1; }
	[ $((now - start)) -le $((3000000 * VM_SLOWNESS)) ] || { diag "after $(((now - start) / 1000)) ms"; looks; return 1; }
	# It has failed then. If not it was over a moment before the end came.
	! wait $pid || { [ "${3:-1}" -lt 3 ] && at_reset "$1" "$2" $((${3:-1} + 1)); }
}

# nvme connect is still at it: what it makes cannot be deleted or reset or lose its module, and when
# nobody answers, it is given up in time.
first_connect()
{
	local pid refused=0

	modprobe pollard-host || return
	nvme connect -t pollard -a $nowhere -s 4420 -n $cell_nqn > /tmp/nowhere 2>&1 & pid=$!
	wait_for connects_nowhere || { cat /tmp/nowhere; looks; return 1; }
	delete_controller 2>/dev/null || refused=$((refused + 1))
	echo 1 2>/dev/null > "$ctrl/reset_controller" || refused=$((refused + 1))
	unload 2>/dev/null || refused=$((refused + 1))
	[ $refused = 3 ] && kill -0 $pid 2>/dev/null ||
		{ diag "$refused of 3 were refused, or it was over"; cat /tmp/nowhere; looks; return 1; }
	# It was just begun, and may take 10 s for the connection.
	within 15 wait_for ended $pid || { diag "nvme connect goes on"; looks; return 1; }
	! wait $pid || { diag "connected to nobody"; return 1; }
	[ ! -e "$ctrl" ] && within 5 unload
}
ended() { ! kill -0 "$1"; }
connects_nowhere()
{
	local c

	for c in /sys/class/nvme/nvme*; do
		ctrl=$c
		[[ $(< "$c/address") == *traddr=$nowhere,* && $(< "$c/state") = connecting ]] && return
	done 2>/dev/null
	return 1
}

# Nobody can be reached any more and the time is up: I/O ends with errors, the controller goes.
give_up()
{
	local pid status=0

	connect --ctrl-loss-tmo=3 && ack_begin "$raw" || return
	cell_fio lost --rw=randwrite --bs=8k --iodepth=16 --size=16m --loops=20 > /tmp/lost & pid=$!
	wait_for cell_busy && port_del || return
	wait_for -t 40 cell_no_ctrl || { diag "the controller stays"; looks; status=1; }
	wait $pid && { diag "fio went on without a target"; status=1; }
	ack_failed || status=1
	port_add && return $status
}

unload_under_load()
{
	local pid status=0

	cell_fio unloading --rw=randwrite --bs=8k --iodepth=16 --size=16m --loops=20 > /tmp/unl & pid=$!
	ack_begin "$raw" && wait_for cell_busy || return
	nvme disconnect -n $cell_nqn && wait $pid && status=1
	wait_for cell_no_ctrl && wait_for -t 5 modprobe -r pollard-host || return
	[ $status = 0 ] || diag "fio went on without a disk"
	ack_failed && return $status
}

tap_run "set up" set_up || { tap_end; exit 1; }
for ((round = ${1:-1}; round > 0; round--)); do
	tap_run "connect" connect
	tap_run "reset under load" remembered reset_under_load 3
	tap_run "reset while a CPU is offline" remembered reset_without_cpu
	tap_run "target gone and back under load" remembered cell_survives port_del port_add
	tap_run "RDMA device gone and back under load" remembered cell_survives device_del device_add
	if dummy_may_go; then
		tap_run "network device gone and back under load" remembered cell_survives dummy_down netdev_add
		tap_run "link down and up under load" remembered cell_survives link_down link_up
	fi
	tap_run "a disconnect takes about a second at most" within 1.5 delete_controller
	tap_run "connect with poll queues" connect -P 1
	tap_run "target gone and back under load" remembered cell_survives port_del port_add
	tap_run "disconnect" cell_disconnect
	tap_run "nvme connect cannot be disturbed" first_connect
	tap_run "delete while the target is gone" at sleep 3 delete_controller
	tap_run "delete while a reconnect is on" at reconnect 3 delete_controller
	tap_run "delete in the first half of a reset" at_reset resetting delete_controller
	tap_run "delete in the second half of a reset" at_reset connecting delete_controller
	tap_run "unload while it is live" at live 5 unload
	tap_run "unload in the first half of a reset" at_reset resetting unload
	tap_run "unload in the second half of a reset" at_reset connecting unload
	tap_run "unload while the target is gone" at sleep 5 unload
	tap_run "unload while a reconnect is on" at reconnect 5 unload
	tap_run "give up when the target stays away" give_up
	tap_run "connect, all is there" connect
	tap_run "disconnect and unload under load" unload_under_load
	tap_run "connect, all is there" connect
	tap_run "disconnect" cell_disconnect
done
tap_run "connect and disconnect 10 times" cell_churn 10
tap_run "everything goes, nothing stays" cell_teardown
tap_end
