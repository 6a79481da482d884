/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_LIMITS_H
#define SHIM_LINUX_LIMITS_H

#include_next <linux/limits.h>

#define U8_MAX		((__u8)~0U)
#define U16_MAX		((__u16)~0U)
#define U32_MAX		((__u32)~0U)
#define S32_MAX		((__s32)(U32_MAX >> 1))
#define U64_MAX		((__u64)~0ULL)

#endif
