# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# noise ADDRESS: large packets for somebody who does not listen, in bursts
noise()
{
	local n

	while :; do
		for ((n = 0; n < 16; n++)); do
			printf '%08000d' 1 > "/dev/udp/$1/9"
		done
		read -r -t 0.02 -u "$vm_nothing"
	done
} 2>/dev/null
