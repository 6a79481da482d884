/* SPDX-License-Identifier: GPL-2.0-only */
/* Unaligned access moved from asm/ to linux/ in the newest kernels. */
#ifndef POL_COMPAT_UNALIGNED_H
#define POL_COMPAT_UNALIGNED_H

#if __has_include(<linux/unaligned.h>)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif
