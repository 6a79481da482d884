# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# One cell of the matrix {our target, nvmet-rdma} x {our host, nvme-rdma}, in one guest. A cell's
# script sets $target and $host to "ours" or "in-tree", calls cell_setup and then the tests it wants.
# Source after guest-lib.sh and bench-lib.sh.

cell_nqn=nqn.2026-11.org.example:cell
cell_uuid=11111111-2222-4333-8444-555555555555
cell_disk=/dev/ram0
cell_pid=

cell_transport()
{
	[ "$host" = ours ] && echo pollard || echo rdma
}

# With the kernel's host the target's queues share receives, with ours each has its own.
cell_load_target()
{
	modprobe pollard-target use_srq=$([ "$host" = ours ]; echo $?)
}

# An exclusive disk that holds data: brd takes its time to nothing and keeps what is written.
cell_setup()
{
	modprobe brd rd_nr=2 rd_size=262144 && rxe_up || return
	if [ "$host" = ours ]; then modprobe pollard-host; else modprobe nvme-rdma; fi || return
	if [ "$target" = ours ]; then cell_load_target; else modprobe nvmet-rdma; fi || return
	cell_before=$(cell_objects)
	cell_export
}

# What is left on the device. The kernel's own drivers share completion queues that stay until the
# device goes; only between ours can they be counted.
cell_objects()
{
	if [ "$target$host" = oursours ]; then
		rdma_snapshot
	else
		rdma_snapshot | sed 's/ cq [0-9]*//'
	fi
}

cell_is_empty()
{
	[ "$(cell_objects)" = "$cell_before" ]
}

# The identity is the same every time: a host that comes back must find the disk it knew. One transaction:
# a host that tries meanwhile and finds a port without the subsystem is told never to come again.
cell_export()
{
	if [ "$target" = ours ]; then
		pollard -b - <<-END
			subsystem add $cell_nqn allow-any-host on
			namespace add $cell_nqn nsid 1 device $cell_disk uuid $cell_uuid
			port add 1 traddr $VM_ADDR1 trsvcid 4420
			port add-subsystem 1 $cell_nqn
		END
	else
		intree_target_add $cell_nqn $cell_disk
	fi
}

cell_unexport()
{
	if [ "$target" = ours ]; then
		pollard subsystem del $cell_nqn && pollard port del 1
	else
		intree_target_del $cell_nqn
	fi
}

# cell_connect [OPTION...]
cell_connect()
{
	nvme connect -t "$(cell_transport)" -a $VM_ADDR1 -s 4420 -n $cell_nqn \
		--reconnect-delay=1 --ctrl-loss-tmo=60 "$@" || return
	wait_for nvme_of $cell_nqn || { diag "no disk appeared"; return 1; }
	cell_dev=$(nvme_of $cell_nqn)
}

cell_no_ctrl()
{
	! nvme_ctrl_of $cell_nqn
}

cell_disconnect()
{
	nvme disconnect -n $cell_nqn && wait_for cell_no_ctrl
}

cell_state()
{
	cat "/sys/class/nvme/$(nvme_ctrl_of $cell_nqn)/state"
}

cell_is()
{
	[ "$(cell_state)" = "$1" ]
}

# cell_fio NAME OPTION...: a verified write; fio's status
cell_fio()
{
	local name=$1
	shift

	fio --name="$name" --filename="$cell_dev" --direct=1 --ioengine=libaio --verify=crc32c \
		--verify_fatal=1 --verify_dump=0 --randrepeat=0 --allow_file_create=0 --thread \
		"$@" > "/tmp/fio.$name" 2>&1 || { cat "/tmp/fio.$name"; return 1; }
}

# cell_mib N: so much data, or less of it where everything is slow
cell_mib()
{
	echo $(($1 / VM_SLOWNESS))m
}

cell_verify()
{
	cell_fio tiny --rw=randwrite --bs=512 --iodepth=1 --size=256k &&
	cell_fio small --rw=randwrite --bs=512 --iodepth=32 --size=1m &&
	cell_fio page --rw=randwrite --bs=4k --iodepth=1 --size=2m &&
	cell_fio deep --rw=randwrite --bs=4k --iodepth=128 --size="$(cell_mib 16)" &&
	cell_fio slot --rw=randwrite --bs=16k --iodepth=16 --size="$(cell_mib 16)" &&
	cell_fio slot1 --rw=randwrite --bs=16896 --iodepth=16 --size="$(cell_mib 16)" &&
	cell_fio large --rw=randwrite --bs=128k --iodepth=8 --size="$(cell_mib 32)" &&
	cell_fio huge --rw=randwrite --bs=1m --iodepth=4 --size="$(cell_mib 64)" &&
	cell_fio hugedeep --rw=write --bs=1m --iodepth=32 --size=32m
}

