# SPDX-License-Identifier: GPL-2.0-only
#
# What people type. Modules are built by the kernel's own makefiles from Kbuild, in a directory per
# kernel under build/ (scripts/kbuild says how); the command line tool by its own makefile.

VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
DKMS_SRC := $(DESTDIR)/usr/src/pollard-$(VERSION)

export KVER KDIR DEBUG POL_MODDIR POL_VMLINUZ DESTDIR

.PHONY: all modules cli install modules_install cli_install
all: modules cli

modules:
	+@scripts/kbuild modules

modules_install:
	+@scripts/kbuild modules_install

cli:
	$(if $(wildcard tools/pollard/Makefile),+@$(MAKE) --no-print-directory -C tools/pollard)

cli_install:
	$(if $(wildcard tools/pollard/Makefile),+@$(MAKE) --no-print-directory -C tools/pollard install)

.PHONY: examples_install
examples_install:
	install -D -m 644 -t $(DESTDIR)$(or $(PREFIX),/usr)/share/doc/pollard/examples \
		tools/modprobe/pollard-rdma.conf

install: modules_install cli_install examples_install

.PHONY: dkms-install dkms-remove
dkms-install:
	install -d $(DKMS_SRC)
	cp -r Kbuild Makefile COPYING dkms.conf drivers include scripts $(DKMS_SRC)/
	dkms install pollard/$(VERSION) $(if $(KVER),-k $(KVER))

dkms-remove:
	dkms remove pollard/$(VERSION) --all
	rm -rf $(DKMS_SRC)

.PHONY: deps check check-unit check-vm check-debug check-long demo
deps:
	@scripts/deps

check: deps
	@scripts/check build rules unit vm sample

check-unit: deps
	@scripts/check rules unit

check-vm: deps
	@scripts/check vm

check-debug: deps
	@scripts/check debug

check-long: deps
	@scripts/check long

demo: deps
	@selftests/vm/demo

.PHONY: clean help
clean:
	rm -rf build
	$(if $(wildcard tools/pollard/Makefile),@$(MAKE) --no-print-directory -C tools/pollard clean)
	$(if $(wildcard selftests/unit/Makefile),@$(MAKE) --no-print-directory -C selftests/unit clean)

help:
	@echo 'Building'
	@echo '  all              modules and the command line tool (default)'
	@echo '  modules          pollard.ko, pollard-target.ko, pollard-host.ko, in build/KERNEL/'
	@echo '  cli              tools/pollard/pollard'
	@echo '  clean            remove everything built'
	@echo 'Installing'
	@echo '  install          modules, command line tool and examples (DESTDIR= is honoured)'
	@echo '  modules_install  modules only'
	@echo '  cli_install      command line tool only'
	@echo '  dkms-install     let DKMS build the modules, now and for each new kernel'
	@echo '  dkms-remove      undo dkms-install'
	@echo 'Trying and testing (in virtual machines; nothing on this machine is touched)'
	@echo '  demo             export a disk from one machine to another, and compare speeds'
	@echo '  check            all tests; of those on the debug kernel, some'
	@echo '  check-unit       tests of the parsers and formats, no kernel needed'
	@echo '  check-vm         tests on stock Debian kernels'
	@echo '  check-debug      all tests on a kernel built for it, with KASAN, lockdep, kmemleak and more'
	@echo '  check-long       longer runs of what finds more with time: hours'
	@echo '  deps             install the Debian packages that these need'
	@echo 'Variables'
	@echo '  KVER=VERSION     an installed kernel, not the running one; 6.1 and 6.12 alone mean'
	@echo '                   Debian'"'"'s, which are downloaded without being installed'
	@echo '  KDIR=DIR         the headers or build tree of a kernel'
	@echo '  DEBUG=1          with the checks that are too dear for every day (own directory)'
	@echo '  W=1              with more warnings'
	@echo '  V=1              show the commands'
