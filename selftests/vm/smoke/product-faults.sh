#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# product-faults.sh FAULT: our own pair with one thing wrong in it, on the debug kernel with modules of a DEBUG
# build. It does what our tests do, and that has to fail, or the kernel's log to have a report. FAULT is
#
#	none			nothing is wrong: all ends well
#	lost-wakeup		once a poll group that sleeps is not woken: a command does not end
#	lost-sync-END-WAY	END (host, target) does not hand over data between device and CPU while the host
#				does WAY (write, read): the data is wrong
#	foreign-task		a task touches what belongs to a poll group and is not its thread: a warning
#
# Needs foreign.ko as a file; see check-product.
. "$VM_LIB"
. "${VM_LIB%/*}/bench-lib.sh"
. "${VM_LIB%/*}/interop-lib.sh"
. "${VM_LIB%/*}/fault-lib.sh"

# shellcheck disable=SC2034 # interop-lib.sh reads them
target=ours host=ours
what=$1
data=/tmp/data

# queues_are_apart: the host's queues are in group 0, the target's in group 1
queues_are_apart()
{
	local groups

	groups=$(pollard queue show | sed -n 's/^queue \([a-z]*\) .* group \([0-9]*\) .*/\1 \2/p' | sort -u)
	[ "$groups" = $'host 0\ntarget 1' ]
}

# The host's queues are in a group that sleeps whenever it has nothing to do, and has no timer, which the
# target's queues would give it: nothing but a wake-up makes it go on. The target's group never sleeps, so the
# wake-up that is lost is none of its. The keep-alive is rare enough not to come in between.
set_up()
{
	cell_setup && cell_connect -i 1 --keep-alive-tmo=120 || return
	wait_for queues_are_apart || { diag "the queues are not where they should be"; pollard queue show; return 1; }
	pollard group set 0 mode event && pollard group set 1 mode busy && pollard group show
}

# ---- what is wrong -----------------------------------------------------------------------------------

# faults_begin NAME TIMES: from here on, for so many times (-1: each time)
faults_begin()
{
	fault_set verbose 1 && fault_set interval 1 && fault_set times "$1" && fault_set probability 100
}

lose_wakeup()
{
	faults_of /sys/kernel/debug/pollard/fail_wake && faults_begin 1
}

# lose_sync END: the hand-overs of data that END makes, all of them: one place in the source that lacks it lacks it
# each time
lose_sync()
{
	faults_of /sys/kernel/debug/pollard/fail_sync && faults_where "pollard_$1" && faults_begin -1
}

# What has never happened cannot be noticed.
has_happened()
{
	dmesg | grep -A 1 'FAULT_INJECTION' | grep "$1"
}

# foreign OWNER: 1: the group's thread itself does it
foreign()
{
	insmod /pollard/files/foreign.ko "owner=$1" 2>&1 | grep -q 'Resource temporarily unavailable'
}

# ---- who has to notice -------------------------------------------------------------------------------

# Verified I/O, one command after the other, takes a few seconds. The bar is below the 30 s after which the
# initiator itself would take the connection for dead.
io_ends()
{
	cell_fio bounded --rw=write --bs=4k --iodepth=1 --size=256k & cell_pid=$!
	wait_for -t 6 cell_load_ended || {
		diag "a command does not end"
		grep . /sys/block/nvme*/inflight
		pollard -s group show
		return 1
	}
	wait "$cell_pid"
}

# Data that nobody has seen before: what is left from earlier I/O in a buffer cannot be taken for it. Blocks of
# 16 KiB go by slots of the host, and by data buffers of the target.
new_data() { dd if=/dev/urandom of=$data bs=16k count=4 status=none; }

# write_arrives: what the host writes is on the target's disk, where it is looked at behind the target's back
write_arrives()
{
	new_data && dd if=$data of="$cell_dev" bs=16k oflag=direct status=none &&
		dd if="$cell_disk" of=$data.disk bs=16k count=4 iflag=direct status=none ||
		{ diag "writing failed"; return 1; }
	cmp $data $data.disk || { diag "what the host wrote is not on the disk"; return 1; }
}

# read_arrives: the host reads what was put on the disk behind the target's back
read_arrives()
{
	new_data && dd if=$data of="$cell_disk" bs=16k oflag=direct status=none &&
		dd if="$cell_dev" of=$data.host bs=16k count=4 iflag=direct status=none ||
		{ diag "reading failed"; return 1; }
	cmp $data $data.host || { diag "what the host read is not what is on the disk"; return 1; }
}

case $what in
none)
	tap_run "our pair, the groups' threads apart" set_up || tap_end
	tap_run "each command ends" io_ends
	tap_run "what is written arrives" write_arrives
	tap_run "what is read arrives" read_arrives
	tap_run "the group's thread touches what is its own" foreign 1
	;;
lost-wakeup)
	tap_run "our pair, the groups' threads apart" set_up || tap_end
	tap_run "a wake-up gets lost from here on" lose_wakeup
	tap_run "each command ends" io_ends
	tap_run "one got lost" has_happened fail_wake
	;;
lost-sync-*-*)
	way=${what##*-} end=${what#lost-sync-} end=${end%-*}
	tap_run "our pair, the groups' threads apart" set_up || tap_end
	tap_run "data is not handed over from here on" lose_sync "$end"
	tap_run "what the host does, a $way, arrives" "${way}_arrives"
	tap_run "there was some" has_happened fail_sync
	;;
foreign-task)
	tap_run "our modules are there" modprobe pollard || tap_end
	tap_run "a task touches what is not its own" foreign 0
	;;
*)
	tap_run "there is such a fault: $what" false
	;;
esac
tap_end
