/* SPDX-License-Identifier: GPL-2.0-only */
/* ASCII only, like the first half of the kernel's table. */
#ifndef SHIM_LINUX_CTYPE_H
#define SHIM_LINUX_CTYPE_H

#define isascii(c)	(((unsigned char)(c)) <= 0x7f)
#define isprint(c)	((unsigned char)(c) >= 0x20 && (unsigned char)(c) <= 0x7e)

#endif
