#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every option of nvme connect for RDMA, taken or refused: against the kernel's own target (service
# 4420, and 4430 with IPv6) and ours (4421). Modes, memory limits, and what sysfs and tracepoints show.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 320
. "$VM_LIB"
. "${VM_LIB%/*}/config-lib.sh"

theirs=nqn.2026-11.org.example:theirs
ours=nqn.2026-11.org.example:ours
other=nqn.2026-11.org.example:other
me=nqn.2026-11.org.example:me
my_id=11111111-2222-4333-8444-555555555555
your_id=11111111-2222-4333-8444-666666666666
tracing=/sys/kernel/tracing
linklocal=fe80::77%$VM_NETDEV

setup()
{
	# Where the kernel looks for it.
	[ -e /sbin/modprobe ] || ln -s "$(type -P modprobe)" /sbin/modprobe || return
	modprobe brd rd_nr=2 rd_size=65536 && rxe_up && modprobe nvme-fabrics || return
	ip addr add fd77::1/64 dev "$VM_NETDEV" nodad && ip addr add fe80::77/64 dev "$VM_NETDEV" nodad || return
	intree_target_add $theirs /dev/ram0 && our_target_add $ours /dev/ram1 $VM_ADDR1 4421 || return
	intree_port_add 11 :: 4430 && echo ipv6 > $nvmet/ports/11/addr_adrfam &&
		ln -s $nvmet/subsystems/$theirs $nvmet/ports/11/subsystems/ || return
	mountpoint -q $tracing || mount -t tracefs none $tracing
}

# connect NQN OPTION...: sets $c to the controller's directory in sysfs
connect()
{
	local nqn=$1 name
	shift

	[[ " $* " == *" -a "* ]] || set -- -a $VM_ADDR1 "$@"
	[[ $nqn != "$ours" ]] || set -- -s 4421 "$@"
	nvme connect -t pollard -n "$nqn" "$@" || return
	name=$(host_controllers "$nqn")
	c=/sys/class/nvme/${name%%$'\n'*}
}

# is VALUE FILE: what a file of the controller says
is()
{
	local value
	value=$(< "$c/$2") && [ "$value" = "$1" ] || { diag "$2 is $value, not $1"; return 1; }
}

# says PATTERN COMMAND...: it fails and the kernel's log has PATTERN afterwards
says()
{
	local pattern=$1 before
	shift

	before=$(dmesg | wc -l)
	! "$@" > /tmp/says 2>&1 || { diag "$* is not refused"; return 1; }
	dmesg | tail -n +$((before + 1)) > /tmp/log
	grep -q -- "$pattern" /tmp/log || { diag "'$pattern' is not in the log:"; cat /tmp/says /tmp/log; return 1; }
}

# Options as nvme-fabrics reads them, for the errno.
raw()
{
	echo "$1" > /dev/nvme-fabrics
}

disconnect()
{
	local nqn

	for nqn in $theirs $ours; do
		[ -z "$(host_controllers $nqn)" ] || host_disconnect $nqn || return
	done
} > /dev/null

# try NAME COMMAND...: a test that begins without a connection
try()
{
	tap_run "$@"
	disconnect
}

autoload()
{
	[ ! -e /sys/module/pollard_host ] || { diag "it is loaded already"; return 1; }
	# without a service: the standard's default
	connect $theirs && [ -e /sys/module/pollard_host ] || return
	grep -q "traddr=$VM_ADDR1,trsvcid=4420" "$c/address" && is pollard transport
}

ipv6()
{
	connect $theirs -a fd77::1 -s 4430 -w fd77::1 || return
	grep -q 'traddr=fd77::1,trsvcid=4430,host_traddr=fd77::1' "$c/address" || return
	wait_for host_disk $theirs && fio_verify "$(host_disk $theirs)" 4k 8 --size=256k
}

link_local()
{
	connect $theirs -a "$linklocal" -s 4430 && grep -q "traddr=$linklocal," "$c/address" || return
	wait_for host_disk $theirs && fio_verify "$(host_disk $theirs)" 4k 8 --size=256k
}

host_traddr()
{
	connect $ours -w $VM_ADDR2 && grep -q "host_traddr=$VM_ADDR2" "$c/address" || return
	shows "host-traddr $VM_ADDR2" pollard controller show subsystem $ours || return
	nvme disconnect -n $ours > /dev/null && wait_for host_gone $ours && connect $ours || return
	shows "host-traddr $VM_ADDR1" pollard controller show subsystem $ours
}

