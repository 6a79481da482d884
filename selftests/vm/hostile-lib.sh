# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the tests with hostile peers share: our target with a subsystem for the hostile host and one for
# an honest one, whose verified I/O must not notice anything. Source after guest-lib.sh.

hostile_dir=/pollard/selftests/vm/hostile
hostile_nqn=nqn.2026-11.org.example:hostile
honest_nqn=nqn.2026-11.org.example:honest
honest_pid=
hostile_wrong=		# a script of wrong expectations that is run, too
hostile_rounds=1	# how often the script is run
hostile_srq=		# the target's queues share receives, which they do not by themselves on soft-RoCE
hostile_memory=16384	# KiB that caches, slabs and per-CPU chunks may keep
hostile_slab=8192	# of these, in slabs that are not full
hostile_queue_mb=	# MiB that all queues of hosts may take; a quarter of the machine's when not set
hostile_peak=65536	# KiB that the tool and soft-RoCE's part of its connections take at the most
honest_limit=5000	# ms that an I/O of the honest host may take
canary=/run/canary

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

# peer_wrong SCRIPT: every test of it fails, and by a line of its own, not by what it shares with others:
# or what the others say is worth nothing
peer_wrong()
{
	local script=$hostile_dir/$1.peer tests

	tests=$(grep -c '^test ' "$script")
	rawpeer dir=$hostile_dir $hostile_dir/lib.peer $hostile_dir/target-lib.peer "$script" \
		> /tmp/wrong.out 2>&1
	$hostile_dir/initiator disconnect
	[ "$(grep -c '^not ok ' /tmp/wrong.out)" = "$tests" ] &&
		[ "$(grep -c "^# $script:" /tmp/wrong.out)" = "$tests" ] &&
		! grep '^ok ' /tmp/wrong.out || { cat /tmp/wrong.out; return 1; }
}

hostile_setup()
{
	# A RAM disk takes its memory as it is written; what is measured later must have it already.
	modprobe brd rd_nr=1 rd_size=65536 &&
	dd if=/dev/zero of=/dev/ram0 bs=1M count=64 2>/dev/null && rxe_up &&
	modprobe pollard-target queue_memory_max_mb=${hostile_queue_mb:-0} ${hostile_srq:+use_srq=1} &&
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
	local rounds=0 slowest=0 ms

	until [ -e /tmp/honest.stop ]; do
		fio_verify "$1" 4k 4 --rw=write --bsrange=512-64k --size=8m --thinktime=10ms \
			--output-format=json || return
		ms=$(fio_slowest)
		[ "$ms" -le $slowest ] || slowest=$ms
		rounds=$((rounds + 1))
	done
	echo "$rounds rounds, slowest I/O $slowest ms"
	[ $rounds -gt 0 ] && [ $slowest -gt 0 ] && [ $slowest -le $((honest_limit * ${VM_SLOWNESS:-1})) ]
}

# ms from submission to completion of the slowest I/O of fio's last round
fio_slowest()
{
	awk '/"clat_ns"/ { in_clat = 1 }
		in_clat && $1 == "\"max\"" { in_clat = 0; if ($3 + 0 > max) max = $3 + 0 }
		END { print int((max + 999999) / 1000000) }' /tmp/fio.out
}

# honest_end: it has lost nothing, has not had to wait, and its connection was never in doubt
honest_end()
{
	local status=0

	touch /tmp/honest.stop
	wait $honest_pid || status=$?
	cat /tmp/honest.out
	[ $status = 0 ] || return
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

# memory_watch: until memory_watched, the least that is available and the most in slabs that cannot be
# freed, in KiB. Without a process: those of the peer want the CPU.
memory_watch()
{
	local key kib rest least='' most=0

	until [ -e /tmp/watch.stop ]; do
		while read -r key kib rest; do
			case $key in
			MemAvailable:)	[ "${least:-$kib}" -lt "$kib" ] || least=$kib ;;
			SUnreclaim:)	[ $most -gt "$kib" ] || most=$kib; break ;;
			esac
		done < /proc/meminfo
		read -r -t 0.1 -u "$vm_nothing"
	done
	echo "$least $most"
}

# memory_peak AVAILABLE SLABS BOUND: what memory_watch has seen against what was before, in KiB
memory_peak()
{
	local least most

	read -r least most < /tmp/watch.out || return
	echo "at the most $(($1 - least)) KiB taken, $((most - $2)) KiB of it in slabs, bound $3 KiB"
	[ $(($1 - least)) -le "$3" ] && [ $((most - $2)) -le "$3" ]
}

# hostile_peer SCRIPT [NAME=VALUE...]: run it, and look meanwhile what it costs: what all queues of hosts
# may take together, with what comes in pieces, and what the tool itself takes in the same machine
hostile_peer()
{
	local available slabs watch bound

	bound=$((hostile_queue_mb * 1024))
	[ $bound -gt 0 ] || bound=$(awk '$1 == "MemTotal:" { print int($2 / 4) }' /proc/meminfo)
	bound=$((bound + hostile_peak))
	# A DEBUG build has a second page for each that a device sees.
	[ "${VM_SLOWNESS:-1}" = 1 ] || bound=$((bound * 2))
	available=$(memory_now)
	slabs=$(awk '$1 == "SUnreclaim:" { print $2 }' /proc/meminfo)
	rm -f /tmp/watch.stop
	memory_watch > /tmp/watch.out & watch=$!
	peer "$@"
	touch /tmp/watch.stop
	wait $watch
	tap_run "memory was bounded all the time" memory_peak "$available" "$slabs" $bound
	diag "$(cat /tmp/tap.out)"
}

# canary_plant, canary_whole: memory of others, which nobody has any business with
canary_plant()
{
	canary_pattern > $canary
}

canary_pattern()
{
	yes 'not a slot' | head -c 32M
}

canary_whole()
{
	canary_pattern | cmp - $canary
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
	tap_run "memory of others" canary_plant || tap_end
	# What the first connection of all leaves in caches and pools is not what is looked for.
	tap_run "a first round" hostile_first_round "$transport" || tap_end
	before=$(hostile_objects "$transport")
	memory=$(memory_now)
	slab=$(slab_now)
	meminfo=$(cat /proc/meminfo)
	tap_run "an honest host begins" honest_start "$transport" || tap_end
	[ -z "$hostile_wrong" ] || tap_run "wrong expectations fail" peer_wrong "$hostile_wrong"
	for ((; hostile_rounds > 0; hostile_rounds--)); do
		hostile_peer "$@"
	done
	tap_run "the honest host has noticed nothing" honest_end
	diag "$(cat /tmp/honest.out)"
	tap_run "memory of others is what it was" canary_whole
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
