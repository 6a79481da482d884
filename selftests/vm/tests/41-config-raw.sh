#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Configuration by hand-made netlink messages: transactions of a socket, requests that are wrong in
# every way a message can be, missing privileges, lists that change while they are read, and messages
# made up at random.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 240
. "$VM_LIB"
. "${VM_LIB%/*}/config-lib.sh"

n=nqn.2026-11.org.example
nl_options=()

# Commands and attributes by their numbers in include/uapi/linux/pollard_target.h
begin=1 commit=2 abort=3
sub_get=4 sub_new=5 sub_set=6 sub_del=7
ns_new=11 ns_set=12 ns_del=13
host_new=17
port_new=22 port_set=23
link_new=28
ctrl_get=32 queue_get=35

set_up()
{
	modprobe brd rd_nr=2 rd_size=8192 && rxe_up && modprobe pollard-target
}

txn_isolated()
{
	nl_open t || return
	[[ $(nl t $begin) == ok* ]] || return
	[ "$(nl t $sub_new 1=s:$n:t)" = ok ] || return
	[ "$(nl t $ns_new 2=s:$n:t 4=s:/dev/ram0)" = 'ok messages 1' ] || return
	[ "$(nl t $ns_new 2=s:$n:t 5=u64:65536)" = 'ok messages 1' ] || return
	# It sees its own changes, nobody sees them in effect.
	[[ $(nl t $sub_new 1=s:$n:t) == EEXIST* ]] || return
	[[ $(nl t $ns_new 2=s:$n:t 3=u32:2 5=u64:65536) == EEXIST* ]] || return
	[[ $(nl t $sub_get 1=s:$n:t) == ENOENT* ]] || return
	[ -z "$(pollard subsystem show)" ] || return
	[[ $(nl t $begin) == EALREADY* ]] || return
	[ "$(nl t $commit)" = ok ] || return
	shows 'namespaces 2' pollard subsystem show $n:t || return
	[[ $(nl t $commit) == ENOENT* ]] || return
	[[ $(nl t $abort) == ENOENT* ]] || return
	nl_close t
	pollard subsystem del $n:t
}

ram0_free()
{
	pollard subsystem add $n:u && pollard namespace add $n:u device /dev/ram0
	local status=$?
	pollard subsystem del $n:u
	return $status
}

# What a transaction holds is given back with the abort and with the socket.
txn_dropped()
{
	local how

	for how in abort close kill; do
		nl_open t || return
		[[ $(nl t $begin) == ok* ]] && [ "$(nl t $sub_new 1=s:$n:t)" = ok ] &&
			[[ $(nl t $ns_new 2=s:$n:t 4=s:/dev/ram0) == ok* ]] || return
		! ram0_free 2>/dev/null || { echo "/dev/ram0 is not held"; return 1; }
		case $how in
		abort) [ "$(nl t $abort)" = ok ] || return ;;
		kill) nl_kill t ;;
		esac
		nl_close t
		wait_for ram0_free || { echo "/dev/ram0 is still held after $how"; return 1; }
		[ -z "$(pollard subsystem show)" ] || { pollard subsystem show; return 1; }
	done
}

# Somebody else was faster: nothing of the transaction takes effect.
txn_conflict()
{
	local change

	for change in "subsystem set $n:t allow-any-host on" "subsystem del $n:t" \
		"namespace add $n:t nsid 1 ram 64k" "host add $n:t $n:h"; do
		pollard subsystem add $n:t && nl_open t || return
		[[ $(nl t $begin) == ok* ]] || return
		[ "$(nl t $sub_new 1=s:$n:v)" = ok ] && [ "$(nl t $sub_set 1=s:$n:t 3=s:mine)" = ok ] &&
			[[ $(nl t $ns_new 2=s:$n:t 5=u64:65536) == ok* ]] &&
			[ "$(nl t $host_new 1=s:$n:t 2=s:$n:h)" = ok ] || return
		# shellcheck disable=SC2086
		pollard $change > /dev/null || return
		[[ $(nl t $commit) == EBUSY* ]] || { echo "after $change: committed"; return 1; }
		[[ $(nl t $commit) == ENOENT* ]] || return
		nl_close t
		! pollard subsystem show | grep -q "$n:v\|serial mine" || { pollard subsystem show; return 1; }
		pollard subsystem del $n:t 2>/dev/null
	done
	[ -z "$(pollard subsystem show)" ]
}

