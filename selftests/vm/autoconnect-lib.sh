# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The part of udev and systemd in connecting by itself: busybox hears the kernel's events; where one fits a rule of
# nvme-cli, what the rule starts is started, as nvme-cli's unit says. Both files are in the guest as they are
# in its package. Source after guest-lib.sh.

autoconnect_rules=/usr/lib/udev/rules.d/70-nvmf-autoconnect.rules
autoconnect_unit=/usr/lib/systemd/system/nvmf-connect@.service
autoconnect_events=/tmp/autoconnect.events	# what the kernel said
autoconnect_log=/tmp/autoconnect.log		# what was started, and what it printed
autoconnect_pid=

# autoconnect_fits RULE: is the event, whose values are in the environment, one of those that the rule is for?
autoconnect_fits()
{
	local rest=$1 key pattern value

	while [[ $rest =~ ([A-Z]+(\{[A-Za-z_]+\})?)(==|!=)\"([^\"]*)\" ]]; do
		rest=${rest#*"${BASH_REMATCH[0]}"}
		key=${BASH_REMATCH[1]} pattern=${BASH_REMATCH[4]}
		[ "${BASH_REMATCH[3]}" = == ] || return
		case $key in
		ENV*)	key=${key#ENV?} key=${key%?} value=${!key} ;;
		ATTR*)	key=${key#ATTR?} key=${key%?} value=$(cat "/sys$DEVPATH/$key") ;;
		*)	value=${!key} ;;
		esac
		# shellcheck disable=SC2053 # it is a pattern
		[[ $value == $pattern ]] || return
	done
}

# autoconnect_start INSTANCE: of the unit
autoconnect_start()
{
	local line

	echo "start $1"
	line=$(sed -n 's/^ExecStart=//p' "$autoconnect_unit")
	eval "${line//'${CONNECT_ARGS}'/"$1"}"
	echo "status $?"
}

# autoconnect_event: called for each event
autoconnect_event()
{
	local rule run name

	echo "$ACTION $DEVPATH $(env | grep ^NVME_ | tr "\n" " ")" >> $autoconnect_events
	: "${NVME_HOST_IFACE:=none}"
	# A rule is a line, which a backslash continues.
	sed -e ':a' -e '/\\$/N; s/\\\n//; ta' "$autoconnect_rules" | while read -r rule; do
		[[ $rule == *'RUN+="/usr/bin/systemctl '* ]] && autoconnect_fits "$rule" || continue
		run=${rule##*RUN+=\"} run=${run%\"}
		run=${run//'$kernel'/"${DEVPATH##*/}"}
		while [[ $run =~ \$env\{([A-Z_]+)\} ]]; do
			name=${BASH_REMATCH[1]}
			run=${run//"${BASH_REMATCH[0]}"/"${!name}"}
		done
		run=${run#*nvmf-connect@}
		autoconnect_start "${run%.service}" >> $autoconnect_log 2>&1
	done
}

# An event of our own is seen.
autoconnect_hears()
{
	echo change > /sys/class/mem/null/uevent && grep -q '^change .*/null ' $autoconnect_events
}

autoconnect_begin()
{
	[ -s "$autoconnect_rules" ] && [ -s "$autoconnect_unit" ] || { diag "nvme-cli's files are not there"; return 1; }
	: > $autoconnect_events > $autoconnect_log
	cat > /tmp/autoconnect-event <<-END
		#!/bin/bash
		. ${VM_LIB%/*}/autoconnect-lib.sh
		autoconnect_event
	END
	chmod +x /tmp/autoconnect-event
	uevent /tmp/autoconnect-event > /tmp/uevent.out 2>&1 & autoconnect_pid=$!
	wait_for autoconnect_hears || { diag "no event is heard:" "$(< /tmp/uevent.out)"; return 1; }
}

autoconnect_end()
{
	kill $autoconnect_pid
	wait $autoconnect_pid 2>/dev/null || true
}
