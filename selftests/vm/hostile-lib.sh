# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the tests with hostile peers share: our target with a subsystem for the hostile host and one for
# an honest one, whose verified I/O must not notice anything. Source after guest-lib.sh.

hostile_dir=/pollard/selftests/vm/hostile
hostile_nqn=nqn.2026-11.org.example:hostile
honest_nqn=nqn.2026-11.org.example:honest
honest_pid=
hostile_wrong=
hostile_srq=		# the target's queues share receives, which they do not by themselves on soft-RoCE
hostile_memory=16384	# KiB that caches, slabs and per-CPU chunks may keep
hostile_slab=8192	# of these, in slabs that are not full

# peer SCRIPT [NAME=VALUE...]: run a script; each of its tests is one of ours
peer()
{
	local script=$1 line ended='' tests=0 status=0
	shift

	while IFS= read -r line; do
		case $line in
		"ok "*)		tap_result 0 "$script: ${line#ok }"; tests=$((tests + 1)) ;;
		"not ok "*)	tap_result 1 "$script: ${line#not ok }" ;;
		"# exit 0")	ended=1 ;;
		*)		echo "$line" ;;
		esac
	done < <(rawpeer dir=$hostile_dir "$@" $hostile_dir/lib.peer \
		$hostile_dir/target-lib.peer "$hostile_dir/$script.peer" 2>&1; echo "# exit $?")
	[ -n "$ended" ] && [ $tests -gt 0 ] || status=1
	tap_result $status "$script: ran to its end"
}

# peer_wrong: every test of wrong.peer fails, or what the others say is worth nothing
peer_wrong()
{
	rawpeer dir=$hostile_dir $hostile_dir/lib.peer $hostile_dir/wrong.peer > /tmp/wrong.out 2>&1
	[ "$(grep -c '^not ok ' /tmp/wrong.out)" = "$(grep -c '^test ' $hostile_dir/wrong.peer)" ] &&
		! grep '^ok ' /tmp/wrong.out || { cat /tmp/wrong.out; return 1; }
}

hostile_setup()
{
	# A RAM disk takes its memory as it is written; what is measured later must have it already.
	modprobe brd rd_nr=1 rd_size=65536 &&
	dd if=/dev/zero of=/dev/ram0 bs=1M count=64 2>/dev/null && rxe_up &&
	modprobe pollard-target ${hostile_srq:+use_srq=1} &&
	pollard subsystem add $honest_nqn allow-any-host on &&
	pollard namespace add $honest_nqn nsid 1 device /dev/ram0 &&
	pollard subsystem add $hostile_nqn allow-any-host on &&
	pollard namespace add $hostile_nqn nsid 1 ram 16M &&
	pollard port add 1 traddr $VM_ADDR1 trsvcid 4420 &&
	pollard port add-subsystem 1 $honest_nqn && pollard port add-subsystem 1 $hostile_nqn
}

# honest_start TRANSPORT: an honest host whose I/O is verified, a few seconds at a time, until honest_end
honest_start()
{
	host_connect "$1" $honest_nqn -i 2 || return
	honest_ctrl=$(host_controllers $honest_nqn)
	rm -f /tmp/honest.stop
	honest_rounds "$(host_disk $honest_nqn)" > /tmp/honest.out 2>&1 & honest_pid=$!
}

honest_rounds()
{
	local rounds=0

	until [ -e /tmp/honest.stop ]; do
		fio_verify "$1" 4k 4 --rw=write --bsrange=512-64k --size=8m --thinktime=10ms || return
		rounds=$((rounds + 1))
	done
	echo "$rounds rounds"
	[ $rounds -gt 0 ]
}

# honest_end: it has lost nothing, and its connection was never in doubt
honest_end()
{
	touch /tmp/honest.stop
	wait $honest_pid || { cat /tmp/honest.out; return 1; }
	! dmesg | grep -E "nvme ${honest_ctrl}: |$honest_ctrl: " | grep -E 'error|timeout|reconnect|queue [0-9]*:' ||
		return
	host_disconnect $honest_nqn
}