# Deleted, made anew and deleted again: the last word counts.
txn_order()
{
	pollard subsystem add $n:t && pollard host add $n:t $n:h && nl_open t || return
	[[ $(nl t $begin) == ok* ]] && [ "$(nl t $sub_del 1=s:$n:t)" = ok ] || return
	[[ $(nl t $host_new 1=s:$n:t 2=s:$n:h) == ENOENT* ]] || return
	[ "$(nl t $sub_new 1=s:$n:t 3=s:second)" = ok ] &&
		[ "$(nl t $host_new 1=s:$n:t 2=s:$n:h)" = ok ] &&
		[ "$(nl t $port_new 2=u16:5 4=s:$VM_ADDR1)" = ok ] &&
		[[ $(nl t $port_new 2=u16:6 4=s:$VM_ADDR1) == EADDRINUSE* ]] &&
		[ "$(nl t $link_new 1=u16:5 2=s:$n:t)" = ok ] &&
		[[ $(nl t $ns_new 2=s:$n:t 5=u64:65536) == ok* ]] &&
		[ "$(nl t $ns_del 2=s:$n:t 3=u32:1)" = ok ] &&
		[[ $(nl t $ns_set 2=s:$n:t 3=u32:1 9=u8:0) == ENOENT* ]] &&
		[ "$(nl t $commit)" = ok ] || return
	nl_close t
	shows 'serial second' pollard subsystem show $n:t || return
	shows 'hosts 1 ports 1' pollard subsystem show $n:t || return
	pollard subsystem del $n:t && pollard port del 5
}

all_answered()
{
	[ "$(cat /tmp/begin.* | wc -l)" -eq 17 ]
}

txn_bounded()
{
	local i

	for i in {1..17}; do
		{ echo $begin; wait_for all_answered; } | nlraw pollard-target > "/tmp/begin.$i" &
	done
	wait
	[ "$(cat /tmp/begin.* | grep -c ^ok)" -eq 16 ] && [ "$(cat /tmp/begin.* | grep -c ^EMFILE)" -eq 1 ] ||
		{ sort /tmp/begin.* | uniq -c; return 1; }
	{ echo $begin; for i in {1..4097}; do echo "$sub_new 1=s:$n:b$i"; done; } > /tmp/big
	nlraw pollard-target < /tmp/big > /tmp/big.out
	[ "$(grep -c ^ok /tmp/big.out)" -eq 4097 ] && grep -q ^E2BIG /tmp/big.out || { sort /tmp/big.out | uniq -c; return 1; }
	[ -z "$(pollard subsystem show)" ]
}

malformed()
{
	local x224

	x224=nqn.$(printf 'x%.0s' {1..220})
	answers 'EINVAL "*" missing 1' $sub_new || return
	answers 'EINVAL "*" missing 2' $ns_new 4=s:/dev/ram0 || return
	answers 'EINVAL "*" missing 4' $ns_new 2=s:$n:a || return
	answers 'EINVAL "*" missing 3' $ns_del 2=s:$n:a || return
	answers 'EINVAL "*" missing 2' $host_new 1=s:$n:a || return
	answers 'EINVAL "*" missing 2' $port_new 4=s:$VM_ADDR1 || return
	answers 'EINVAL "*" missing 4' $port_new 2=u16:1 || return
	answers 'EINVAL "*" missing 2' $link_new 1=u16:1 || return
	answers 'EINVAL "*" missing 1' $sub_get || return
	answers 'E* "*" attr 1' $sub_new "1=s:$x224" || return		# too long
	answers 'E* "*" attr 1' $sub_new 1=r:$n:a || return		# not terminated
	answers 'E* "*" attr 1' $sub_new 1=x:6e716e2e610062 || return	# something behind the end
	answers 'E* "*" attr 1' $sub_new 1=x: || return			# empty
	answers 'E* "*" attr 1' $sub_new 1=s: || return
	answers 'E* "*" attr 1' $sub_new 1=s:nqn. || return
	answers 'E* "*" attr 2' $sub_new 1=s:$n:a 2=u8:2 || return	# out of range
	answers 'E* "*" attr 2' $sub_new 1=s:$n:a 2=u32:1 || return	# wrong size
	answers 'E* "*" attr 3' $sub_new 1=s:$n:a 3=s:123456789012345678901 || return
	answers 'E* "*" attr 3' $sub_new 1=s:$n:a 3=x:c3a400 || return	# not ASCII
	answers 'E* "*" attr 5' $sub_new 1=s:$n:a 5=u16:65520 || return
	answers 'E* "*" attr 7' $sub_new 1=s:$n:a 7=u32:0 || return	# nothing to set
	answers 'E* "*" attr 99' $sub_new 1=s:$n:a 99=u32:0 || return	# unknown
	answers 'E* "*" attr 3' $ns_new 2=s:$n:a 3=u32:0 5=u64:65536 || return
	answers 'E* "*" attr 3' $ns_new 2=s:$n:a 3=u32:1025 5=u64:65536 || return
	answers 'E* "*" attr 5' $ns_new 2=s:$n:a 4=s:/dev/ram0 5=u64:65536 || return
	answers 'E* "*" attr 5' $ns_new 2=s:$n:a 5=u64:65537 || return
	answers 'E* "*" attr 6' $ns_new 2=s:$n:a 5=u64:65536 6=u32:513 || return
	answers 'E* "*" attr 7' $ns_new 2=s:$n:a 5=u64:65536 7=x:0011 || return
	answers 'E* "*" attr 7' $ns_new 2=s:$n:a 5=u64:65536 7=x:00000000000000000000000000000000 || return
	answers 'E* "*" attr 12' $ns_new 2=s:$n:a 5=u64:65536 12=u32:3 || return
	answers 'E* "*" attr 4' $ns_new 2=s:$n:a 4=s:ram0 || return
	answers 'E* "*" attr 5' $port_new 2=u16:1 4=s:$VM_ADDR1 5=u16:0 || return
	answers 'E* "*" attr 6' $port_new 2=u16:1 4=s:$VM_ADDR1 6=u32:16385 || return
	answers 'E* "*" attr 7' $port_set 2=u16:1 7=u32:1 || return
	answers 'E* "*" attr 4' $port_set 2=u16:1 4=s:$VM_ADDR1 || return
	# 6.1 says no reason when a dump is refused before it has begun.
	answers 'E* "*" attr 1' ${sub_get}d 1=s:$n:a || answers EINVAL ${sub_get}d 1=s:$n:a || return
	answers 'E* "*" attr 3' ${queue_get}d 3=u16:1 || answers EINVAL ${queue_get}d 3=u16:1 || return
	answers 'ENOENT "*" attr *' ${ctrl_get}d 2=s:$n:a || answers ENOENT ${ctrl_get}d 2=s:$n:a || return
	answers 'EOPNOTSUPP*' 0 || return
	answers 'EOPNOTSUPP*' 8 1=s:$n:a || return			# an event
	answers 'EOPNOTSUPP*' 200 || return
	answers 'EOPNOTSUPP*' ${sub_new}d 1=s:$n:a || return
	answers 'EOPNOTSUPP*' $ctrl_get || return
	[ -z "$(pollard subsystem show)$(pollard port show)" ]
}

