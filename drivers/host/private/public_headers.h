/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The public headers that define what the private types of nvme-core are made of.
 * scripts/btf-header reads this file's preprocessed text: what is defined in here is not generated.
 *
 * A type that nvme-core holds by value and that a new kernel keeps in another public header shows
 * as a redefinition when the host is compiled: add that header here.
 */
#ifndef POLH_PUBLIC_HEADERS_H
#define POLH_PUBLIC_HEADERS_H

#include <linux/blk-integrity.h>
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/fault-inject.h>
#include <linux/io_uring.h>
#include <linux/key.h>
#include <linux/kref.h>
#include <linux/module.h>
#include <linux/nvme.h>
#include <linux/nvme-auth.h>
#include <linux/nvme-rdma.h>
#include <linux/parser.h>
#include <linux/pci.h>
#include <linux/percpu-refcount.h>
#include <linux/pr.h>
#include <linux/ratelimit.h>
#include <linux/rcupdate.h>
#include <linux/sed-opal.h>
#include <linux/t10-pi.h>
#include <linux/uuid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#if __has_include(<linux/nvme-keyring.h>)
#include <linux/nvme-keyring.h>
#endif
#if __has_include(<linux/io_uring/cmd.h>)
#include <linux/io_uring/cmd.h>
#endif

#endif
