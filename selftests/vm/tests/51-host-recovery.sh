#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# 51-host-recovery.sh [ROUNDS]: the initiator loses its target, its RDMA device and its patience, under
# a verified load, and comes back with all data. The target is the kernel's own.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 400
# vm-long: 20
# vm-long-timeout: 7200
. "$VM_LIB"
. "${VM_LIB%/*}/bench-lib.sh"
. "${VM_LIB%/*}/interop-lib.sh"

# shellcheck disable=SC2034 # interop-lib.sh reads them
target=in-tree host=ours

port_del() { rm "$nvmet/ports/1/subsystems/$cell_nqn" && rmdir "$nvmet/ports/1"; }
port_add()
{
	intree_port_add 1 $VM_ADDR1 && ln -s "$nvmet/subsystems/$cell_nqn" "$nvmet/ports/1/subsystems/"
}

device_del() { rdma link delete rxe0; }
device_add()
{
	rm "$nvmet/ports/1/subsystems/$cell_nqn"; rmdir "$nvmet/ports/1"
	rxe_up && port_add
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
	local cpu=/sys/devices/system/cpu/cpu1/online before ctrl status=0

	ctrl=$(nvme_ctrl_of $cell_nqn)
	before=$(cat "/sys/class/nvme/$ctrl/pollard/reconnects")
	echo 0 > $cpu || return
	nvme reset "/dev/$ctrl" && cell_fio without --rw=randwrite --bs=8k --iodepth=4 --size=2m || status=1
	echo 1 > $cpu && [ $status = 0 ] || return
	cell_fio with --rw=randwrite --bs=8k --iodepth=4 --size=2m --cpus_allowed=1 || return
	[ "$(cat "/sys/class/nvme/$ctrl/pollard/reconnects")" -gt "$before" ] ||
		{ diag "the queue of the CPU was not left out"; return 1; }
}

# As nvme disconnect does, without the time the program takes to start.
delete_controller()
{
	echo 1 > "/sys/class/nvme/$(nvme_ctrl_of $cell_nqn)/delete_controller"
}

# The target is gone: the controller waits for it, and can be deleted all the same.
delete_while_connecting()
{
	port_del && wait_for cell_is connecting && sleep 1.5 && within 5 cell_disconnect
	local status=$?
	port_add && return $status
}

# Nobody can be reached any more and the time is up: I/O ends with errors, the controller goes.
give_up()
{
	local pid status=0

	cell_connect --ctrl-loss-tmo=3 || return
	cell_fio lost --rw=randwrite --bs=8k --iodepth=16 --size=16m --loops=20 > /tmp/lost & pid=$!
	wait_for cell_busy && port_del || return
	wait_for -t 40 cell_no_ctrl || { diag "the controller stays"; status=1; }
	wait $pid && { diag "fio went on without a target"; status=1; }
	port_add && return $status
}

unload_under_load()
{
	local pid status=0

	cell_fio unloading --rw=randwrite --bs=8k --iodepth=16 --size=16m --loops=20 > /tmp/unl & pid=$!
	wait_for cell_busy || return
	# The disk is open, so the module is in use until its user lets go.
	nvme disconnect -n $cell_nqn && wait $pid && status=1
	wait_for cell_no_ctrl && wait_for -t 5 modprobe -r pollard-host || return
	[ $status = 0 ] || diag "fio went on without a disk"
	modprobe pollard-host && return $status
}

tap_run "set up" cell_setup || { tap_end; exit 1; }
for ((round = ${1:-1}; round > 0; round--)); do
	tap_run "connect" cell_connect
	tap_run "reset under load" reset_under_load 3
	tap_run "reset while a CPU is offline" reset_without_cpu
	tap_run "target gone and back under load" cell_survives port_del port_add
	tap_run "RDMA device gone and back under load" cell_survives device_del device_add
	tap_run "a disconnect takes about a second at most" within 1.5 delete_controller
	tap_run "connect with poll queues" cell_connect -P 1
	tap_run "target gone and back under load" cell_survives port_del port_add
	tap_run "delete while the target is gone" delete_while_connecting
	tap_run "give up when the target stays away" give_up
	tap_run "connect" cell_connect
	tap_run "disconnect and unload under load" unload_under_load
done
tap_run "connect and disconnect 10 times" cell_churn 10
tap_run "everything goes, nothing stays" cell_teardown
tap_end
