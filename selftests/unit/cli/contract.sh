#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Does the tool know every attribute, command and choice of the uapi headers? Prints TAP.

set -u
top=$(readlink -f ../../..)
uapi=$top/include/uapi/linux
tool=$top/tools/pollard
nr=0 failed=0

# check NAME MISSING: ok if nothing is missing
check()
{
	nr=$((nr + 1))
	if [ -z "$2" ]; then
		echo "ok $nr $1"
	else
		failed=$((failed + 1))
		echo "$2" | sed 's/^/# not in tools\/pollard: /'
		echo "not ok $nr $1"
	fi
}

# The sources with the macros that prefix attributes ('#define A(name) PREFIX_##name') replaced.
sources=$(cd "$tool" && for f in *.c; do
	sed -E "$(sed -nE 's/^#define ([A-Z]+)\(name\) ([A-Z_]+)##name$/s,\\b\1\\(([A-Z0-9_]+)\\),\2\\1,g/p' "$f")" "$f"
done)

known()
{
	grep -qw -- "$1" <<<"$sources"
}

echo "TAP version 13"
for header in pollard pollard_target pollard_host; do
	prefix=${header^^}
	missing=
	for name in $(grep -oE "\b${prefix}_A_[A-Z0-9_]+" "$uapi/$header.h" | grep -vE '_(PAD|MAX)$' | sort -u); do
		known "$name" || missing+="${missing:+$'\n'}$name"
	done
	check "$header: attributes" "$missing"

	missing=
	while read -r name; do
		known "$name" || missing+="${missing:+$'\n'}$name"
	done < <(grep -oE "\b${prefix}_CMD_[A-Z0-9_]+" "$uapi/$header.h" | grep -v '_MAX$' | sort -u)
	check "$header: commands" "$missing"

	# A choice is a list of words in the order of the enum, lower case, with dashes.
	missing=
	while read -r enum words; do
		tr -d '\n' <<<"$sources" | grep -qE "\{[[:space:]]*(\"\", )?${words}, NULL[[:space:]]*\}" ||
			missing+="${missing:+$'\n'}$enum: $words"
	done < <(awk -v prefix="$prefix" '
		/^enum [a-z_]+ \{/ { enum = $2; p = toupper(enum) "_"; words = ""; next }
		enum && /^\};/ { print enum, words; enum = ""; next }
		enum {
			w = $1; sub(/,$/, "", w); sub("^" p, "", w); w = tolower(w); gsub(/_/, "-", w)
			words = words (words ? ", " : "") "\"" w "\""
		}' "$uapi/$header.h")
	check "$header: choices" "$missing"
done
echo "1..$nr"
[ $failed = 0 ]
