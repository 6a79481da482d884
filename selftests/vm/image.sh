# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2086
#
# The guest's file system: an initramfs of three archives one after another, the kernel unpacks them
# in this order. The programs (taken from this machine's packages) and the kernel's own modules are
# in the cache; only what changes with every run - our modules, the scripts - is packed each time.
# Sourced after lib.sh, by run, whose variables say what it is about: vm_dir, top, kver, moddir, modules,
# extra, run_dir.

# Programs the guest must have, and those it gets when they are installed here.
guest_tools="bash cat cp cut date dd df env head ln ls mkdir mktemp mv nproc od printf readlink rm seq
	sha256sum sleep sort stat stdbuf stty sync tail tee timeout tr truncate uniq wc
	cmp grep sed mawk find xargs
	kmod mount umount losetup blockdev blkdiscard dmesg taskset flock nice setpriv mountpoint
	ip rdma nvme fio mke2fs e2fsck mkfs.xfs xfs_repair sqlite3"
guest_tools_maybe="dmsetup strace rping"

# Kernel modules the guest must have beside all they depend on; a kernel may have some built in.
guest_modules="virtio_pci virtio_net virtio_blk virtio_console dummy configfs
	ib_core ib_cm iw_cm rdma_cm rdma_ucm ib_uverbs ib_umad rdma_rxe siw
	nvme_core nvme_fabrics nvme_rdma nvme_tcp nvme_loop nvmet nvmet_rdma nvmet_tcp
	null_blk brd loop dm_mod dm_delay dm_flakey zram ext4 xfs
	crc32_generic crc32_pclmul crc32c_generic crc32c_intel crct10dif_generic crct10dif_pclmul
	crc64_rocksoft_generic hmac sha256_generic sha512_generic dh_generic"

PATH=$PATH:/usr/sbin:/sbin

# Where a file of this machine goes in the guest, which has everything below /usr.
place_of()
{
	case $1 in
	/bin/*|/sbin/*|/lib*) echo "/usr$1" ;;
	*) echo "$1" ;;
	esac
}

libraries_of()
{
	local f

	for f; do
		ldd "$f" 2>/dev/null | sed -nE 's,^[^/]*(/[^ ]+) \(.*,\1,p' || true
	done | sort -u
}

# copy_in ROOT FILE...: copy files and the libraries they need to their places below ROOT.
copy_in()
{
	local root=$1 f to
	shift

	{ printf '%s\n' "$@"; libraries_of "$@"; } | while read -r f; do
		to=$root$(place_of "$f")
		[ -e "$to" ] || install -D -m 755 "$f" "$to"
	done
}

# stub_library LIBRARY PROGRAM TO: make a library that holds nothing but the symbols PROGRAM asks
# LIBRARY for.
stub_library()
{
	local lib=$1 prog=$2 to=$3 ver tmp
	tmp=$(mktemp -d)

	# Lines "symbol version"; the version may be missing.
	nm -D "$lib" | sed -nE 's/^[0-9a-f]* *[TWi] //p' | sed 's/@@*/ /' > "$tmp/has"
	nm -D "$prog" | sed -nE 's/^ *[Uw] //p' | sed 's/@@*/ /' > "$tmp/wants"
	awk 'NR == FNR { w[$1] = $2; next }
	     $1 in w && (w[$1] == "" || w[$1] == $2)' "$tmp/wants" "$tmp/has" > "$tmp/both"
	awk '!seen[$1]++ { print "void " $1 "(void) { __builtin_trap(); }" }' "$tmp/both" > "$tmp/s.c"
	for ver in $(awk 'NF > 1 { print $2 }' "$tmp/both" | sort -u); do
		echo "$ver {"
		awk -v v="$ver" '$2 == v { print "\t" $1 ";" }' "$tmp/both"
		echo "};"
	done > "$tmp/s.map"
	mkdir -p "$(dirname "$to")"
	gcc -w -fno-builtin -shared -nostdlib -Wl,-soname,"$(basename "$to")" \
		${ver:+-Wl,--version-script,"$tmp/s.map"} -o "$to" "$tmp/s.c"
	rm -rf "$tmp"
}