bad_addresses()
{
	says "invalid parameter 'host_iface=" connect $theirs --host-iface="$VM_NETDEV" || return
	says 'connecting failed' connect $theirs -w 10.99.0.1 || return
	says 'malformed host address' raw "nqn=$theirs,transport=pollard,traddr=$VM_ADDR1,host_traddr=somewhere" || return
	says 'malformed address' raw "nqn=$theirs,transport=pollard,traddr=somewhere" || return
	says "missing parameter 'traddr" raw "nqn=$theirs,transport=pollard"
}

# What is not for RDMA is named and refused. (nvme-cli leaves out the digests by itself, 6.1 knows no TLS.)
other_options()
{
	local option

	for option in hdr_digest data_digest tls; do
		says "parameter .*'$option" raw "nqn=$theirs,transport=pollard,traddr=$VM_ADDR1,$option" || return
	done
}

# It is the target's to grant; nothing changes for the data.
without_flow_control()
{
	local nqn

	for nqn in $theirs $ours; do
		connect $nqn --disable-sqflow -i 1 && wait_for host_disk $nqn || return
		fio_verify "$(host_disk $nqn)" 4k 64 --size=512k || return
	done
}

# queue_kinds EXPECTED: how many queues there are of each kind
queue_kinds()
{
	local kinds
	kinds=$(pollard queue show controller "${c##*/}" | sed 's/.* kind \([a-z]*\) .*/\1/' | sort | uniq -c | tr -s ' \n' ' ')
	[ "$kinds" = " $1 " ] || { diag "the queues are:$kinds"; return 1; }
}

# commands_of KIND: commands that the queues of a kind have carried
commands_of()
{
	pollard -s queue show controller "${c##*/}" | sed -n "/ kind $1 /,/counters/s/.*counters commands \([0-9]*\) .*/\1/p"
}

