#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Hosts that connect by themselves, with transport=rdma: a persistent discovery controller of our initiator is told
# that there is something new, or comes back from a reset, the kernel tells user space, and the udev rule and the
# unit of nvme-cli connect what discovery finds. There is no systemd in the guest. Its part is played by
# autoconnect-lib.sh, by what the files of nvme-cli say; the events are the kernel's.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 120
. "$VM_LIB"
. "${VM_LIB%/*}/autoconnect-lib.sh"

discovery=nqn.2014-08.org.nvmexpress.discovery

setup()
{
	# Where the kernel looks for it.
	[ -e /sbin/modprobe ] || ln -s "$(type -P modprobe)" /sbin/modprobe || return
	mkdir -p /etc/modprobe.d && cp /usr/share/doc/pollard/examples/pollard-rdma.conf /etc/modprobe.d/ || return
	modprobe brd rd_nr=4 rd_size=8192 && rxe_up && modprobe nvme-fabrics || return
	intree_target_add "$(nqn_of in-tree old)" /dev/ram0 && our_target_add "$(nqn_of ours old)" /dev/ram1 $VM_ADDR1 4421 &&
		autoconnect_begin
}

nqn_of() { echo "nqn.2026-11.org.example:$1-$2"; }

# connected NQN: through our module, by the name rdma
connected()
{
	local c

	c=/sys/class/nvme/$(host_controllers "$1") && [ -d "$c/pollard" ] && [ "$(< "$c/transport")" = rdma ] &&
		[ "$(< "$c/state")" = live ]
}

# becomes_connected NQN
becomes_connected()
{
	wait_for connected "$1" || {
		diag "events:" "$(< $autoconnect_events)"; diag "started:" "$(< $autoconnect_log)"
		diag "controllers:" "$(grep -s . /sys/class/nvme/*/{subsysnqn,state})"
		return 1
	}
}

# discover TARGET SERVICE
discover()
{
	nvme discover -p -t rdma -a $VM_ADDR1 -s "$2" > /tmp/log && grep -q "$(nqn_of "$1" old)" /tmp/log &&
		connected $discovery || { cat /tmp/log; return 1; }
}

# something_new TARGET: and what was there before is connected along with it
something_new()
{
	local new
	new=$(nqn_of "$1" new)

	host_gone "$new" && host_gone "$(nqn_of "$1" old)" || { diag "connected before there is an event"; return 1; }
	case $1 in
	ours)	our_target_add "$new" /dev/ram3 $VM_ADDR1 4421 ;;
	*)	intree_target_add "$new" /dev/ram2 ;;
	esac > /tmp/added && becomes_connected "$new" && becomes_connected "$(nqn_of "$1" old)"
}

# comes_back TARGET: what was missed meanwhile is looked for when the discovery controller has connected again
comes_back()
{
	local new
	new=$(nqn_of "$1" new)

	host_disconnect "$new" && nvme reset "/dev/$(host_controllers $discovery)" && becomes_connected "$new"
}

# leave TARGET
leave()
{
	nvme disconnect -n $discovery && wait_for host_gone $discovery && host_disconnect "$(nqn_of "$1" old)" &&
		host_disconnect "$(nqn_of "$1" new)"
}

over()
{
	autoconnect_end && [ ! -e /sys/module/nvme_rdma ] || { diag "nvme-rdma has come along"; return 1; }
	modprobe -r pollard-host
}

tap_run "set up" setup || { tap_end; exit 1; }
for target in in-tree ours; do
	[ $target = ours ] && service=4421 || service=4420
	tap_run "persistent discovery, $target" discover $target $service || continue
	tap_run "a new subsystem is connected, $target" something_new $target
	tap_run "one that is lost is connected when discovery is back, $target" comes_back $target
	tap_run "disconnect, $target" leave $target
done
tap_run "unload" over
tap_end
