/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_STDDEF_H
#define SHIM_LINUX_STDDEF_H

#include <stddef.h>
#include_next <linux/stddef.h>

#define struct_group(name, ...)	__struct_group(/* no tag */, name, /* no attributes */, __VA_ARGS__)
#define sizeof_field(type, member)	sizeof(((type *)0)->member)
#define offsetofend(type, member)	(offsetof(type, member) + sizeof_field(type, member))

#endif
