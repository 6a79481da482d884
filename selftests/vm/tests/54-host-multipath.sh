#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# 54-host-multipath.sh [ROUNDS]: two paths to one disk with the kernel's native multipath, both through our initiator, or one through
# ours and one through nvme-rdma: a load whose acknowledged writes are remembered goes on while either
# path is lost and comes back, with each I/O policy and in each ANA state, waits while both are lost,
# and fails when fast_io_fail_tmo or ctrl_loss_tmo says so. Our target has no ANA; there the kernel's is
# the target.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 300
# vm-long: 20
# vm-long-timeout: 7200
. "$VM_LIB"

nqn=nqn.2026-11.org.example:multipath
journal=/tmp/journal
load=

setup()
{
	rxe_up && modprobe -a pollard-host nvme-rdma pollard-target nvmet-rdma || return
	[ "$(< /sys/module/nvme_core/parameters/multipath)" = Y ] || { diag "no native multipath"; return 1; }
}

# ---- target and paths: port 1 is the first address, port 2 the second ---------------------------

# Both at once: a host that finds the port without the subsystem is refused for good.
ours_port_add()
{
	printf 'port add %s traddr 10.77.0.%s trsvcid 4420\nport add-subsystem %s %s\n' "$1" "$1" "$1" $nqn > /tmp/batch
	pollard -b /tmp/batch
}
ours_port_del() { pollard port del "$1"; }
theirs_port_add() { ln -s $nvmet/subsystems/$nqn "$nvmet/ports/$1/subsystems/"; }
theirs_port_del() { rm "$nvmet/ports/$1/subsystems/$nqn"; }

ours_export() { our_target_add $nqn /dev/ram0 && ours_port_add 2; }
ours_unexport()
{
	our_target_del $nqn || return
	# Some tests end without them.
	ours_port_del 1; ours_port_del 2
	true
}
theirs_export()
{
	intree_target_add $nqn /dev/ram0 && intree_port_add 2 $VM_ADDR2 && theirs_port_add 2
}
theirs_unexport() { intree_target_del $nqn; }

# path_connect PATH TRANSPORT: sets ctrl[PATH] to the controller's directory in sysfs
path_connect()
{
	local c

	nvme connect -t "$2" -a 10.77.0."$1" -s 4420 -n $nqn --reconnect-delay=1 --ctrl-loss-tmo=60 || return
	for c in /sys/class/nvme/nvme*; do
		[[ $(< "$c/subsysnqn") = "$nqn" && $(< "$c/address") == traddr=10.77.0.$1,* ]] && ctrl[$1]=$c
	done
	# nvme0c1n1 is the path through nvme1.
	wait_for path_is_there "$1"
}
path_is_there()
{
	path[$1]=$(echo /sys/block/nvme*c"${ctrl[$1]##*/nvme}"n1)
	[ -e "${path[$1]}/stat" ]
}
path_is() { [ "$(< "${ctrl[$1]}/state")" = "$2" ]; }
both_are() { path_is 1 "$1" && path_is 2 "$1"; }
gone() { ! host_controllers $nqn; }

