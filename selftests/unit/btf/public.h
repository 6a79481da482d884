/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for the public headers. */
#ifndef PUBLIC_H
#define PUBLIC_H

#include <stddef.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

struct list_head {
	struct list_head *next, *prev;
};

typedef struct public_lock {
	u32 value;
} __attribute__((aligned(8))) public_lock_t;

struct nvme_command {		/* matches the pattern of private names, and is public */
	u8 bytes[64];
};

enum nvme_public {
	NVME_PUBLIC_A,
	NVME_PUBLIC_B,
};

struct request;

int nvme_public_function(int value);

#endif
