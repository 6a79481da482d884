#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What our target says about itself to the kernel's own initiator: Identify, features, log pages,
# properties, and how it refuses what it does not have.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 180
. "$VM_LIB"
. "${VM_LIB%/*}/target-admin-lib.sh"

id_controller()
{
	local id

	id=$(nvme id-ctrl "$adm_ctrl") || return
	adm_field "$id" sn ADMIN0001 && adm_field "$id" mn "Admin Test" && adm_field "$id" fr 0.1.0 &&
	adm_field "$id" cmic 0x3 && adm_field "$id" mdts 8 && adm_field "$id" ver 0x10400 &&
	adm_field "$id" oaes 0x100 && adm_field "$id" ctratt 0x41 && adm_field "$id" cntrltype 1 &&
	adm_field "$id" oacs 0 && adm_field "$id" acl 3 && adm_field "$id" aerl 3 &&
	adm_field "$id" elpe 15 && adm_field "$id" kas 10 && adm_field "$id" sqes 0x66 &&
	adm_field "$id" cqes 0x44 && adm_field "$id" maxcmd 128 && adm_field "$id" nn 1024 &&
	adm_field "$id" vwc 0x5 && adm_field "$id" sgls 0x100005 &&
	adm_field "$id" subnqn $adm_nqn && adm_field "$id" ioccsz 260 &&
	adm_field "$id" iorcsz 1 && adm_field "$id" icdoff 0 && adm_field "$id" msdbd 16
}

id_namespace()
{
	local id

	id=$(nvme id-ns "$adm_ctrl" -n 1) || return
	adm_field "$id" nsze 0x8000 && adm_field "$id" ncap 0x8000 && adm_field "$id" nuse 0x8000 &&
	adm_field "$id" nlbaf 0 && adm_field "$id" flbas 0 && adm_field "$id" nmic 0x1 &&
	adm_field "$id" nvmcap 16777216 && adm_field "$id" nguid $adm_nguid || return
	# One that could be is all zeroes, one that cannot is refused.
	nvme id-ns "$adm_ctrl" -n 7 -b > /tmp/ns7 && adm_zero /tmp/ns7 || return
	adm_refused 0b nvme id-ns "$adm_ctrl" -n 1025 &&
	adm_refused 0b nvme id-ns "$adm_ctrl" -n 0xffffffff
}

# A disk of 512-byte blocks on 4 KiB pages says so; memory has nothing to say.
id_geometry()
{
	local id status=0

	modprobe brd rd_nr=1 rd_size=4096 && pollard namespace add $adm_nqn nsid 2 device /dev/ram0 || return
	id=$(nvme id-ns "$adm_ctrl" -n 2) && adm_field "$id" nsfeat 0x10 && adm_field "$id" npwg 7 &&
		adm_field "$id" npwa 7 && adm_field "$id" nows 7 &&
		id=$(nvme id-ns "$adm_ctrl" -n 1) && adm_field "$id" nsfeat 0 || status=1
	pollard namespace del $adm_nqn 2 && return $status
}

id_descriptors()
{
	local d

	d=$(nvme ns-descs "$adm_ctrl" -n 1) || return
	grep -qi "uuid *: *$adm_uuid" <<< "$d" && grep -qi "nguid *: *$adm_nguid" <<< "$d" &&
		grep -qi "csi *: *0" <<< "$d" || { echo "$d"; return 1; }
	adm_refused 0b nvme ns-descs "$adm_ctrl" -n 7
}

