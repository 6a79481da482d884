# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the scripts of this directory that run on the developer's machine share: messages, the cache
# directory outside the checkout, and the one way to put something into it. Sourced, never run.
#
# The cache is safe against two runs at once: whoever builds an entry holds that entry's lock,
# builds beside the final place and renames. An entry that is there is complete.

set -euo pipefail
shopt -s inherit_errexit

POL_CACHE=${POLLARD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pollard}

die()
{
	echo "${0##*/}: $*" >&2
	exit 1
}

note()
{
	echo "${0##*/}: $*" >&2
}

need_tool()
{
	local t

	for t; do
		PATH=$PATH:/usr/sbin:/sbin type -P "$t" >/dev/null ||
			die "$t is not installed (scripts/deps installs what is needed)"
	done
}

# cache_entry NAME BUILDER [ARG...]: make sure $POL_CACHE/NAME is there and print its path. When it
# is missing, BUILDER is called with the path of a temporary directory to fill and ARGs; its stdout
# goes to stderr.
cache_entry()
{
	local name=$1 dir=$POL_CACHE/$1 builder=$2
	shift 2

	if [ ! -e "$dir" ]; then
		mkdir -p "$(dirname "$dir")" "$POL_CACHE/lock"
		(
			flock 9
			[ -e "$dir" ] && exit 0
			tmp=$(mktemp -d "$dir.tmp.XXXXXX")
			trap 'rm -rf "$tmp"' EXIT
			chmod 755 "$tmp"
			"$builder" "$tmp" "$@" >&2 9>&-
			mv -T "$tmp" "$dir"
		) 9>"$POL_CACHE/lock/${name//\//_}"
	fi
	echo "$dir"
}