# available memory in KiB, once what was to be freed has been. Pages that CPUs keep at hand are free, too,
# some 15 MiB at times, but are not counted as such.
memory_now()
{
	echo 3 > /proc/sys/vm/drop_caches
	awk '$1 == "MemAvailable:" { kib += $2 } $1 == "count:" { kib += $2 * 4 } END { print kib }' \
		/proc/meminfo /proc/zoneinfo
}

# KiB in slabs: what was allocated in small pieces
slab_now()
{
	echo 3 > /proc/sys/vm/drop_caches
	awk '$1 == "Slab:" { print $2 }' /proc/meminfo
}

# memory_bounded BEFORE KIB: not more than that is missing
memory_bounded()
{
	[ $(($1 - $(memory_now))) -le "$2" ]
}

# slab_bounded BEFORE KIB: not more than that is more
slab_bounded()
{
	[ $(($(slab_now) - $1)) -le "$2" ]
}

# memory_diff BEFORE MEMINFO: what has grown since, for people
memory_diff()
{
	diag "$1 KiB before, $(memory_now) KiB now"
	awk 'NR == FNR { was[$1] = $2; next }
		$2 - was[$1] > 1024 || was[$1] - $2 > 1024 { print "# " $1, was[$1], "then", $2, "now" }' \
		<(echo "$2") /proc/meminfo
	du -sk /tmp /run
}

# nobody_left: no queue and no controller of a host that has gone
nobody_left()
{
	[ -z "$(pollard queue show)$(pollard controller show)" ]
}

hostile_teardown()
{
	wait_for -t 40 nobody_left || { pollard queue show; pollard controller show; return 1; }
	pollard subsystem del $hostile_nqn && pollard subsystem del $honest_nqn && pollard port del 1 &&
	wait_for -t 20 modprobe -r pollard-target
}

# hostile_test TRANSPORT SCRIPT [NAME=VALUE...]: a hostile host's script while an honest one's I/O is
# verified, and the end of both: nothing is left. With hostile_wrong the tool is tested, too.
hostile_test()
{
	local transport=$1 before memory slab meminfo
	shift

	tap_run "set up" hostile_setup || tap_end
	# What the first connection of all leaves in caches and pools is not what is looked for.
	tap_run "a first round" hostile_first_round "$transport" || tap_end
	before=$(hostile_objects "$transport")
	memory=$(memory_now)
	slab=$(slab_now)
	meminfo=$(cat /proc/meminfo)
	tap_run "an honest host begins" honest_start "$transport" || tap_end
	[ -z "$hostile_wrong" ] || tap_run "wrong expectations fail" peer_wrong
	peer "$@"
	tap_run "the honest host has noticed nothing" honest_end
	host_unload "$transport"
	tap_run "nobody is left" wait_for -t 40 nobody_left || pollard queue show
	tap_run "RDMA objects are gone" wait_for -t 20 hostile_settled "$transport" "$before" ||
		rdma_snapshot
	tap_run "memory is back" wait_for -t 20 memory_bounded "$memory" $hostile_memory ||
		memory_diff "$memory" "$meminfo"
	tap_run "slabs are back" wait_for -t 20 slab_bounded "$slab" $hostile_slab ||
		memory_diff "$memory" "$meminfo"
	diag "memory $(($(memory_now) - memory)) KiB, slabs $(($(slab_now) - slab)) KiB against before"
	tap_run "tear down" hostile_teardown
	tap_end
}

hostile_first_round()
{
	host_connect "$1" $honest_nqn -i 2 && fio_verify "$(host_disk $honest_nqn)" 4k 8 --size=1m &&
	host_disconnect $honest_nqn && wait_for nobody_left
}

# hostile_objects TRANSPORT: what is on the device. The kernel's own host shares completion queues, which
# stay until the device goes; only without it can they be counted.
hostile_objects()
{
	if [ "$1" = pollard ]; then
		rdma_snapshot
	else
		rdma_snapshot | sed 's/ cq [0-9]*//'
	fi
}

hostile_settled()
{
	[ "$(hostile_objects "$1")" = "$2" ]
}

host_unload()
{
	case $1 in
	pollard) modprobe -r pollard-host ;;
	*) modprobe -r "nvme-$1" ;;
	esac
}
