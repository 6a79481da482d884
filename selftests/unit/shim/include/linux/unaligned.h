/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_UNALIGNED_H
#define SHIM_LINUX_UNALIGNED_H

#include <linux/types.h>

static inline u64 shim_get_le(const u8 *p, unsigned int bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value << 8 | p[bytes];
	return value;
}

static inline void shim_put_le(u64 value, u8 *p, unsigned int bytes)
{
	for (; bytes--; value >>= 8)
		*p++ = value;
}

#define get_unaligned_le16(p)		((u16)shim_get_le((const u8 *)(p), 2))
#define get_unaligned_le24(p)		((u32)shim_get_le((const u8 *)(p), 3))
#define get_unaligned_le32(p)		((u32)shim_get_le((const u8 *)(p), 4))
#define get_unaligned_le64(p)		shim_get_le((const u8 *)(p), 8)
#define put_unaligned_le16(value, p)	shim_put_le(value, (u8 *)(p), 2)
#define put_unaligned_le24(value, p)	shim_put_le(value, (u8 *)(p), 3)
#define put_unaligned_le32(value, p)	shim_put_le(value, (u8 *)(p), 4)
#define put_unaligned_le64(value, p)	shim_put_le(value, (u8 *)(p), 8)

#endif
