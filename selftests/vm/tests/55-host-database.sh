#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# 55-host-database.sh [ROUNDS]: a database on a file system on a disk of our initiator, while the target
# crashes. SQLite commits transactions, each one acknowledged goes into a list; a program that calls fsync
# after each write runs besides. The target's disk has a volatile cache.
#
# - The target's software crashes and comes back: nobody notices but by the time it takes.
# - The target loses power, its disk all that was not flushed, and the host gives up: after the file
#   system is mounted over a new connection every acknowledged transaction is there, and database and
#   file system are in order.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 240
# vm-long: 20
# vm-long-timeout: 7200
. "$VM_LIB"

nqn=nqn.2026-11.org.example:database
uuid=11111111-2222-4333-8444-555555555555
sql=/tmp/transactions acknowledged=/tmp/acknowledged
database_pid='' fio_pid=''

setup()
{
	mkdir -p /mnt && rxe_up && modprobe pollard-host || return
	# More than there is time for; SQLite says the number when the transaction is committed.
	awk 'BEGIN { for (i = 1; i < 30000; i++)
		printf "INSERT INTO t VALUES(%d, printf(\"%%0300d\", %d)); SELECT %d;\n", i, i, i }' > $sql
	# The disk does forget what was not flushed, and keeps the rest.
	null_disk disk size=320 memory_backed=1 cache_size=128 || return
	dd if=/dev/zero bs=4k count=1 2> /dev/null | tr '\0' x > /tmp/x
	dd if=/tmp/x of=/dev/disk bs=4k oflag=direct 2> /dev/null && disk_power_fails || return
	! cmp -s -n 4096 /tmp/x /dev/disk || { diag "it keeps what was not flushed"; return 1; }
	dd if=/tmp/x of=/dev/disk bs=4k oflag=direct conv=fsync 2> /dev/null && disk_power_fails &&
		cmp -n 4096 /tmp/x /dev/disk
}

disk_power_fails()
{
	echo 0 > /sys/kernel/config/nullb/disk/power && echo 1 > /sys/kernel/config/nullb/disk/power
}

# ---- target and host ----------------------------------------------------------------------------

target_up()
{
	modprobe pollard-target || return
	cat > /tmp/batch <<-END
		subsystem add $nqn allow-any-host on
		namespace add $nqn nsid 1 device /dev/disk uuid $uuid
		port add 1 traddr $VM_ADDR1 trsvcid 4420
		port add-subsystem 1 $nqn
	END
	pollard -b /tmp/batch
}
# All of a sudden for the host: no goodbye, no memory of any connection afterwards.
target_crashes() { modprobe -r pollard-target; }

connect()
{
	host_connect pollard $nqn --reconnect-delay=1 --ctrl-loss-tmo="$1" || return
	disk=$(host_disk $nqn) c=/sys/class/nvme/$(host_controllers $nqn)
}
is() { [ "$(< "$c/state")" = "$1" ]; }

# ---- the applications ---------------------------------------------------------------------------

# In WAL mode a transaction is safe with FULL; with a journal that is deleted only EXTRA makes it so.
declare -A pragma=(
	[ext4]='PRAGMA journal_mode=DELETE; PRAGMA synchronous=EXTRA;'
	[xfs]='PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;')

applications_begin()
{
	sqlite3 /mnt/db 'CREATE TABLE t(n INTEGER PRIMARY KEY, text);' && sync -f /mnt/db || return
	{ echo "${pragma[$1]}"; cat $sql; } | stdbuf -oL sqlite3 -bail /mnt/db > $acknowledged 2> /tmp/sqlite &
	database_pid=$!
	fio --name=fsync --directory=/mnt --rw=randwrite --bs=4k --size=1m --fsync=1 --verify=crc32c --loops="$2" \
		> /tmp/fio 2>&1 &
	fio_pid=$!
	commits 20
}
last_commit() { last=$(grep -x '[0-9]*' $acknowledged | tail -n 1) last=${last:-0}; }
enough_commits() { last_commit; [ "$last" -ge "$1" ]; }
# commits NUMBER: so many more come
commits()
{
	last_commit
	wait_for enough_commits $((last + $1)) || { diag "$last commits"; cat /tmp/sqlite; return 1; }
}

both_over() { ! kill -0 $database_pid 2> /dev/null && ! kill -0 $fio_pid 2> /dev/null; }

# begin FILESYSTEM
begin()
{
	# mkfs.xfs does not take the place of another file system by itself.
	dd if=/dev/zero of=/dev/disk bs=64k count=1 oflag=direct 2> /dev/null &&
	"mkfs.$1" -q /dev/disk && blockdev --flushbufs /dev/disk && target_up && connect 60 || return
	mount "$disk" /mnt && applications_begin "$1" 1
}

target_returns()
{
	target_crashes && wait_for is connecting && target_up && wait_for is live || return
	commits 20 && wait $fio_pid || { cat /tmp/fio; return 1; }
}

power_fails()
{
	local status=0

	fio --name=fsync --directory=/mnt --rw=randwrite --bs=4k --size=1m --fsync=1 > /tmp/fio 2>&1 --loops=99 &
	fio_pid=$!
	echo 2 > "$c/ctrl_loss_tmo" && commits 20 && target_crashes && disk_power_fails || return
	wait_for host_gone $nqn && wait_for both_over || { diag "still there"; return 1; }
	wait $database_pid && { diag "SQLite has not noticed"; status=1; }
	wait $fio_pid && { diag "fio has not noticed"; status=1; }
	umount /mnt && return $status
}

# says OUTPUT SQL
says()
{
	local output
	output=$(sqlite3 -bail /mnt/db "$2") && [ "$output" = "$1" ] || { diag "$2: $output, not $1"; return 1; }
}

consistent()
{
	last_commit
	diag "$last transactions"
	target_up && connect 60 && mount "$disk" /mnt || return
	says "$last" "SELECT count(*) FROM t WHERE n <= $last;" || return
	# One more may have been committed and not acknowledged.
	says 0 "SELECT count(*) FROM t WHERE n > $last + 1 OR text <> printf('%0300d', n);" || return
	says ok 'PRAGMA integrity_check;' && umount /mnt || return
	case $1 in
	ext4) e2fsck -fn "$disk" ;;
	xfs) xfs_repair -n "$disk" ;;
	esac
}

end()
{
	host_disconnect $nqn && target_crashes
}

tap_run "set up" setup || { tap_end; exit 1; }
mapfile -t filesystems < <(for ((round = ${1:-1}; round > 0; round--)); do printf 'ext4\nxfs\n'; done)
for fs in "${filesystems[@]}"; do
	modprobe -q "$fs" || { tap_skip "$fs" "the kernel has none"; continue; }
	tap_run "$fs: make, mount, commit transactions" begin "$fs" &&
	tap_run "$fs: the target crashes and returns" target_returns &&
	tap_run "$fs: the target loses power, the host gives up" power_fails &&
	tap_run "$fs: all is there, over a new connection" consistent "$fs" &&
	tap_run "$fs: disconnect" end || break
done
tap_end
