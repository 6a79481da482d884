/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_KERNEL_H
#define SHIM_LINUX_KERNEL_H

#include_next <linux/kernel.h>
#include <linux/limits.h>
#include <linux/minmax.h>

#define IS_ALIGNED(x, a)	(((x) & ((typeof(x))(a) - 1)) == 0)
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#endif