id_lists()
{
	local l

	pollard namespace add $adm_nqn nsid 1024 ram 4M >/dev/null || return
	l=$(nvme list-ns "$adm_ctrl" | tr -d ' \t') || return
	[ "$l" = "$(printf '[0]:0x1\n[1]:0x400')" ] || { echo "$l"; return 1; }
	[ "$(nvme list-ns "$adm_ctrl" -n 1 | wc -l)" = 2 ] || return
	[ "$(nvme list-ns "$adm_ctrl" -n 2 | tr -d ' \t')" = '[0]:0x400' ] || return
	pollard namespace del $adm_nqn 1024 || return
	nvme list-ctrl "$adm_ctrl" && nvme list-ctrl "$adm_ctrl" -n 1 || return
	nvme list-ctrl "$adm_ctrl" | grep -q 'num of ctrls present: 1' &&
	nvme list-ctrl "$adm_ctrl" -c 5000 | grep -q 'num of ctrls present: 0'
}

id_others()
{
	nvme cmdset-ind-id-ns "$adm_ctrl" -n 1 && nvme nvm-id-ctrl "$adm_ctrl" &&
	nvme admin-passthru "$adm_ctrl" -o 6 -l 4096 -r --cdw10=0x1c -b > /tmp/iocs &&
	[ "$(adm_hex /tmp/iocs 0 16)" = 01000000000000000000000000000000 ] && adm_zero /tmp/iocs 8 &&
	nvme admin-passthru "$adm_ctrl" -o 6 -l 4096 -r -n 1 --cdw10=5 -b > /tmp/nvmns &&
	adm_zero /tmp/nvmns || return
	# another command set, namespace management, UUID list: not there
	adm_refused 02 nvme admin-passthru "$adm_ctrl" -o 6 -l 4096 -r --cdw10=6 --cdw11=0x02000000 &&
	adm_refused 02 nvme admin-passthru "$adm_ctrl" -o 6 -l 4096 -r --cdw10=0x10 &&
	adm_refused 02 nvme admin-passthru "$adm_ctrl" -o 6 -l 4096 -r --cdw10=0x17 &&
	adm_refused 02 nvme admin-passthru "$adm_ctrl" -o 6 -l 4096 -r --cdw10=0xff
}

# feature FID VALUE [OPTION...]: its value in hex
feature()
{
	local fid=$1 want=$2 out
	shift 2

	out=$(nvme get-feature "$adm_ctrl" -f "$fid" "$@") || { echo "$out"; return 1; }
	grep -qiE "value: *(0x)?0*$want($|[^0-9a-f])" <<< "$out" || { echo "feature $fid: $out"; return 1; }
}

set_feature()
{
	nvme set-feature "$adm_ctrl" -f "$1" -v "$2" "${@:3}"
}

