#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The demo's second machine: finds the disk, makes a filesystem on it, and writes and reads back
# every block size and depth with checksums.
. "$VM_LIB"
. "${VM_LIB%/*}/bench-lib.sh"

nqn=nqn.2026-11.org.example:disk1
show() { echo "host# $*"; "$@"; }

set -e
rxe_up
modprobe -a ext4 pollard-host
vm_wait exported
show nvme discover -t pollard -a $VM_ADDR1 -s 4420
show nvme connect -t pollard -a $VM_ADDR1 -s 4420 -n $nqn -i 2
wait_for nvme_of $nqn
dev=$(nvme_of $nqn)
show nvme list
show mkfs.ext4 -q -F "$dev"
mkdir -p /mnt/demo
show mount "$dev" /mnt/demo

n=0
while read -r bs depth size; do
	fio --name=verify --filename=/mnt/demo/file --rw=randwrite --bs="$bs" --iodepth="$depth" \
		--size="$size" --direct=1 --ioengine=libaio --verify=crc32c --verify_fatal=1 \
		--do_verify=1 --fallocate=none --output=/tmp/verify.out ||
		{ cat /tmp/verify.out; echo "data did NOT verify: $bs x $depth"; exit 1; }
	echo "verified: block size $bs, queue depth $depth, $size written and read back"
	n=$((n + 1))
done <<'END'
512 1 128k
512 32 512k
4k 1 1m
4k 32 4m
4k 128 8m
16k 16 8m
64k 8 8m
128k 4 16m
1m 1 16m
1m 8 16m
END
show umount /mnt/demo
show fsck.ext4 -n -f "$dev"
show nvme disconnect -n $nqn
modprobe -r pollard-host
echo "$n combinations of block size and queue depth verified"
vm_signal done
