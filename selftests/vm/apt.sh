# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Packages of a Debian release, whatever this machine runs: apt on a root of its own in the cache,
# which takes the mirror's address and apt's general settings from this machine and nothing else.
# Sourced after lib.sh, never run.

host_codename()
{
	sed -n 's/^VERSION_CODENAME=//p' /etc/os-release
}

# mirror_of SUITE-PATTERN: address of the first Debian archive in this machine's configuration that
# serves such a suite.
mirror_of()
{
	# shellcheck disable=SC2016
	apt-get indextargets --no-release-info --format '$(RELEASE) $(REPO_URI) $(COMPONENT)' \
		'Created-By: Packages' | awk -v pat="^($1)\$" '$1 ~ pat && $3 == "main" { print $2; exit }'
}

# release_of SERIES: the Debian release whose archive is asked for a kernel series.
release_of()
{
	case $1:$(host_codename) in
	6.1:*)		echo bookworm ;;
	6.12:bookworm)	echo bookworm ;;
	6.12:*)		echo trixie ;;
	*)		die "no packages of a kernel '$1' are known (6.1 and 6.12 are)" ;;
	esac
}

# private_apt apt-get|apt-cache WORD...
private_apt()
{
	local cmd=$1
	shift
	"$cmd" -o Dir::State="$aptroot/state" -o Dir::State::status="$aptroot/status" \
		-o Dir::Cache="$aptroot/cache" -o Dir::Etc::sourcelist="$aptroot/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferences=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null -o APT::Sandbox::User="$(id -un)" \
		-o APT::Architecture=amd64 -o APT::Architectures=amd64 -o Acquire::Languages=none \
		-o Acquire::Retries=3 -o quiet=1 "$@"
}

# setup_apt RELEASE: private_apt knows the packages of a release from now on; until close_apt nobody
# else uses the same root.
setup_apt()
{
	local rel=$1 main sec key=/usr/share/keyrings/debian-archive-keyring.gpg

	need_tool apt-get flock
	aptroot=$POL_CACHE/apt/$rel
	mkdir -p "$POL_CACHE/lock"
	exec 8>"$POL_CACHE/lock/apt.$rel"
	flock 8
	main=$(mirror_of '[a-z]+')
	sec=$(mirror_of '[a-z]+-security')
	[ -n "$main" ] || die "no Debian archive in this machine's apt configuration"
	[ -e $key ] && key="[signed-by=$key]" || key=

	mkdir -p "$aptroot"/{state/lists/partial,cache/archives/partial}
	: > "$aptroot/status"
	{
		echo "deb $key $main $rel main"
		[ -z "$sec" ] || echo "deb $key $sec $rel-security main"
		echo "deb $key $main $rel-backports main"
	} > "$aptroot/sources.list"
	private_apt apt-get update >&2 || die "cannot read the package lists of $rel"
}

close_apt()
{
	exec 8>&-
}

# unpack_linux SERIES RELEASE DIR [FILE...]: the source of a series, or only these of its files and
# directories, from Debian's linux-source package into a directory.
unpack_linux()
{
	local source=linux-source-$1 release=$2 dir=$3
	shift 3

	need_tool dpkg-deb tar xz
	setup_apt "$release"
	note "downloading $source"
	(cd "$dir" && private_apt apt-get download "$source") || die "download failed"
	close_apt
	dpkg-deb --fsys-tarfile "$dir"/linux-source-*.deb | tar -xO "./usr/src/$source.tar.xz" |
		tar -xJ -C "$dir" --strip-components=1 "${@/#/$source/}"
	rm "$dir"/linux-source-*.deb
}