# Lengths that are no power of two, buffers that begin anywhere, vectors of many pieces.
cell_verify_odd()
{
	cell_fio odd1 --rw=write --bs=1536 --iodepth=7 --size=1536k &&
	cell_fio odd2 --rw=write --bs=7680 --iodepth=13 --size=3840k &&
	cell_fio odd3 --rw=write --bs=130560 --iodepth=5 --size="$(cell_mib 12)" &&
	cell_fio odd4 --rw=write --bs=1048064 --iodepth=3 --size=8188k &&
	cell_fio mixed --rw=write --bsrange=512-256k --iodepth=16 --size="$(cell_mib 32)" &&
	cell_fio vectors --rw=write --bs=256k --iodepth=4 --size="$(cell_mib 16)" --mem=mmap --ioengine=pvsync2 &&
	cell_fio shifted --rw=write --bs=64k --iodepth=4 --size=8m --iomem_align=512
}

cell_churn()
{
	local n before

	before=$(rdma_snapshot)
	for n in $(seq "${1:-50}"); do
		cell_connect -i 2 && cell_disconnect || { diag "round $n failed"; return 1; }
	done
	wait_for rdma_settled "$before" || {
		diag "before: $before"; diag "after: $(rdma_snapshot)"; return 1; }
}

cell_discover()
{
	nvme discover -t "$(cell_transport)" -a $VM_ADDR1 -s 4420 > /tmp/discover || return
	grep -q "subnqn: *$cell_nqn" /tmp/discover || { cat /tmp/discover; return 1; }
}

# Each mode of the group, then all of them in turn under a verified load.
cell_modes()
{
	local mode

	for mode in event adaptive busy; do
		pollard group set 1 mode $mode && cell_fio mode-$mode --rw=randwrite --bs=4k \
			--iodepth=8 --size=4m || return
	done
}

cell_modes_under_load()
{
	local mode n=0

	cell_load switching --rw=randwrite --bs=8k --iodepth=16 --size="$(cell_mib 48)" --loops=2 || return
	until cell_load_ended; do
		for mode in event adaptive busy; do
			pollard group set 1 mode $mode || return
			n=$((n + 1))
			sleep 0.05
		done
	done
	cell_load_end || return
	[ $n -ge 9 ] || { diag "only $n changes of mode while there was I/O"; return 1; }
	pollard group set 1 mode adaptive
}

# cell_load NAME OPTION...: a verified load in the background, running when this returns; its process
# is $cell_pid. A test that fails may leave it behind: the next one would find two writers.
cell_load()
{
	cell_load_end 2>/dev/null
	cell_fio "$@" & cell_pid=$!
	wait_for cell_busy || { diag "the load does not begin"; return 1; }
}

cell_load_ended()
{
	! kill -0 "$cell_pid" 2>/dev/null
}

# cell_load_end: wait for the load, in bounded time; its status
cell_load_end()
{
	[ -n "$cell_pid" ] || return 0
	wait_for -t 90 cell_load_ended || { diag "the load hangs"; return 1; }
	wait "$cell_pid"
	local status=$?
	cell_pid=
	return $status
}

# cell_survives REMOVE RESTORE: something under a verified load goes and returns, no data is lost. It is of
# $cell_survives_mib.
cell_survives_mib=48
cell_survives()
{
	cell_load surviving --rw=randwrite --bs=8k --iodepth=16 --size="$(cell_mib $cell_survives_mib)" --loops=2 ||
		return
	"$1" || { diag "$1 failed"; return 1; }
	wait_for -t 60 cell_is connecting || { diag "the host did not notice, state $(cell_state)"; return 1; }
	"$2" || { diag "$2 failed"; return 1; }
	wait_for -t 60 cell_is live || { diag "state $(cell_state)"; return 1; }
	cell_load_end
}

# Is there I/O on the disk right now?
cell_busy()
{
	local now

	# With native multipath 6.1 counts at the path (nvme0c0n1) only.
	now=$(cat /sys/block/nvme*n*/stat | awk '{ n += $5 } END { print n }')
	[ "${now:-0}" -gt 100 ] && [ "$now" != "${cell_busy_last:-}" ] || { cell_busy_last=$now; return 1; }
}

