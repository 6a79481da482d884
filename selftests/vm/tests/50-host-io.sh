#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The initiator over the kernel's own target: verified I/O of all sizes and depths, through every way
# data can take and every kind of queue.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 300
. "$VM_LIB"

nqn=nqn.2026-11.org.example:host

setup()
{
	modprobe brd rd_nr=1 rd_size=262144 && rxe_up && intree_target_add $nqn /dev/ram0 &&
		host_load pollard
}

connect()
{
	host_connect pollard $nqn "$@" && disk=$(host_disk $nqn)
}

discover()
{
	nvme discover -t pollard -a $VM_ADDR1 -s 4420 > /tmp/discover && grep -q "$nqn" /tmp/discover
}

# Block size, depth and how much of it; more would only keep soft-RoCE's checksums busy.
sizes()
{
	fio_verify "$disk" 512 1 --size=32k "$@" &&
	fio_verify "$disk" 512 128 --size=256k "$@" &&
	fio_verify "$disk" 4k 1 --size=256k "$@" &&
	fio_verify "$disk" 4k 128 --size=2m "$@" &&
	fio_verify "$disk" 16k 16 --size=1m "$@" &&
	fio_verify "$disk" 64k 16 --size=2m "$@" &&
	fio_verify "$disk" 1m 1 --size=2m "$@" &&
	fio_verify "$disk" 1m 8 --size=8m "$@"
}

# On 6.1 a polled io_uring request that the block layer splits never ends, with any driver.
odd_ends()
{
	[[ "$*" != *hipri* || $(uname -r) != 6.1.* ]]
}

odd_sizes()
{
	fio_verify "$disk" 1536 7 --size=96k "$@" &&
	fio_verify "$disk" 16896 16 --size=1056k "$@" &&
	fio_verify "$disk" 130560 5 --size=2040k "$@" &&
	{ ! odd_ends "$@" || fio_verify "$disk" 1048064 3 --size=4094k "$@"; } &&
	fio_verify "$disk" 4k 16 --rw=write --bsrange=512-256k --size=4m "$@" &&
	fio_verify "$disk" 64k 8 --iomem_align=512 --size=1m "$@"
}

# Bytes up to which I/O is copied can be changed; from the next connect on.
other_copy_max()
{
	local c
	c=/sys/class/nvme/$(host_controllers $nqn)

	echo "$1" > "$c/pollard/copy_max" && nvme reset "/dev/${c##*/}" || return
	[ "$(cat "$c/pollard/copy_now")" = "$1" ] || { diag "it is $(cat "$c/pollard/copy_now")"; return 1; }
	fio_verify "$disk" 4k 16 --size=1m && fio_verify "$disk" 16k 16 --size=1m &&
		fio_verify "$disk" 64k 4 --size=1m
}

# batches SCHEDULER: commands that are submitted together go out with few posts, and come back whole. A few
# are merged into one.
batches()
{
	local c batch='--iodepth_batch_submit=8 --iodepth_batch_complete_min=8 --cpus_allowed=0' path posts commands

	c=/sys/class/nvme/$(host_controllers $nqn)/pollard
	for path in /sys/block/nvme*n1/queue/scheduler; do
		echo "$1" > "$path" || return
	done
	posts=$(cat "$c/posts") commands=$(cat "$c/commands")
	# shellcheck disable=SC2086
	fio --name=batch --filename="$disk" --rw=randread --bs=4k --size=2m --direct=1 --ioengine=io_uring \
		--iodepth=8 $batch > /tmp/fio.out || { cat /tmp/fio.out; return 1; }
	posts=$(($(cat "$c/posts") - posts)) commands=$(($(cat "$c/commands") - commands))
	[ $commands -ge 256 ] && [ $((posts * 4)) -le $commands ] ||
		{ diag "$posts posts for $commands commands in batches of 8"; return 1; }
	# shellcheck disable=SC2086
	fio_verify "$disk" 4k 8 --size=1m $batch
}

# ended_together [FIO OPTION...]: commands whose responses are reaped together are ended together: nvme-core is
# told of each, the block layer once.
ended_together()
{
	local t=/sys/kernel/tracing each all rc=0

	{
		echo 'p:each nvme_complete_batch_req' > $t/kprobe_events &&
			echo 'p:all blk_mq_end_request_batch' >> $t/kprobe_events && echo 1 > $t/events/kprobes/enable
	} || return
	fio --name=together --filename="$disk" --rw=randread --bs=4k --size=2m --direct=1 --ioengine=io_uring \
		--iodepth=32 "$@" > /tmp/fio.out || { cat /tmp/fio.out; rc=1; }
	each=$(awk '$1 == "each" { print $2 }' $t/kprobe_profile)
	all=$(awk '$1 == "all" { print $2 }' $t/kprobe_profile)
	echo 0 > $t/events/kprobes/enable && echo > $t/kprobe_events || rc=1
	# Of the first ones some may be merged.
	[ "$each" -ge 480 ] && [ "$all" -lt "$each" ] ||
		{ diag "of 512 commands $each were ended in a batch, in $all batches"; rc=1; }
	return $rc
}

can_probe()
{
	local t=/sys/kernel/tracing

	grep -q " $t " /proc/mounts || mount -t tracefs tracefs $t
	[ -e $t/kprobe_events ]
}

# tap_ended_together NAME [FIO OPTION...]
tap_ended_together()
{
	if can_probe; then
		tap_run "$1" ended_together "${@:2}"
	else
		tap_skip "$1" "the kernel has no probes"
	fi
}

tap_run "set up" setup || { tap_end; exit 1; }
tap_run "discover" discover
tap_run "connect" connect -i 2
tap_run "verified I/O, 512 B to 1 MiB, depth 1 to 128" sizes
tap_run "verified I/O of odd sizes" odd_sizes
tap_run "verified I/O with libaio" sizes --ioengine=libaio
tap_ended_together "commands are ended together"
tap_run "one post for a batch" batches none
if grep -q mq-deadline /sys/block/nvme*n1/queue/scheduler; then
	tap_run "one post for a batch, with an I/O scheduler" batches mq-deadline
else
	tap_skip "one post for a batch, with an I/O scheduler" "the kernel has none"
fi
tap_run "nothing is copied" other_copy_max 0
tap_run "up to 1 KiB is copied" other_copy_max 1024
tap_run "up to 64 KiB is copied" other_copy_max 65536
tap_run "disconnect" host_disconnect $nqn
tap_run "connect with write and poll queues" connect -i 1 -W 1 -P 1
tap_run "verified I/O, polled" fio_verify /dev/"${disk##*/}" 4k 32 --hipri=1
tap_run "verified I/O of odd sizes, polled" odd_sizes --hipri=1
tap_ended_together "polled commands are ended together" --hipri=1
tap_run "verified I/O beside it, not polled" fio_verify "$disk" 4k 32
tap_run "disconnect" host_disconnect $nqn
tap_run "unload" modprobe -r pollard-host
tap_end
