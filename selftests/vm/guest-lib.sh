# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# What test scripts in a guest share. A script starts with `. "$VM_LIB"`.
#
# Guest 1 is 10.77.0.1, guest 2 10.77.0.2; a single guest has both, and an RDMA connection from one
# to the other loops back inside soft-RoCE. The link (or the dummy in its place) is $VM_NETDEV.

VM_ADDR1=10.77.0.1
VM_ADDR2=10.77.0.2

diag()
{
	sed 's/^/# /' <<< "$*"
}

# Sleeping and looking at the clock without a process: each costs an emulated CPU tens of milliseconds.
exec {vm_nothing}<> <(:)
vm_now() { now=${EPOCHREALTIME/[.,]/}; }

# wait_for [-t SECONDS] COMMAND...: until COMMAND succeeds; false when it did not in time (30 s; a
# debug kernel gets more).
wait_for()
{
	local secs=30 pause=0.05 now end
	[ "$1" = -t ] && { secs=$2; shift 2; }

	secs=$((secs * ${VM_SLOWNESS:-1}))
	vm_now
	end=$((now + secs * 1000000))
	until "$@" >/dev/null 2>&1; do
		vm_now
		[ "$now" -lt "$end" ] || return 1
		read -r -t $pause -u "$vm_nothing"
		[ $((end - now)) -gt $((secs * 1000000 - 2000000)) ] || pause=0.25
	done
}

# within SECONDS COMMAND...: COMMAND succeeds, and in so many seconds (1.5, say)
within()
{
	local limit=$1 start now
	shift

	limit=$(awk "BEGIN { print int($limit * 1000000 * ${VM_SLOWNESS:-1}) }")
	vm_now
	start=$now
	"$@" || return
	vm_now
	[ $((now - start)) -le "$limit" ] || { diag "$* took $(((now - start) / 1000)) ms"; return 1; }
}

# ---- two guests -------------------------------------------------------------------------------

vm_signal_once()
{
	local answer

	exec 3<>"/dev/tcp/10.77.0.$((3 - VM_GUEST))/7777" && echo "$1" >&3 && read -r -t 5 answer <&3
	exec 3>&-
	[ "$answer" = ok ]
} 2>/dev/null

# vm_signal NAME: tell the other guest; it need not be up yet.
vm_signal()
{
	wait_for -t 60 vm_signal_once "$1" || { diag "the other guest does not take signal $1"; return 1; }
}

# vm_wait NAME [SECONDS]: wait until the other guest has signalled NAME (60 s). Uses the signal up.
vm_wait()
{
	wait_for -t "${2:-60}" test -e "/run/signals/$1" || { diag "no signal $1 came"; return 1; }
	rm -f "/run/signals/$1"
}

# vm_pause SECONDS: the host stops this guest, with all that goes on in it, and lets it go on after a while
vm_pause()
{
	local uptime

	read -r uptime _ < /proc/uptime
	echo "pause $1 $uptime" > /dev/ttyS1
	# Its clocks go on: what is seen is a jump.
	wait_for -t 60 vm_paused "${uptime%.*}" "$1"
}

vm_paused()
{
	local now

	read -r now _ < /proc/uptime
	[ "${now%.*}" -ge $(($1 + $2)) ]
}

# vm_die: the host kills this guest at once, as a power cut would. It has not failed by that.
vm_die()
{
	echo die > /dev/ttyS1
	sleep 1000
}

# vm_crash: the host resets this guest's machine all of a sudden, and it boots again, with what was written to its
# disks. The script begins anew, with VM_BOOT=2 instead of 1.
vm_crash()
{
	local p name

	# There will be another log.
	for p in /sys/class/virtio-ports/*; do
		read -r name < "$p/name" && [ "$name" = log ] && dmesg > "/dev/${p##*/}"
	done 2>/dev/null
	echo crash > /dev/ttyS1
	sleep 1000
}

# ---- TAP --------------------------------------------------------------------------------------

tap_count=0
tap_failed=0