# copy_in_lean ROOT PROGRAM KEEP: like copy_in, but of the libraries that PROGRAM names only those that
# match KEEP are real. (fio knows a dozen storage systems, and their libraries are ten times the rest
# of the guest; no test reaches their code.)
copy_in_lean()
{
	local root=$1 prog=$2 keep=$3 lib path

	install -D -m 755 "$prog" "$root$(place_of "$prog")"
	while read -r lib; do
		path=$(ldd "$prog" | awk -v l="$lib" '$1 == l { print $3 }')
		if [[ $lib =~ ^($keep)\.so ]]; then
			copy_in "$root" "$path"
		else
			stub_library "$path" "$prog" "$root$(place_of "$path")"
		fi
	done < <(readelf -d "$prog" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' | grep -v '^ld-')
}

# link_to ROOT NAME PROGRAM: make PROGRAM known as NAME, unless something is already.
link_to()
{
	[ -e "$1/usr/sbin/$2" ] || [ -L "$1/usr/bin/$2" ] || [ -e "$1/usr/bin/$2" ] || [ -L "$1/usr/sbin/$2" ] ||
		ln -s "$(place_of "$3")" "$1/usr/bin/$2"
}

pack()
{
	(cd "$1" && find . -mindepth 1 | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0)
}

# Paths of the programs: ld.so.cache is rewritten whenever a package brings a library.
userland_key()
{
	local t

	need_tool $guest_tools busybox
	{
		cat "$vm_dir/image.sh"
		for t in $guest_tools $guest_tools_maybe busybox; do
			stat -Lc '%n %s %Y' "$(type -P "$t" || echo /)" 2>/dev/null
		done
		stat -c '%s %Y' /etc/ld.so.cache
	} | sha256sum | cut -c 1-16
}

build_userland()
{
	local root=$1/root d t path real libdir

	need_tool cpio gcc nm readelf ldd
	mkdir -p "$root"/{etc/nvme,dev,proc,sys,run,tmp,root,var,pollard,usr/bin,usr/sbin,usr/lib,usr/lib64}
	for d in bin sbin lib lib64; do
		ln -s "usr/$d" "$root/$d"
	done
	ln -s ../run "$root/var/run"

	copy_in_lean "$root" "$(readlink -f "$(type -P fio)")" \
		'lib(c|m|z|numa|aio|ibverbs|rdmacm|pthread|dl|rt|uring)'
	for t in $guest_tools $guest_tools_maybe; do
		path=$(type -P "$t") || continue
		real=$(readlink -f "$path")
		[ "$t" = fio ] || copy_in "$root" "$real"
		link_to "$root" "$t" "$real"
	done
	for t in modprobe insmod rmmod lsmod modinfo depmod; do
		link_to "$root" $t "$(readlink -f "$(type -P kmod)")"
	done
	link_to "$root" mkfs.ext4 "$(readlink -f "$(type -P mke2fs)")"
	link_to "$root" fsck.ext4 "$(readlink -f "$(type -P e2fsck)")"
	link_to "$root" awk /usr/bin/mawk
	link_to "$root" sh /usr/bin/bash
	cp "$(type -P busybox)" "$root/usr/bin/busybox"
	busybox --list | while read -r t; do
		link_to "$root" "$t" /usr/bin/busybox
	done

	# Loaded by name at run time, so ldd does not know: the verbs provider of soft-RoCE, what
	# glibc needs to end a thread, and what stdbuf puts before others' libraries.
	libdir=$(dirname "$(ldd "$(type -P rdma)" | awk '/libc\.so/ { print $3 }')")
	copy_in "$root" "$libdir"/libgcc_s.so.1 "$libdir"/libibverbs/librxe-*.so /usr/libexec/coreutils/libstdbuf.so
	mkdir -p "$root/etc/libibverbs.d"
	cp /etc/libibverbs.d/rxe.driver "$root/etc/libibverbs.d/"
	cp /etc/mke2fs.conf "$root/etc/" 2>/dev/null || true
	# How nvme-cli connects by itself; of Debian 12's systemd, this is not in /usr.
	for path in /usr/lib/udev/rules.d/70-nvmf-autoconnect.rules {/usr,}/lib/systemd/system/nvmf-connect@.service; do
		[ ! -e "$path" ] || install -D -m 644 "$path" "$root$(place_of "$path")"
	done
	echo 'root:x:0:0:root:/root:/bin/bash' > "$root/etc/passwd"
	echo 'root:x:0:' > "$root/etc/group"
	printf '10.77.0.1 one\n10.77.0.2 two\n127.0.0.1 localhost\n' > "$root/etc/hosts"
	ln -s /proc/self/mounts "$root/etc/mtab"

	pack "$root" > "$1/cpio"
	rm -rf "$root"
}

modules_key()
{
	# A debug kernel that is built again has the same version.
	{ echo "$kver $moddir"; cat "$vm_dir/image.sh"; } | sha256sum | cut -c 1-16
}

# Names of the module files, dependencies included, relative to moddir.
module_files()
{
	echo "$guest_modules" | tr -s '\n\t ' '\n' | awk '
		function base(f) { sub(/.*\//, "", f); sub(/\.ko.*/, "", f); gsub(/-/, "_", f); return f }
		FNR == NR { sub(/:/, "", $1); dep[base($1)] = $0; next }
		$1 in dep { n = split(dep[$1], path, " "); for (i = 1; i <= n; i++) out[path[i]] = 1 }
		END { for (i in out) print i }' "$moddir/modules.dep" - | sort
}

build_modules()
{
	local tmp=$1 dst=$1/root/lib/modules/$kver f

	mkdir -p "$dst"
	module_files > "$tmp/list"
	while read -r f; do
		mkdir -p "$dst/${f%/*}"
		case $f in
		*.xz)	xz -dc "$moddir/$f" > "$dst/${f%.xz}" ;;
		*.zst)	zstd -qdc "$moddir/$f" > "$dst/${f%.zst}" ;;
		*)	cp "$moddir/$f" "$dst/$f" ;;
		esac
	done < "$tmp/list"
	cp "$moddir"/modules.builtin* "$moddir/modules.order" "$dst/"
	mkdir -p "$tmp/pack"
	cp -al "$tmp/root/lib" "$tmp/pack/lib"
	rm -f "$tmp/pack/lib/modules/$kver"/modules.*
	# The kernel's root already has a link lib -> usr/lib.
	mkdir "$tmp/pack/usr"
	mv "$tmp/pack/lib" "$tmp/pack/usr/lib"
	pack "$tmp/pack" > "$tmp/cpio"
	rm -rf "$tmp/pack"
}

