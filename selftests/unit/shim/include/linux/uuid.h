/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_UUID_H
#define SHIM_LINUX_UUID_H

#include <string.h>
#include <linux/types.h>

#define UUID_SIZE	16

typedef struct {
	__u8 b[UUID_SIZE];
} uuid_t;

static inline bool uuid_is_null(const uuid_t *uuid)
{
	static const uuid_t null;

	return !memcmp(uuid, &null, sizeof(null));
}

static inline void import_uuid(uuid_t *to, const u8 *from)
{
	memcpy(to, from, sizeof(*to));
}

static inline void export_uuid(u8 *to, const uuid_t *from)
{
	memcpy(to, from, sizeof(*from));
}

#endif