features()
{
	feature 1 7 && feature 2 0 && feature 5 0 && feature 6 1 && feature 7 10001 &&
	feature 0xa 0 && feature 0xb 100 && feature 0xf 3a98 &&
	feature 4 ffff && feature 4 0 --cdw11=0x100000 || return
	nvme get-feature "$adm_ctrl" -f 0x81 --cdw11=1 -l 16 -b > /tmp/hostid || return
	[ "$(adm_hex /tmp/hostid)" = ${adm_hostid//-/} ] || { adm_hex /tmp/hostid; return 1; }
}

# There are I/O queues, so their number may not change. Newer initiators do not let the command through:
# then there is nothing that the target could refuse.
queues_stay()
{
	local out

	if out=$(set_feature 7 0x30003 2>&1) || [ "$out" != "set-feature: Permission denied" ]; then
		adm_refused 0c set_feature 7 0x30003 || return
	fi
	feature 7 10001
}

features_change()
{
	set_feature 4 0x150 && feature 4 150 && feature 4 ffff -s 1 && feature 4 4 -s 3 &&
	set_feature 0xf 20500 && feature 0xf 5208 && set_feature 0xf 15000 && feature 0xf 3a98 &&
	set_feature 6 1 || return
	adm_refused 10e set_feature 6 0 && adm_refused 10e set_feature 2 1 &&
	adm_refused 10d set_feature 0xb 0x100 --save &&
	adm_refused 02 set_feature 0xb 0x80000000 && queues_stay &&
	adm_refused 1a set_feature 0xf 0xffffffff &&
	adm_refused 02 nvme get-feature "$adm_ctrl" -f 0x81 -l 8 &&
	adm_refused 02 nvme get-feature "$adm_ctrl" -f 0x0e -l 8 &&
	adm_refused 02 nvme get-feature "$adm_ctrl" -f 0xc -l 256 &&
	adm_refused 02 nvme get-feature "$adm_ctrl" -f 0xd2
}

log_smart()
{
	local before after disk

	disk=$(host_disk $adm_nqn) || return
	nvme smart-log "$adm_ctrl" && nvme smart-log "$adm_ctrl" -n 1 >/dev/null || return
	before=$(nvme smart-log "$adm_ctrl" -o json | grep host_write_commands | tr -dc 0-9)
	dd if=/dev/zero of="$disk" bs=64k count=16 oflag=direct 2>/dev/null || return
	after=$(nvme smart-log "$adm_ctrl" -o json | grep host_write_commands | tr -dc 0-9)
	[ $((after - before)) = 16 ] || { echo "writes: $before, then $after"; return 1; }
	# What a host asks for in vain is no error of the medium.
	adm_refused 80 nvme io-passthru "$disk" -o 2 -n 1 -l 512 -r --cdw10=0x7fffffff || return
	[ "$(nvme smart-log "$adm_ctrl" -o json | grep media_errors | tr -dc 0-9)" = 0 ] ||
		{ nvme smart-log "$adm_ctrl"; return 1; }
}

log_errors()
{
	adm_refused 01 nvme admin-passthru "$adm_ctrl" -o 0x84 &&
	nvme error-log "$adm_ctrl" -e 16 > /tmp/errors || return
	# the newest comes first: Invalid Command Opcode of the admin queue
	grep -m 1 -A 6 'Entry\[ 0\]' /tmp/errors > /tmp/newest
	grep -q 'status_field.*0x4001' /tmp/newest || { cat /tmp/newest; return 1; }
}

# effects: each command that is there, and no other
effects()
{
	local have

	have=$(sed -n 's/^\([AI]O*CS[0-9]*\) .* \([0-9a-f]*\)$/\1:\2/p' /tmp/effects | tr '\n' ' ')
	[ "$have" = "ACS2:00000001 ACS6:00000001 ACS8:00000001 ACS9:00000001 ACS10:00000001 \
ACS12:00000001 ACS24:00000001 IOCS0:00000003 IOCS1:00000003 IOCS2:00000001 " ] ||
		{ echo "effects are '$have'"; return 1; }
}

log_others()
{
	nvme fw-log "$adm_ctrl" > /tmp/firmware && grep -q '1\.0' /tmp/firmware ||
		{ echo "firmware:"; cat /tmp/firmware; return 1; }
	# Without --csi nvme-cli asks nobody and prints nothing.
	nvme effects-log "$adm_ctrl" --csi=0 > /tmp/effects && effects || { cat /tmp/effects; return 1; }
	# At most the namespace of id_lists, where the initiator has not read the list yet.
	nvme get-log "$adm_ctrl" -i 4 -l 4096 -b > /tmp/changed && adm_zero /tmp/changed 4 ||
		{ echo "changed namespaces:"; adm_hex /tmp/changed 0 16; return 1; }
	nvme get-log "$adm_ctrl" -i 0 -l 1024 -b > /tmp/lids || { echo "supported pages"; return 1; }
	[ "$(adm_hex /tmp/lids 0 24)" = 010000000100000001000000010000000100000001000000 ] &&
	adm_zero /tmp/lids 24 || { adm_hex /tmp/lids; return 1; }
	adm_refused 109 nvme get-log "$adm_ctrl" -i 0xc -l 16 &&
	adm_refused 109 nvme get-log "$adm_ctrl" -i 0x70 -l 16
}

# raw_log LID LENGTH OFFSET: Get Log Page as one command, to standard output
raw_log()
{
	local numd=$(($2 / 4 - 1))

	nvme admin-passthru "$adm_ctrl" -o 2 -l "$2" -r -b \
		--cdw10=$(($1 | (numd & 0xffff) << 16)) --cdw11=$((numd >> 16)) --cdw12="$3"
}

# Any part of a page is that part of it, and nothing but zeroes lies behind it.
log_pieces()
{
	raw_log 2 512 0 > /tmp/smart && raw_log 2 100 4 > /tmp/part || return
	[ "$(adm_hex /tmp/part)" = "$(adm_hex /tmp/smart 4 100)" ] || return
	raw_log 5 4096 0 > /tmp/effects && raw_log 5 4096 1024 > /tmp/part || return
	[ "$(adm_hex /tmp/part 0 3072)" = "$(adm_hex /tmp/effects 1024)" ] && adm_zero /tmp/part 3072 || return
	raw_log 3 65536 0 > /tmp/part && adm_zero /tmp/part 512 || { echo "behind the page"; return 1; }
	raw_log 3 512 512 > /tmp/part && adm_zero /tmp/part || { echo "at the end"; return 1; }
	raw_log 3 4 508 > /tmp/part || return
	adm_refused 02 raw_log 3 512 516 && adm_refused 02 raw_log 3 512 2 &&
	adm_refused 02 nvme admin-passthru "$adm_ctrl" -o 2 -l 4096 -r --cdw10=0x7fffff03 --cdw11=0x7fff
}

properties()
{
	adm_property 0x00 201e01007f && adm_property 0x08 10400 && adm_property 0x14 460001 &&
	adm_property 0x1c 1 || return
	adm_refused 02 nvme get-property "$adm_ctrl" -o 0x20 &&
	adm_refused 02 nvme set-property "$adm_ctrl" -o 0x1c -v 0
}

# abort SQID CID RESULT: CDW0 of the answer is RESULT; bit 0 says "not aborted"
abort()
{
	local out

	out=$(nvme admin-passthru "$adm_ctrl" -o 8 --cdw10=$(($2 << 16 | $1)) 2>&1) &&
		[[ $out =~ result:\ 0x0*$3$ ]] || { echo "abort of $2 on queue $1: $out"; return 1; }
}

# The initiator's Asynchronous Event Request has the first identifier behind those of the admin queue's
# other 31 commands. Nothing has it afterwards.
aborts()
{
	abort 1 0x7fff 1 && abort 0x55 1 1 && abort 0 31 0 && abort 0 31 1
}

refusals()
{
	local op

	for op in 0x00 0x01 0x04 0x05 0x0d 0x10 0x14 0x15 0x1c 0x7c 0x80 0x84 0xc0 0xff; do
		adm_refused 01 nvme admin-passthru "$adm_ctrl" -o $op || return
	done
	nvme admin-passthru "$adm_ctrl" -o 0x18
}

tap_run "set up" adm_setup || { tap_end; exit 1; }
tap_run "first round" eval 'adm_connect && adm_disconnect' || { tap_end; exit 1; }
before=$(rdma_snapshot)
tap_run "connect" adm_connect -k 15 || { tap_end; exit 1; }
tap_run "Identify Controller" id_controller
tap_run "Identify Namespace" id_namespace
tap_run "namespace identification descriptors" id_descriptors
tap_run "lists of namespaces and controllers" id_lists
tap_run "other Identify structures, and those that are not there" id_others
tap_run "Get Features" features
tap_run "Set Features" features_change
tap_run "SMART log counts" log_smart
tap_run "error log" log_errors
tap_run "firmware, effects, changed namespaces, supported pages" log_others
tap_run "log pages in pieces and past their end" log_pieces
tap_run "properties" properties
tap_run "Abort says what it did" aborts
tap_run "commands that are not there" refusals
tap_run "sizes that a disk likes best" id_geometry
tap_run "disconnect" adm_disconnect
tap_run "nothing is left" adm_settled "$before"
tap_run "modules unload" adm_teardown
tap_end