unprivileged()
{
	local command

	for nl_options in -n -u; do
		for command in $begin $commit $abort "$sub_new 1=s:$n:a" "$sub_del 1=s:$n:a" \
			"$ns_new 2=s:$n:a 4=s:/dev/ram0" "$port_new 2=u16:1 4=s:$VM_ADDR1"; do
			answers 'EPERM*' "$command" || return
		done
		answers 'ok*' ${sub_get}d || return
		nl_family=pollard answers 'EPERM*' 2 2=u32:9 3=u32:0 || return
		nl_family=pollard answers 'EPERM*' 11 || return
		nl_family=pollard answers 'ok*' 1d || return
	done
	# shellcheck disable=SC2034 # answers() of config-lib.sh passes them on
	nl_options=()
}

# Those that are there all the time are shown exactly once, whatever else comes and goes.
list_changes()
{
	local i churn round status=0

	for i in {1..150}; do
		echo "subsystem add $n:stay$i"
		echo "subsystem add $n:go$i"
	done > /tmp/stay
	pollard -b /tmp/stay || return
	touch /tmp/churn
	while [ -e /tmp/churn ]; do
		for i in {1..150}; do
			echo "$sub_del 1=s:$n:go$i"
			echo "$sub_new 1=s:$n:go$i"
		done
	done | nlraw pollard-target > /dev/null &
	churn=$!
	for round in {1..12}; do
		pollard subsystem show > /tmp/list || { status=1; break; }
		[ "$(grep -c "$n:stay" /tmp/list)" -eq 150 ] &&
			[ "$(grep -o "$n:stay[0-9]*" /tmp/list | sort -u | wc -l)" -eq 150 ] ||
			{ echo "round $round: $(grep -c "$n:stay" /tmp/list)"; status=1; break; }
	done
	rm /tmp/churn
	wait $churn
	for i in {1..150}; do
		echo "$sub_del 1=s:$n:stay$i"
		echo "$sub_del 1=s:$n:go$i"
	done | nlraw pollard-target > /dev/null
	return $status
}

random()
{
	local seed family

	for seed in 1 2 3; do
		for family in pollard-target pollard; do
			nlraw -f 4000 -s $seed $family || return
		done
	done
	# What it made goes with the module.
	modprobe -r pollard-target && modprobe pollard-target && config_is_clear
}

tap_run "set up" set_up || { tap_end; exit 1; }
config_run "a transaction is not seen before its commit" txn_isolated
config_run "a transaction ends with the abort or the socket" txn_dropped
config_run "a transaction that somebody else got in the way of has no effect" txn_conflict
config_run "a transaction sees its own changes in order" txn_order
config_run "transactions are bounded in number and size" txn_bounded
config_run "malformed requests are refused with reason and attribute" malformed
config_run "privileges are needed to change something" unprivileged
config_run "a list that changes loses and doubles nothing" list_changes
config_run "nothing is left" wait_for config_is_clear
config_run "24000 random messages" random
tap_end