cell_target_del() { modprobe -r pollard-target; }
cell_target_add() { cell_load_target && cell_export; }

cell_port_del() { pollard port del 1; }
cell_port_add()
{
	pollard -b - <<-END
		port add 1 traddr $VM_ADDR1 trsvcid 4420
		port add-subsystem 1 $cell_nqn
	END
}

cell_subsystem_del() { pollard subsystem del $cell_nqn; }
cell_subsystem_add()
{
	pollard subsystem add $cell_nqn allow-any-host on &&
		pollard namespace add $cell_nqn nsid 1 device $cell_disk uuid $cell_uuid &&
		pollard port add-subsystem 1 $cell_nqn
}

cell_rxe_del() { rdma link delete rxe0; }
cell_rxe_add() { rxe_up; }

# A namespace that goes under load takes its I/O with it: errors, but nobody waits for ever.
cell_namespace_removed()
{
	cell_load doomed --rw=randwrite --bs=8k --iodepth=16 --size=48m --loops=20 > /tmp/doomed || return
	pollard namespace del $cell_nqn 1 || return
	! cell_load_end || { diag "fio went on without a namespace"; return 1; }
	pollard namespace add $cell_nqn nsid 1 device $cell_disk uuid $cell_uuid || return
	wait_for nvme_of $cell_nqn || { diag "the namespace did not come back"; return 1; }
	cell_dev=$(nvme_of $cell_nqn)
	cell_fio back --rw=randwrite --bs=4k --iodepth=8 --size=4m
}

# A subsystem that is gone is refused for good, so a host may give up at once. In bounded time the load
# has ended; when the subsystem is back, so is the disk.
cell_subsystem_removed()
{
	cell_load doomed --rw=randwrite --bs=8k --iodepth=16 --size="$(cell_mib 48)" --loops=2 > /tmp/doomed || return
	cell_subsystem_del || return
	wait_for -t 60 cell_gave_up || { diag "state $(cell_state)"; return 1; }
	cell_subsystem_add || return
	if cell_no_ctrl; then
		! cell_load_end || { diag "fio went on without a disk"; return 1; }
		cell_connect || return
	else
		wait_for -t 60 cell_is live || { diag "state $(cell_state)"; return 1; }
		cell_load_end || return
	fi
	cell_fio back --rw=randwrite --bs=4k --iodepth=8 --size=4m
}

cell_gave_up()
{
	cell_no_ctrl || cell_is connecting
}

# refused COMMAND...: must fail with exit status 1, and say why
refused()
{
	local status=0

	"$@" > /tmp/refused 2>&1 || status=$?
	cat /tmp/refused
	[ $status -ne 0 ] && [ -s /tmp/refused ]
}

cell_wrong_input()
{
	local t
	t=$(cell_transport)

	refused nvme connect -t "$t" -a $VM_ADDR1 -s 4420 -n nqn.2026-11.org.example:nobody &&
	refused nvme connect -t "$t" -a $VM_ADDR1 -s 4499 -n $cell_nqn &&
	refused nvme connect -t "$t" -a 10.99.99.99 -s 4420 -n $cell_nqn &&
	refused nvme connect -t "$t" -a not-an-address -s 4420 -n $cell_nqn || return
	cell_no_ctrl
}

cell_host_not_allowed()
{
	local me=nqn.2014-08.org.nvmexpress:uuid:00000000-1111-4222-8333-444444444444

	pollard subsystem set $cell_nqn allow-any-host off || return
	refused nvme connect -t "$(cell_transport)" -a $VM_ADDR1 -s 4420 -n $cell_nqn -q $me || return
	pollard host add $cell_nqn $me && cell_connect -q $me && cell_disconnect || return
	pollard host del $cell_nqn $me && pollard subsystem set $cell_nqn allow-any-host on
}

# Everything is taken down, every module leaves, nothing stays.
cell_teardown()
{
	cell_unexport || return
	[ "$host" = ours ] || modprobe -r nvme-rdma || return
	[ "$target" = ours ] || modprobe -r nvmet-rdma || return
	wait_for cell_is_empty || {
		diag "before: $cell_before"; diag "after: $(cell_objects)"; return 1; }
	[ "$host" != ours ] || modprobe -r pollard-host || return
	[ "$target" != ours ] || modprobe -r pollard-target || return
	! lsmod | grep -q '^pollard ' || { diag "pollard.ko is in use:" "$(lsmod)"; return 1; }
	rdma link delete rxe0
}