# pack_run CACHED-MODULES OUT: our part - modules (when MODULES names their build directory), command
# line tool, scripts and EXTRA files.
pack_run()
{
	local cached=$1 out=$2 tree dst d f libs
	tree=$(mktemp -d "$run_dir/tree.XXXXXX")
	dst=$tree/lib/modules/$kver

	cp -al "$cached/root/." "$tree/"
	mkdir -p "$dst/updates"
	if [ -n "$modules" ]; then
		for f in "$modules"/drivers/*/*.ko; do
			[ ! -e "$f" ] || cp "$f" "$dst/updates/"
		done
	fi
	depmod -b "$tree" "$kver"
	rm -rf "$dst/kernel"
	mkdir -p "$tree/usr" "$tree/pollard/selftests/vm" "$tree/dev"
	mv "$tree/lib" "$tree/usr/lib"
	cp "$vm_dir/init" "$tree/init"
	cp -r "$vm_dir/." "$tree/pollard/selftests/vm/"
	make --no-print-directory -s -C "$top" examples_install DESTDIR="$tree" PREFIX=/usr || return
	if [ -x "$top/tools/pollard/pollard" ]; then
		install -D "$top/tools/pollard/pollard" "$tree/usr/sbin/pollard"
		mapfile -t libs < <(libraries_of "$top/tools/pollard/pollard")
		copy_in "$tree" "${libs[@]}"
	fi
	mkdir -p "$tree/usr/bin"
	for f in "$vm_dir"/tools/*.c; do
		f=${f##*/}
		gcc -O -Wall -D_GNU_SOURCE -o "$tree/usr/bin/${f%.c}" "$vm_dir/tools/$f" || return
	done
	# A program of several files speaks RDMA.
	for d in "$vm_dir"/tools/*/; do
		f=$tree/usr/bin/$(basename "$d")
		gcc -O -Wall -D_GNU_SOURCE -o "$f" "$d"*.c -lrdmacm -libverbs || return
		mapfile -t libs < <(libraries_of "$f")
		copy_in "$tree" "${libs[@]}"
	done
	mkdir -p "$tree/pollard/files"
	for f in "${extra[@]}"; do
		cp -r "$f" "$tree/pollard/files/"
	done
	pack "$tree" > "$out"
	rm -rf "$tree"
}