# Each queue is reaped on the first CPU that submits to it.
placement()
{
	local groups qid group

	groups=$(pollard queue show controller "${c##*/}" | sed -n 's/.* qid \([1-9]\) .* group \([0-9]*\) .*/\1 \2/p')
	[ -n "$groups" ] || return
	while read -r qid group; do
		[[ $(cat "$c"/nvme*/mq/$((qid - 1))/cpu_list) =~ ^$group(,|$) ]] ||
			{ diag "queue $qid is in group $group"; grep . "$c"/nvme*/mq/*/cpu_list; return 1; }
	done <<< "$groups"
}

queue_maps()
{
	local disk before

	connect $theirs -i 1 -W 1 -P 1 && queue_kinds '1 admin 1 default 1 poll 1 read' || return
	wait_for host_disk $theirs && disk=$(host_disk $theirs) || return
	before=$(commands_of read)/$(commands_of default)
	dd if=/dev/zero of="$disk" bs=4k count=8 oflag=direct 2> /dev/null || return
	[ $(($(commands_of default) - ${before#*/})) -ge 8 ] || { diag "writes do not go to the default queue"; return 1; }
	before=$(commands_of read)/$(commands_of default)
	dd if="$disk" of=/dev/null bs=4k count=8 iflag=direct 2> /dev/null || return
	[ $(($(commands_of read) - ${before%/*})) -ge 8 ] && [ "$(commands_of default)" = "${before#*/}" ] ||
		{ diag "reads do not go to the read queue"; return 1; }
	before=$(commands_of poll)
	fio_verify "$disk" 4k 4 --hipri=1 --size=64k || return
	[ $(($(commands_of poll) - before)) -ge 32 ] || { diag "polled I/O does not go to the poll queue"; return 1; }
	disconnect
	# More of a kind than there are CPUs are of no use.
	connect $theirs -i 64 -W 64 -P 64 && queue_kinds '1 admin 2 default 2 poll 2 read' || return
	disconnect
	connect $theirs -i 2 && queue_kinds '1 admin 2 default' && wait_for host_disk $theirs && placement
}

# depth_is NUMBER: of the I/O queues, blk-mq's included
depth_is()
{
	shows " depth $1 " pollard queue show controller "${c##*/}" && is $(($1 - 1)) sqsize
}

queue_size()
{
	local granted

	connect $ours -Q 16 -i 1 && depth_is 16 && wait_for host_disk $ours || return
	fio_verify "$(host_disk $ours)" 4k 64 --size=1m || return
	disconnect
	# More than the target grants: what it grants is taken, and said.
	connect $theirs -Q 1024 -i 1 && granted=$(($(< "$c/sqsize") + 1)) || return
	[ $granted -ge 64 ] && [ $granted -lt 1024 ] && depth_is $granted || { diag "it is $granted"; return 1; }
	dmesg | grep -q "$granted entries per queue instead of 1024" && wait_for host_disk $theirs || return
	fio_verify "$(host_disk $theirs)" 4k 256 --size=2m || return
	disconnect
	connect $ours -Q 1024 -i 1 && shows ' depth [0-9][0-9]* ' pollard queue show controller "${c##*/}" || return
	says 'Invalid queue_size 15' connect $theirs -Q 15 && says 'Invalid queue_size 1025' connect $theirs -Q 1025
}

times()
{
	connect $ours -k 7 --reconnect-delay=3 --ctrl-loss-tmo=30 -i 1 || return
	shows 'kato-ms 7000' pollard controller show subsystem $ours || return
	is 7 kato && is 3 reconnect_delay && is 30 ctrl_loss_tmo || return
	disconnect
	connect $theirs -l -1 -i 1 && is off ctrl_loss_tmo && is off fast_io_fail_tmo
}

state_is() { is "$1" state; }

# Endless patience with the target, little with I/O; what is in flight or comes later ends with an
# error while the controller goes on trying, and I/O works when the target is back.
patience()
{
	local disk status

	# Not every nvme-cli has --fast_io_fail_tmo.
	raw "nqn=$theirs,transport=pollard,traddr=$VM_ADDR1,ctrl_loss_tmo=-1,fast_io_fail_tmo=2,reconnect_delay=1" || return
	c=/sys/class/nvme/$(host_controllers $theirs) && is 2 fast_io_fail_tmo && wait_for host_disk $theirs || return
	disk=$(host_disk $theirs)
	rm $nvmet/ports/1/subsystems/$theirs && wait_for state_is connecting || return
	timeout 30 dd if=/dev/zero of="$disk" bs=4k count=1 oflag=direct 2> /tmp/dd
	status=$?
	[ $status = 1 ] && grep -q 'Input/output error' /tmp/dd || { diag "dd ended with $status"; cat /tmp/dd; }
	state_is connecting || status=0
	ln -s $nvmet/subsystems/$theirs $nvmet/ports/1/subsystems/ && wait_for state_is live || return
	fio_verify "$disk" 4k 8 --size=256k && [ $status = 1 ]
}

trace()
{
	echo "$2" > $tracing/events/"$1"/enable && { [ "$2" = 0 ] || : > $tracing/trace; }
}

type_of_service()
{
	# Switching these tracepoints on has hung a guest of 6.1.
	[[ $(uname -r) != 6.1.* ]] || { connect $theirs -T 96 -i 1 && refuses_tos; return; }
	trace rdma_cma 1 && connect $theirs -T 96 -i 1 && trace rdma_cma 0 || return
	grep -q 'cm_send_req.*tos=96' $tracing/trace || { grep tos= $tracing/trace | tail -5; return 1; }
	refuses_tos
}
refuses_tos() { says 'Invalid type of service\|[Ii]nvalid tos' raw "nqn=$theirs,transport=pollard,traddr=$VM_ADDR1,tos=-1"; }

duplicates()
{
	local you again="nqn=$theirs,transport=pollard,traddr=$VM_ADDR1,hostnqn=$me,hostid=$my_id,nr_io_queues=1"

	raw "$again" || return
	! raw "$again" 2> /tmp/error && grep -q 'already in progress' /tmp/error || { cat /tmp/error; return 1; }
	# From another address or another host it is another connection.
	you=${again/:me/:you}
	raw "$again,host_traddr=$VM_ADDR2" && raw "${you/$my_id/$your_id}" || return
	raw "$again,duplicate_connect" && [ "$(host_controllers $theirs | wc -l)" = 4 ]
}

identity()
{
	local s=$nvmet/subsystems/$theirs status

	connect $ours -q $me -I $my_id -i 1 || return
	shows "hostnqn $me hostid $my_id" pollard controller show subsystem $ours || return
	disconnect
	mkdir $nvmet/hosts/$me && echo 0 > $s/attr_allow_any_host && ln -s $nvmet/hosts/$me $s/allowed_hosts/ || return
	says 'not allowed\|Connect failed' connect $theirs -q $me.else -I $your_id -i 1 &&
		connect $theirs -q $me -I $my_id -i 1
	status=$?
	rm $s/allowed_hosts/$me && echo 1 > $s/attr_allow_any_host && rmdir $nvmet/hosts/$me && return $status
}

# secret SIZE-AND-HASH: a new one
secret()
{
	nvme gen-dhchap-key --nqn=$me --hmac="$1" 2> /dev/null | grep -o 'DHHC-1:.*'
}

authentication()
{
	local s=$nvmet/subsystems/$theirs h=$nvmet/hosts/$me key other status

	key=$(secret 1) && other=$(secret 1) && [ -n "$key" ] || { diag "no secrets"; return 1; }
	mkdir $h || return
	if [ ! -e $h/dhchap_key ]; then
		rmdir $h
		says 'dhchap_secret' connect $theirs -q $me -I $my_id -S "$key"
		return
	fi
	echo 0 > $s/attr_allow_any_host && ln -s $h $s/allowed_hosts/ && echo "$key" > $h/dhchap_key || return
	authenticated "$key" "$other"
	status=$?
	disconnect
	rm $s/allowed_hosts/$me && echo 1 > $s/attr_allow_any_host && rmdir $h && return $status
}

authenticated()
{
	local key=$1 other=$2 h=$nvmet/hosts/$me

	connect $theirs -q $me -I $my_id -i 1 && { diag "connected without a secret"; return 1; }
	connect $theirs -q $me -I $my_id -S "$other" -i 1 && { diag "connected with a wrong secret"; return 1; }
	connect $theirs -q $me -I $my_id -S "$key" -i 2 && wait_for host_disk $theirs || return
	fio_verify "$(host_disk $theirs)" 4k 8 --size=256k && nvme reset "/dev/${c##*/}" && state_is live || return
	disconnect
	# The target has to prove itself too, with Diffie-Hellman.
	echo ffdhe2048 > $h/dhchap_dhgroup && echo "$other" > $h/dhchap_ctrl_key || return
	connect $theirs -q $me -I $my_id -S "$key" -C "$key" -i 1 && { diag "the target's secret is wrong"; return 1; }
	connect $theirs -q $me -I $my_id -S "$key" -C "$other" -i 1
}

discovery()
{
	nvme discover -t pollard -a $VM_ADDR1 -s 4420 > /tmp/log && grep -q "$theirs" /tmp/log || return
	nvme discover -t pollard -a $VM_ADDR1 -s 4421 > /tmp/log && grep -q "$ours" /tmp/log || return
	[ -z "$(host_controllers nqn.2014-08.org.nvmexpress.discovery)" ] || { diag "a controller is left"; return 1; }
}

event_came()
{
	grep -q nvme_async_event $tracing/trace
}

# persistent TRANSPORT SERVICE NQN CHANGE...: a discovery controller that stays is told of a change
persistent()
{
	local transport=$1 service=$2 nqn=$3 name status
	shift 3

	nvme discover -p -t "$transport" -a $VM_ADDR1 -s "$service" > /tmp/log && grep -q "$nqn" /tmp/log || return
	name=$(host_controllers nqn.2014-08.org.nvmexpress.discovery) && c=/sys/class/nvme/$name && state_is live || return
	trace nvme/nvme_async_event 1 || return
	! event_came && "$@" && wait_for -t 10 event_came
	status=$?
	"$@" undo; trace nvme/nvme_async_event 0
	[ $status = 0 ] || { diag "no event came"; return 1; }
	nvme disconnect -d "$name" && wait_for host_gone nqn.2014-08.org.nvmexpress.discovery
}

# One more subsystem, or with "undo" one less
theirs_changes()
{
	local s=$nvmet/subsystems/$other l=$nvmet/ports/1/subsystems/$other

	[ -z "$1" ] || { rm $l && rmdir $s; return; }
	mkdir $s && echo 1 > $s/attr_allow_any_host && ln -s $s $l
}

ours_changes()
{
	[ -z "$1" ] || { pollard subsystem del $other; return; }
	pollard subsystem add $other allow-any-host on && pollard port add-subsystem 2 $other
}

# group_does MODE: group 0, where all queues of one that has a single I/O queue are
group_does()
{
	shows " effective-mode $1" pollard group show 0
}

modes()
{
	connect $theirs -i 1 && is default pollard/mode && group_does adaptive || return
	echo busy > "$c/pollard/mode" && is busy pollard/mode && group_does busy || return
	[ "$(< /sys/kernel/pollard/groups/0/effective_spin_us)" = 4294967295 ] || return
	shows ' mode busy wished-mode busy ' pollard controller show name "${c##*/}" || return
	shows ' mode adaptive .* effective-mode busy' pollard group show 0 || return
	fio_verify "$(wait_for host_disk $theirs; host_disk $theirs)" 4k 8 --size=512k || return
	# One CPU has to be left: the other group may not be busy now, whoever wants it.
	refused 'stay without a busy group' pollard group set 1 mode busy || return
	echo adaptive > "$c/pollard/mode" && group_does adaptive || return
	pollard group set 1 mode busy || return
	says 'a CPU has to stay' bash -c "echo busy > $c/pollard/mode" && is adaptive pollard/mode || return
	pollard group set 1 mode adaptive && echo event > "$c/pollard/mode" && group_does event || return
	fio_verify "$(host_disk $theirs)" 4k 8 --size=512k || return
	# Another controller without a mode wants what the group is set to.
	connect $ours -i 1 && group_does adaptive || return
	host_disconnect $ours > /dev/null && c=/sys/class/nvme/$(host_controllers $theirs) || return
	wait_for group_does event || return
	# It stays over a reset, and goes with the controller.
	nvme reset "/dev/${c##*/}" && group_does event && is event pollard/mode || return
	! bash -c "echo sometimes > $c/pollard/mode" 2> /dev/null || return
	disconnect
	group_does adaptive
}

# Two queues on two CPUs would leave none.
modes_refused()
{
	connect $theirs -i 2 && echo event > "$c/pollard/mode" && group_does event || return
	says 'a CPU has to stay' bash -c "echo busy > $c/pollard/mode" || return
	is event pollard/mode && group_does event && shows ' effective-mode event' pollard group show 1 || return
	echo default > "$c/pollard/mode" && group_does adaptive || return
	! shows wished-mode pollard controller show name "${c##*/}"
}

memory()
{
	local disk bytes

	connect $theirs -i 2 && wait_for host_disk $theirs && disk=$(host_disk $theirs) || return
	is 67108864 pollard/slot_mem_max && is 16384 pollard/copy_now || return
	bytes=$(< "$c/pollard/memory_bytes") && [ "$bytes" -gt "$(< "$c/pollard/slot_bytes")" ] || return
	shows ' slot-bytes [1-9].* memory-bytes [1-9]' pollard queue show controller "${c##*/}" || return
	# 1 MiB for two queues of 128 slots: 4 KiB each
	echo 1048576 > "$c/pollard/slot_mem_max" && nvme reset "/dev/${c##*/}" && is 4096 pollard/copy_now || return
	[ "$(< "$c/pollard/memory_bytes")" -lt "$bytes" ] || { diag "it takes no less memory"; return 1; }
	shows ' slot-mem-max 1M ' pollard controller show name "${c##*/}" || return
	fio_verify "$disk" 16k 16 --size=1m && fio_verify "$disk" 4k 16 --size=512k || return
	echo 0 > "$c/pollard/slot_mem_max" && nvme reset "/dev/${c##*/}" && is 0 pollard/copy_now || return
	fio_verify "$disk" 4k 16 --size=512k || return
	echo 67108864 > "$c/pollard/slot_mem_max" && nvme reset "/dev/${c##*/}" && is 16384 pollard/copy_now
}

# Slots come in pieces of 64 KiB: 33 of 16 KiB take nine, not a bit over eight, and then two queues do not fit.
memory_left_over()
{
	connect $ours -i 2 -Q 33 && echo $((2 * 33 * 16384)) > "$c/pollard/slot_mem_max" || return
	nvme reset "/dev/${c##*/}" && is 8192 pollard/copy_now || return
	# five pieces for each queue; the admin queue's are one page each
	is $((2 * 5 * 65536 + 32 * 4096)) pollard/slot_bytes
}

# As on a device that can register but eight pages at once: I/O is cut accordingly, slots are smaller.
small_registrations()
{
	local pages=/sys/module/pollard_host/parameters/registration_pages disk status

	echo "$1" > $pages && connect $theirs -i 1 && wait_for host_disk $theirs
	status=$?
	echo 0 > $pages
	[ $status = 0 ] && disk=$(host_disk $theirs) || return 1
	is "$3" pollard/copy_now && [ "$(< "/sys/block/${disk##*/}/queue/max_hw_sectors_kb")" = "$2" ] || return
	fio_verify "$disk" 4k 16 --size=512k && fio_verify "$disk" 64k 4 --size=1m && fio_verify "$disk" 1m 1 --size=2m
}

no_registrations()
{
	local pages=/sys/module/pollard_host/parameters/registration_pages status

	echo 1 > $pages && says 'cannot register two pages' connect $theirs -i 1
	status=$?
	echo 0 > $pages && return $status
}

everything_is_readable()
{
	local f

	connect $theirs -i 1 && wait_for host_disk $theirs && fio_verify "$(host_disk $theirs)" 64k 4 --size=512k || return
	for f in "$c"/pollard/*; do
		[ -n "$(< "$f")" ] || { diag "${f##*/} says nothing"; return 1; }
	done
	[ "$(< "$c/pollard/zero_copy")" -ge 16 ]
}

latency()
{
	local stage

	connect $theirs -i 1 && wait_for host_disk $theirs && pollard latency reset || return
	fio_verify "$(host_disk $theirs)" 4k 8 --size=512k || return
	pollard latency show group 0 > /tmp/latency || return
	for stage in prepare exchange finish total; do
		grep -q " host *read *$stage *[1-9]" /tmp/latency && grep -q " host *write *$stage *[1-9]" /tmp/latency ||
			{ cat /tmp/latency; return 1; }
	done
	! grep ' target' /tmp/latency
}

tracepoints()
{
	local line

	trace pollard_host 1 && connect $theirs -i 1 && nvme reset "/dev/${c##*/}" || return
	rm $nvmet/ports/1/subsystems/$theirs && wait_for state_is connecting &&
		wait_for grep -q 'polh_ctrl_reconnect: nvme[0-9]*: failures 1 status -' $tracing/trace || return
	ln -s $nvmet/subsystems/$theirs $nvmet/ports/1/subsystems/ && wait_for state_is live || return
	says 'queue 0: rejected: ' connect $theirs -i 1 -s 4429 || return
	disconnect
	trace pollard_host 0 || return
	for line in 'polh_ctrl_state: nvme[0-9]*: live' 'polh_ctrl_state: nvme[0-9]*: connecting' \
		'polh_queue_cm: nvme[0-9]* queue 0: idle -> address resolved error 0' \
		'polh_queue_cm: nvme[0-9]* queue 1: route resolved -> established error 0' \
		'polh_queue_connect: nvme[0-9]* queue 1: depth 128 granted 128 copy_max 16384 status 0' \
		'polh_queue_fail: nvme[0-9]* queue [0-9]: disconnected (0)' \
		'polh_ctrl_reconnect: nvme[0-9]*: failures [0-9]* status 0' \
		'polh_queue_rejected: nvme[0-9]* queue 0: reason'; do
		grep -q "$line" $tracing/trace || { diag "$line is not there"; cat $tracing/trace; return 1; }
	done
}

# Who has connected by hand keeps the controller until the file is closed.
held()
{
	local file unload='' status=1

	exec {file}<> /dev/nvme-fabrics || return
	if echo "nqn=$ours,transport=pollard,traddr=$VM_ADDR1,trsvcid=4421" >&"$file" && host_controllers $ours; then
		rmmod pollard-host {file}>&- & unload=$!
		wait_for unload_waits && status=0 || diag "the log does not say that it waits"
	fi
	exec {file}>&-
	[ -z "$unload" ] || { wait $unload && modprobe pollard-host; } || return
	return $status
}
unload_waits() { dmesg | grep -q 'unloading waits until nobody'; }

name_is_taken()
{
	modprobe nvme-rdma && says 'nvme-rdma is loaded and has this name' modprobe pollard-host transport=rdma || return
	says 'either pollard or rdma' modprobe pollard-host transport=tcp || return
	modprobe pollard-host && modprobe -r pollard-host nvme-rdma && modprobe nvme-fabrics
}

standard_name()
{
	rival=$(modinfo -n nvme_rdma) && modprobe -r pollard-host && name_is_taken || return
	mkdir -p /etc/modprobe.d && cp /usr/share/doc/pollard/examples/pollard-rdma.conf /etc/modprobe.d/ || return
	nvme connect -t rdma -a $VM_ADDR1 -s 4420 -n $theirs -i 1 || return
	[ ! -e /sys/module/nvme_rdma ] || { diag "nvme-rdma has come along"; return 1; }
	c=/sys/class/nvme/$(host_controllers $theirs) && [ -d "$c/pollard" ] && is rdma transport || return
	dmesg | grep -q 'transport=rdma, in the place of nvme-rdma'
}

# connected_all: to what discovery found, through our module
connected_all()
{
	c=/sys/class/nvme/$(host_controllers "$1") && [ -d "$c/pollard" ] && state_is live && is rdma transport
}

connect_all()
{
	nvme discover -t rdma -a $VM_ADDR1 -s 4421 > /tmp/log && grep -q $ours /tmp/log ||
		{ cat /tmp/log; return 1; }
	nvme connect-all -t rdma -a $VM_ADDR1 -s 4421 && connected_all $ours ||
		{ diag "connect-all to our target"; grep . /sys/class/nvme/*/subsysnqn; return 1; }
	# What the autoconnect units do with a persistent discovery controller.
	# Its status depends on entries for discovery that are in the log besides.
	nvme connect-all -t rdma -a $VM_ADDR1 -s 4420 --persistent || diag "connect-all: $?"
	connected_all $theirs ||
		{ diag "connect-all to the kernel's target"; grep . /sys/class/nvme/*/subsysnqn; return 1; }
	connected_all nqn.2014-08.org.nvmexpress.discovery ||
		{ diag "persistent discovery"; grep . /sys/class/nvme/*/subsysnqn; return 1; }
	echo 1 > "$c/delete_controller" && wait_for host_gone nqn.2014-08.org.nvmexpress.discovery ||
		{ diag "it stays"; return 1; }
	[ ! -e /sys/module/nvme_rdma ] || { diag "nvme-rdma has come along"; return 1; }
}

# Whoever gets past the rule is told, and connections stay ours.
rival_comes_later()
{
	insmod "$rival" && dmesg | grep -q 'nvme-rdma is being loaded' || return
	nvme connect -t rdma -a $VM_ADDR1 -s 4420 -n $theirs -i 1 && connected_all $theirs
}

tap_run "set up" setup || { tap_end; exit 1; }
try "nvme connect loads the module; default service" autoload
try "IPv6" ipv6
try "IPv6 link-local" link_local
try "host-traddr" host_traddr
try "host-iface and bad addresses are refused" bad_addresses
try "options of other transports are refused" other_options
try "disable-sqflow" without_flow_control
try "queue maps: default, read, poll" queue_maps
try "queue-size" queue_size
try "keep-alive-tmo, reconnect-delay, ctrl-loss-tmo, fast_io_fail_tmo" times
try "endless ctrl-loss-tmo, short fast_io_fail_tmo" patience
try "tos" type_of_service
try "duplicate-connect" duplicates
try "hostnqn and hostid" identity
try "DH-HMAC-CHAP, or its refusal" authentication
try "discover" discovery
try "persistent discovery, the kernel's target" persistent pollard 4420 $theirs theirs_changes
try "persistent discovery, our target" persistent pollard 4421 $ours ours_changes
try "modes" modes
try "modes that would leave no CPU" modes_refused
try "slot_mem_max" memory
try "slot_mem_max is not exceeded by what is left over" memory_left_over
try "registrations of 8 pages" small_registrations 8 28 16384
try "registrations of 2 pages" small_registrations 2 4 8192
try "registrations of 1 page are refused" no_registrations
try "sysfs" everything_is_readable
try "latency" latency
try "tracepoints" tracepoints
try "unloading waits for who has /dev/nvme-fabrics open" held
try "the name rdma" standard_name
try "discover and connect-all with the name rdma" connect_all
try "persistent discovery with the name rdma" persistent rdma 4421 $ours ours_changes
try "nvme-rdma comes later" rival_comes_later
tap_run "unload" modprobe -r nvme-rdma pollard-host
tap_end