# tap_result STATUS NAME: one line for one test
tap_result()
{
	tap_count=$((tap_count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_count - $2"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_count - $2"
	fi
}

tap_skip()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# tap_run NAME COMMAND...: a test that passes when COMMAND does; what it says is shown when it fails
# (with TAP_VERBOSE=1 always). COMMAND runs in this shell, so what it sets stays.
tap_run()
{
	local name=$1 status=0
	shift

	"$@" > /tmp/tap.out 2>&1 || status=$?
	if [ $status -ne 0 ] || [ -n "$TAP_VERBOSE" ]; then
		sed 's/^/# /' /tmp/tap.out
	fi
	tap_result $status "$name"
	return $status
}

# tap_end: the plan, and the script's exit status
tap_end()
{
	echo "1..$tap_count"
	[ $tap_failed -eq 0 ]
	exit
}

# ---- RDMA -------------------------------------------------------------------------------------

rxe_active()
{
	rdma link show "$1/1" | grep -q 'state ACTIVE'
}

# The network device of a single guest, and soft-RoCE with it, which is unregistered by a worker that lets go of the
# network device before it has ended.
dummy_down()
{
	ip link del "$VM_NETDEV" && wait_for -t 10 test ! -e /sys/class/infiniband/rxe0
}

# Soft-RoCE of 6.1 does not always complete what the connection manager has on its way (a DREQ) once its network device
# has gone, or was down. The CM waits for that, and the device for the CM, for ever (cm_destroy_id_wait_timeout).
dummy_may_go() { [[ $(uname -r) != 6.1.* ]]; }

# The network device is what it was; soft-RoCE is not there yet.
dummy_up()
{
	ip -batch - <<-END
		link add $VM_NETDEV type dummy
		addr add $VM_ADDR1/24 dev $VM_NETDEV
		addr add $VM_ADDR2/24 dev $VM_NETDEV
		link set $VM_NETDEV mtu 9000 up
	END
}

# rxe_up [NAME [NETDEV]]: soft-RoCE on the link
rxe_up()
{
	local name=${1:-rxe0}

	# 6.1's soft-RoCE asks for crc32 by name and does not load it.
	modprobe -q crc32_generic
	modprobe -a ib_uverbs rdma_ucm rdma_rxe || return
	rdma link add "$name" type rxe netdev "${2:-$VM_NETDEV}" || return
	wait_for rxe_active "$name"
}

rxe_down()
{
	rdma link delete "${1:-rxe0}"
}

# rdma_snapshot: how many objects of each kind there are, one line a device. The completion queues that
# the kernel's own pair shares stay with the device: compare after a first round of it.
rdma_snapshot()
{
	rdma resource show | sed 's/^[0-9]*: //; s/  */ /g'
}

# rdma_settled SNAPSHOT: the counts are again what they were
rdma_settled()
{
	[ "$(rdma_snapshot)" = "$1" ]
}

# ---- the kernel's own target -------------------------------------------------------------------

nvmet=/sys/kernel/config/nvmet

# intree_port_add PORT ADDR [SERVICE [TRTYPE]]
intree_port_add()
{
	local p=$nvmet/ports/$1

	modprobe -a nvmet "nvmet-${4:-rdma}" && mkdir "$p" || return
	echo "${4:-rdma}" > "$p/addr_trtype"
	echo ipv4 > "$p/addr_adrfam"
	echo "$2" > "$p/addr_traddr"
	echo "${3:-4420}" > "$p/addr_trsvcid"
}

# intree_subsystem_add NQN DEV [UUID]: DEV is namespace 1; its UUID is made up by default
intree_subsystem_add()
{
	local s=$nvmet/subsystems/$1 ns=$nvmet/subsystems/$1/namespaces/1

	modprobe nvmet && mkdir "$s" && echo 1 > "$s/attr_allow_any_host" || return
	mkdir "$ns" && echo -n "$2" > "$ns/device_path" || return
	[ -z "${3:-}" ] || echo "$3" > "$ns/device_uuid" || return
	echo 1 > "$ns/enable"
}

# intree_target_add NQN DEV [ADDR [SERVICE]]: export DEV as namespace 1; the port is made when needed
intree_target_add()
{
	local addr=${3:-$VM_ADDR1} svc=${4:-4420}

	intree_subsystem_add "$1" "$2" && intree_export "$1" "$addr" "$svc"
}

# intree_export NQN ADDR [SERVICE]: let a subsystem be found there; the port is made when needed
intree_export()
{
	local s=$nvmet/subsystems/$1 addr=$2 svc=${3:-4420} port

	port=$((svc - 4419))
	[ -d "$nvmet/ports/$port" ] || intree_port_add $port "$addr" "$svc" || return
	ln -s "$s" "$nvmet/ports/$port/subsystems/$1"
}

intree_target_del()
{
	local l

	for l in "$nvmet"/ports/*/subsystems/"$1"; do
		[ ! -L "$l" ] || rm "$l"
	done
	rmdir "$nvmet/subsystems/$1"/namespaces/* "$nvmet/subsystems/$1"
	for l in "$nvmet"/ports/*; do
		[ -n "$(ls "$l/subsystems" 2>/dev/null)" ] || rmdir "$l"
	done
}

# ---- our target --------------------------------------------------------------------------------

# our_target_add NQN DEV [ADDR [SERVICE]]: the same through the command line tool
our_target_add()
{
	local addr=${3:-$VM_ADDR1} svc=${4:-4420} port

	modprobe pollard-target || return
	port=$((svc - 4419))
	pollard subsystem add "$1" allow-any-host on || return
	pollard namespace add "$1" device "$2" || return
	pollard port show "$port" >/dev/null 2>&1 ||
		pollard port add "$port" traddr "$addr" trsvcid "$svc" || return
	pollard port add-subsystem "$port" "$1"
}

our_target_del()
{
	pollard subsystem del "$1"
}

# all COMMAND...: with one of ${targets[@]} after the other as the last argument
all()
{
	local t

	for t in "${targets[@]}"; do
		"$@" "$t" || { diag "target $t: $*"; return 1; }
	done
}

# ---- initiators (TRANSPORT: rdma is the kernel's, pollard is ours) ------------------------------

# host_load TRANSPORT
host_load()
{
	case $1 in
	pollard) modprobe pollard-host ;;
	*) modprobe "nvme-$1" ;;
	esac
}

# host_controllers NQN: names of the controllers connected to it; false without any
host_controllers()
{
	local c none=1

	for c in /sys/class/nvme/*; do
		[ "$(cat "$c/subsysnqn" 2>/dev/null)" = "$1" ] || continue
		echo "${c##*/}"
		none=0
	done
	return $none
}

# host_disk NQN [NSID]: the namespace's block device
host_disk()
{
	local b

	for b in /sys/block/nvme*; do
		[ "$(cat "$b/hidden" 2>/dev/null)" = 1 ] && continue
		[ "$(cat "$b/device/subsysnqn" 2>/dev/null)" = "$1" ] || continue
		[ "$(cat "$b/nsid" 2>/dev/null)" = "${2:-1}" ] || continue
		[ -b "/dev/${b##*/}" ] || continue
		echo "/dev/${b##*/}"
		return 0
	done
	return 1
}

# disk_by_uuid UUID: the same by the namespace's UUID
disk_by_uuid()
{
	local b

	for b in /sys/block/nvme*; do
		[ "$(cat "$b/hidden" 2>/dev/null)" != 1 ] && [ "$(cat "$b/uuid" 2>/dev/null)" = "$1" ] &&
			{ echo "/dev/${b##*/}"; return 0; }
	done
	return 1
}

# host_connect TRANSPORT NQN [NVME-CONNECT-OPTION...]: returns when the disk is there. The address is
# VM_ADDR1 unless an option says otherwise.
host_connect()
{
	local transport=$1 nqn=$2
	shift 2

	host_load "$transport" || return
	nvme connect -t "$transport" -a "$VM_ADDR1" -s 4420 -n "$nqn" "$@" || return
	wait_for host_disk "$nqn"
}

host_gone()
{
	[ -z "$(host_controllers "$1")" ]
}

host_disconnect()
{
	nvme disconnect -n "$1" && wait_for host_gone "$1"
}

# ---- disks and I/O ------------------------------------------------------------------------------

# null_disk NAME [ATTRIBUTE=VALUE...]: a null_blk disk /dev/NAME; 1 GiB, does not block, keeps no data
null_disk()
{
	local d=/sys/kernel/config/nullb/$1 a
	shift

	modprobe null_blk nr_devices=0 && mkdir "$d" || return
	for a in size=1024 completion_nsec=0 irqmode=0 "$@"; do
		echo "${a#*=}" > "$d/${a%%=*}" || return
	done
	echo 1 > "$d/power"
}

null_disk_del()
{
	rmdir "/sys/kernel/config/nullb/$1"
}

# fio_verify DEV BLOCK-SIZE DEPTH [FIO-OPTION...]: write, read back and compare (crc32c)
fio_verify()
{
	local dev=$1 bs=$2 depth=$3
	shift 3

	fio --name=verify --filename="$dev" --rw=randwrite --bs="$bs" --iodepth="$depth" --direct=1 \
		--ioengine=io_uring --size=16m --verify=crc32c --verify_fatal=1 --do_verify=1 \
		--verify_backlog=1024 --group_reporting --minimal "$@" > /tmp/fio.out 2>&1 && ! grep -q 'err=' /tmp/fio.out ||
		{ cat /tmp/fio.out; return 1; }
}

# need_tsc: times are worth nothing on another clock source
need_tsc()
{
	[ "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)" = tsc ] ||
		{ diag "clock source is not tsc"; return 1; }
}
