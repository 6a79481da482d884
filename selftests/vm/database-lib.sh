# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the tests with a database share: SQLite commits transactions on the file system at /mnt, each one
# acknowledged goes into a list; a program that calls fsync after each write runs besides. Afterwards every
# transaction of the list must be there, database and file system in order. Source after guest-lib.sh.

db_sql=/tmp/transactions db_acknowledged=/tmp/acknowledged
db_pid='' db_fio_pid=''

# In WAL mode a transaction is safe with FULL; with a journal that is deleted only EXTRA makes it so.
declare -A db_pragma=(
	[ext4]='PRAGMA journal_mode=DELETE; PRAGMA synchronous=EXTRA;'
	[xfs]='PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;')

# db_turns ROUNDS: a line for each turn, "ext4 ours": the file system, and the target its disk is of. With the next
# round each has the other one, and the older kernel begins where the newer one does not.
db_turns()
{
	local n first=0

	[[ $(uname -r) != 6.1.* ]] || first=1
	for ((n = first; n < first + $1; n++)); do
		if [ $((n % 2)) = 0 ]; then
			printf 'ext4 ours\nxfs in-tree\n'
		else
			printf 'ext4 in-tree\nxfs ours\n'
		fi
	done
}

# More transactions than there is time for; SQLite says the number when one is committed.
db_setup()
{
	mkdir -p /mnt && awk 'BEGIN { for (i = 1; i < 30000; i++)
		printf "INSERT INTO t VALUES(%d, printf(\"%%0300d\", %d)); SELECT %d;\n", i, i, i }' > $db_sql
}

# db_mkfs FILESYSTEM DISK: mkfs.xfs does not take the place of another file system by itself.
db_mkfs()
{
	dd if=/dev/zero of="$2" bs=64k count=1 oflag=direct 2> /dev/null && "mkfs.$1" -q "$2"
}

# db_begin FILESYSTEM: both applications, on what is mounted
db_begin()
{
	sqlite3 /mnt/db 'CREATE TABLE t(n INTEGER PRIMARY KEY, text);' && sync -f /mnt/db || return
	{ echo "${db_pragma[$1]}"; cat $db_sql; } | stdbuf -oL sqlite3 -bail /mnt/db > $db_acknowledged 2> /tmp/sqlite &
	db_pid=$!
	db_fio_begin 1
	db_commits 20
}

# db_fio_begin LOOPS
db_fio_begin()
{
	fio --name=fsync --directory=/mnt --rw=randwrite --bs=4k --size=1m --fsync=1 --verify=crc32c --loops="$1" \
		> /tmp/fio 2>&1 &
	db_fio_pid=$!
}

# Sets $db_last to the last transaction that was acknowledged.
db_last_commit() { db_last=$(grep -x '[0-9]*' $db_acknowledged | tail -n 1) db_last=${db_last:-0}; }
db_enough_commits() { db_last_commit; [ "$db_last" -ge "$1" ]; }
# db_commits NUMBER: so many more come
db_commits()
{
	db_last_commit
	wait_for db_enough_commits $((db_last + $1)) || { diag "$db_last commits"; cat /tmp/sqlite; return 1; }
}

db_runs() { kill -0 $db_pid 2> /dev/null; }
db_fio_runs() { kill -0 $db_fio_pid 2> /dev/null; }
db_over() { ! db_runs && ! db_fio_runs; }

# db_fio_end: it has come to its end and found what it wrote
db_fio_end()
{
	wait $db_fio_pid || { cat /tmp/fio; return 1; }
}

# db_failed: both have noticed that their disk is gone
db_failed()
{
	local status=0

	wait_for db_over || { diag "still there"; return 1; }
	wait $db_pid && { diag "SQLite has not noticed"; status=1; }
	wait $db_fio_pid && { diag "fio has not noticed"; status=1; }
	return $status
}

# db_end: SQLite is stopped in the middle of what it does; neither has seen an error
db_end()
{
	db_runs || { diag "SQLite has ended:"; cat /tmp/sqlite; return 1; }
	kill $db_pid
	wait_for -t 90 db_over || { diag "still there"; return 1; }
	wait $db_pid
	[ ! -s /tmp/sqlite ] && db_fio_end || { cat /tmp/sqlite; return 1; }
}

# db_says OUTPUT SQL
db_says()
{
	local output
	output=$(sqlite3 -bail /mnt/db "$2") && [ "$output" = "$1" ] || { diag "$2: $output, not $1"; return 1; }
}

# db_consistent FILESYSTEM DISK: with nothing of it mounted
db_consistent()
{
	db_last_commit
	diag "$db_last transactions"
	mount "$2" /mnt || return
	db_says "$db_last" "SELECT count(*) FROM t WHERE n <= $db_last;" || return
	# One more may have been committed and not acknowledged.
	db_says 0 "SELECT count(*) FROM t WHERE n > $db_last + 1 OR text <> printf('%0300d', n);" || return
	db_says ok 'PRAGMA integrity_check;' && umount /mnt || return
	case $1 in
	ext4) e2fsck -fn "$2" ;;
	xfs) xfs_repair -n "$2" ;;
	esac
}
