# SPDX-License-Identifier: GPL-2.0-only
#
# Completion of pollard(8) for bash. Words come from the tool's own help, names of objects from what
# it shows in JSON; no kernel module is loaded for it.

_pollard_verbs()
{
	pollard "$1" help 2>/dev/null | sed -nE "s/^  pollard $1 ([a-z][a-z-]*).*/\1/p"
}

# _pollard_values KEY OBJECT [ARGUMENT...]: the members KEY of what is shown
_pollard_values()
{
	local key=$1 object=$2
	shift 2

	pollard --no-load -j "$object" show "$@" 2>/dev/null |
		grep -oE "\"$key\":(\"[^\"]*\"|[0-9]+)" | sed -E "s/^\"$key\"://; s/\"//g"
}

# What the usage line of a verb offers behind a keyword, or all its keywords
_pollard_usage()
{
	local line

	line=$(pollard "$1" help 2>/dev/null | grep -E "^  pollard $1 $2( |\$)")
	if [ -n "${3:-}" ]; then
		grep -oE "[[ {|]$3 [a-z0-9|]+" <<<"$line" | sed 's/.* //; s/|/\n/g'
	else
		grep -oE '[[{|] ?[a-z][a-z-]+ [A-Za-z]' <<<"$line" | grep -oE '[a-z][a-z-]+'
	fi
}

_pollard()
{
	local cur prev object verb words=() i options

	cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	_get_comp_words_by_ref -n : cur prev 2>/dev/null
	options='--json --pretty --statistics --batch --no-wait --no-load --version --help'

	# An NQN has colons, at which bash splits words.
	local line=${COMP_LINE:0:COMP_POINT}
	read -ra words <<<"$line"
	[[ $line == *[[:space:]] ]] || unset 'words[-1]'
	for ((i = 1; i < ${#words[@]}; i++)); do
		case ${words[i]} in
		-b|--batch) ((i++)) ;;
		-*) ;;
		*) break ;;
		esac
	done
	words=("${words[@]:i}")
	object=${words[0]:-} verb=${words[1]:-}

	case $prev in
	-b|--batch|device)
		[ "$object" = queue ] || { mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return; }
		;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
		return
	fi

	local offer=
	case ${#words[@]}:$object:$verb in
	0:*)	offer=$(pollard help 2>/dev/null | sed -nE 's/^  ([a-z]+) .*/\1/p') ;;
	*:monitor:*)
		offer='subsystem namespace host port port-subsystem group device controller' ;;
	1:*)	offer=$(_pollard_verbs "$object") ;;
	2:subsystem:add|2:port:add|2:group:add) ;;
	2:subsystem:*|2:namespace:*|2:host:*)
		offer=$(_pollard_values nqn subsystem) ;;
	2:port:*)	offer=$(_pollard_values id port) ;;
	2:group:*)	offer=$(_pollard_values id group) ;;
	2:device:*)	offer=$(_pollard_values name device) ;;
	3:namespace:set|3:namespace:del|3:namespace:show)
		offer=$(_pollard_values nsid namespace "${words[2]}") ;;
	3:host:del|3:host:show)
		offer=$(_pollard_values nqn host "${words[2]}") ;;
	3:port:add-subsystem)	offer=$(_pollard_values nqn subsystem) ;;
	3:port:del-subsystem)	offer=$(_pollard_values subsystem port "${words[2]}") ;;
	*)
		case $object:$prev in
		latency:group)	offer=$(_pollard_values id group) ;;
		*:subsystem)	offer=$(_pollard_values nqn subsystem) ;;
		controller:name|queue:controller)
			offer=$(_pollard_values name controller) ;;
		*)	offer=$(_pollard_usage "$object" "$verb" "$prev")
			[ -n "$offer" ] || offer=$(_pollard_usage "$object" "$verb") ;;
		esac
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$offer" -- "$cur")
	declare -F __ltrim_colon_completions >/dev/null && __ltrim_colon_completions "$cur"
	return 0
}

complete -F _pollard pollard