# begin TARGET TRANSPORT1 TRANSPORT2: two paths and a load on their disk
begin()
{
	target=$1
	modprobe brd rd_nr=1 rd_size=8192 && "${target}_export" || return
	path_connect 1 "$2" && path_connect 2 "$3" && wait_for host_disk $nqn || return
	disk=$(host_disk $nqn)
	policy=$(echo /sys/class/nvme-subsystem/*/iopolicy)
	echo round-robin > "$policy" || return
	rm -f $journal
	load_begin
}

end()
{
	load_end && ackwrite check "$disk" $journal || return
	nvme disconnect -n $nqn && wait_for gone && "${target}_unexport" && modprobe -r brd
}

# lose PATH..., regain PATH...
lose()
{
	local p
	for p; do "${target}_port_del" "$p" || return; done
	for p; do wait_for -t 10 path_is "$p" connecting || { diag "path $p is not lost"; return 1; }; done
}
regain()
{
	local p
	for p; do "${target}_port_add" "$p" || return; done
	for p; do
		wait_for -t 20 path_is "$p" live || { diag "path $p is $(< "${ctrl[$p]}/state")"; return 1; }
	done
}

# ---- the load, and which way it goes ------------------------------------------------------------

load_begin()
{
	ackwrite run "$disk" $journal > /tmp/ackwrite 2>&1 & load=$!
	carried
}
load_runs() { kill -0 "$load" 2>/dev/null; }
load_over() { ! load_runs; }
load_goes_on() { load_runs || { diag "the load has ended:"; cat /tmp/ackwrite; return 1; }; }

# Where its I/O is, for people: with a thread, in a request, or with nobody
load_looks()
{
	local d=/sys/kernel/debug

	grep -s . /proc/"$load"/task/*/{wchan,stack} /sys/class/nvme/*/state /sys/class/nvme/*/pollard/timeouts
	grep -rs . $d/block/nvme*/{state,requeue_list,hctx*/{state,dispatch,busy,ctx_map},hctx*/cpu*/*_rq_list}
	grep -rs . $d/pollard
}

# load_end: ackwrite is to end
load_end()
{
	local status=0

	load_goes_on && kill "$load" || return
	wait_for load_over || { diag "the load does not end"; load_looks; return 1; }
	wait "$load" || status=$?
	[ $status = 0 ] || { cat /tmp/ackwrite; return 1; }
}

# The disk has failed, and only that has ended the load.
load_failed()
{
	local status=0

	wait "$load" || status=$?
	[ $status = 5 ] || { diag "ackwrite: $status"; cat /tmp/ackwrite; return 1; }
}

# I/Os that each path has carried so far
count()
{
	local p s

	ios=()
	for p in 1 2; do
		read -ra s < "${path[p]}/stat" && ios[p]=$((s[0] + s[4]))
	done
}
some_more()
{
	count && [ $((ios[1] + ios[2] - before[1] - before[2])) -ge 40 ]
}

# Which paths carry the load now: sets $carriers
carried()
{
	count && before=("" "${ios[@]}")
	carriers=
	wait_for -t 10 some_more || { load_goes_on && diag "no I/O"; return 1; }
	[ "${ios[1]}" = "${before[1]}" ] || carriers+=1
	[ "${ios[2]}" = "${before[2]}" ] || carriers+=2
}
stalled()
{
	count && before=("" "${ios[@]}") && ! wait_for -t 1 some_more
}
# shellcheck disable=SC2053 # a pattern
carried_by() { carried && [[ $carriers == $1 ]]; }
# carry PATTERN: from soon on the load goes along these paths: 1, 2, 12
carry()
{
	wait_for -t 10 carried_by "$1" || { diag "paths \"$carriers\" carry the load, not $1"; return 1; }
}

# ---- tests --------------------------------------------------------------------------------------

# With each policy either path goes and returns.
failover()
{
	local p n=0 by lost

	for p in numa round-robin queue-depth; do
		# 6.1 has the first two.
		echo $p 2> /dev/null > "$policy" || { [ $n = 2 ] && diag "no $p" && continue; return 1; }
		n=$((n + 1))
		[ $p = numa ] && by='[12]' || by=12
		carry "$by" || { diag "$p"; return 1; }
		lost=${carriers:n > 2:1}
		lose "$lost" && carry $((3 - lost)) && regain "$lost" && carry "$by" || { diag "$p, path $lost"; return 1; }
	done
}

# Nobody is told that both are gone, if one is back in time.
both_lost()
{
	lose 1 2 && load_goes_on && regain 2 && carry 2 && regain 1 && carry 12
}

# both_set FILE VALUE
both_set() { echo "$2" > "${ctrl[1]}/$1" && echo "$2" > "${ctrl[2]}/$1"; }

# ends_after SECONDS LATEST COMMAND...: COMMAND becomes true, and not before SECONDS
ends_after()
{
	local least=$1 most=$2 start now
	shift 2

	vm_now; start=$now
	wait_for -t "$most" "$@" || { diag "not after $most s: $*"; return 1; }
	vm_now
	[ $((now - start)) -ge $((least * 1000000)) ] || { diag "after $(((now - start) / 1000)) ms: $*"; return 1; }
}

# I/O fails fast_io_fail_tmo after the last path was lost; the controllers go on trying.
fast_io_fail()
{
	both_set fast_io_fail_tmo 3 && lose 1 2 && ends_after 2 7 load_over && load_failed || return
	both_are connecting || { diag "not connecting any more"; return 1; }
	regain 1 2 && both_set fast_io_fail_tmo -1 && ackwrite check "$disk" $journal && load_begin && carry 12
}

# Without it I/O fails when ctrl_loss_tmo has ended the last controller.
ctrl_loss()
{
	both_set ctrl_loss_tmo 4 && lose 1 2 && ends_after 3 12 gone || return
	wait_for -t 5 load_over && load_failed || return
	! [ -e "$disk" ] || { diag "the disk stays"; return 1; }
	"${target}_unexport" && modprobe -r brd
}

# ana PORT STATE...: as the target announces it, and as the host has learnt it
ana()
{
	local port state

	while [ $# -gt 0 ]; do
		port=$1 state=$2
		echo "$state" > $nvmet/ports/"$port"/ana_groups/1/ana_state || return
		wait_for -t 5 ana_is "$port" "$state" || { diag "path $port: $(< "${path[$port]}/ana_state")"; return 1; }
		shift 2
	done
}
ana_is() { [ "$(< "${path[$1]}/ana_state")" = "$2" ]; }

ana_states()
{
	carry 12 &&
	ana 2 non-optimized && carry 1 &&
	ana 1 inaccessible && carry 2 &&
	ana 1 optimized && carry 1 &&
	ana 1 change && carry 2 &&
	ana 1 optimized && carry 1 &&
	ana 1 persistent-loss && carry 2 &&
	ana 1 non-optimized && carry 12 &&
	ana 2 optimized && carry 2 || return
	# I/O waits for a path as long as there is a controller.
	ana 1 inaccessible 2 inaccessible && stalled && load_goes_on || return
	ana 1 optimized && carry 1 && ana 2 optimized && carry 12
}

# A path is lost and returns with another state.
ana_and_failover()
{
	ana 2 non-optimized && carry 1 && lose 1 && carry 2 || return
	echo inaccessible > $nvmet/ports/1/ana_groups/1/ana_state
	regain 1 && wait_for -t 5 ana_is 1 inaccessible && carry 2 || return
	ana 1 optimized && carry 1 && ana 2 optimized
}

# paths TARGET TRANSPORT1 TRANSPORT2 TEST...
paths()
{
	local name t
	name="$2 and $3, target $1"

	tap_run "$name: connect" begin "$1" "$2" "$3" || { tap_end; exit 1; }
	shift 3
	for t; do
		tap_run "$name: ${t//_/ }" "$t" || { tap_end; exit 1; }
	done
}

tap_run "set up" setup || { tap_end; exit 1; }
for ((round = ${1:-1}; round > 0; round--)); do
	paths ours pollard pollard failover both_lost fast_io_fail ctrl_loss
	paths ours pollard rdma failover both_lost end
	paths theirs pollard rdma ana_states ana_and_failover end
	paths theirs pollard pollard failover end
done
tap_end
