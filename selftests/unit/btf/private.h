/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for the private headers: a collection of what makes layouts hard to get right. */
#ifndef PRIVATE_H
#define PRIVATE_H

#include "public.h"

typedef u32 nvme_flags_t;

enum nvme_state {
	NVME_STATE_NEW,
	NVME_STATE_LIVE = 5,
	NVME_STATE_LOST = -1,
};

enum {
	NVME_OPT_A = 1 << 0,
	NVME_OPT_B = 1 << 24,
};

enum nvme_small {
	NVME_SMALL_A = 200,
} __attribute__((packed));

enum nvme_wide {
	NVME_WIDE_A = 0x123456789aULL,
};

enum {
	NVME_LEFT_OUT = 7,
};

struct nvme_bits {
	u8 first : 3;
	u8 : 2;
	u8 second : 2;
	u32 third : 11;
	u16 whole;
	u32 fourth : 30;
	u32 fifth : 10;
	u64 : 0;
	u64 sixth : 40;
	u8 last;
	_Bool flag : 1;
};

struct nvme_packed {
	u8 tag;
	u32 odd;
	u64 odder[2];
	u16 few : 5;
	u16 more : 13;
	u8 end;
} __attribute__((packed));

struct nvme_packed_pair {
	u32 a;
	u8 b;
} __attribute__((packed));

struct nvme_aligned {
	u8 small;
	u32 apart __attribute__((aligned(64)));
	u8 tail;
};

struct nvme_whole_aligned {
	u32 a;
} __attribute__((aligned(32)));

union nvme_either {
	u8 bytes[5];
	u32 word;
	struct {
		u16 low;
		u16 high : 9;
	};
} __attribute__((aligned(16)));

struct nvme_flexible {
	u32 count;
	struct nvme_packed entries[];
};

struct nvme_zero {
	u32 none[0];
	u8 rest;
};

struct nvme_hidden;		/* never defined where anybody sees it */

struct nvme_secret {
	int value;
};

struct nvme_ctrl;

struct nvme_ops {
	const char *name;
	u32 flags;
	int (*read)(struct nvme_ctrl *ctrl, u32 offset, u32 *value);
	void (*stop)(struct nvme_ctrl *ctrl);
	const char *const *(*names)(void);
	int (*(*pick)(int which))(const volatile u8 *data, ...);
#ifdef NEW_CALLBACK
	void (*surprise)(struct nvme_ctrl *ctrl);
#endif
};

struct nvme_node {
	struct nvme_node *next;
	struct nvme_ctrl *owner;
};

struct nvme_ctrl {
	enum nvme_state state;
	enum nvme_small small;
	enum nvme_wide wide;
	enum nvme_public public_state;
	public_lock_t lock;
	const struct nvme_ops *ops;
	struct list_head list;
	struct nvme_command command;
	struct nvme_bits bits;
	struct nvme_packed packed;
	struct nvme_packed_pair pairs[3];
	struct nvme_aligned aligned;
	struct nvme_whole_aligned whole_aligned[2];
	union nvme_either either;
	nvme_flags_t flags;
	char name[21];
	int (*table[4])(void *data);
	const char (*row)[16];
	struct nvme_hidden *hidden;
	struct nvme_secret *secret;
	struct nvme_flexible *flexible;
	struct nvme_node *nodes;
	struct {
		u8 inner;
		union {
			u64 deep;
			u32 shallow[3];
		};
		enum { NVME_INLINE_A, NVME_INLINE_B } choice;
		struct {
			u16 deepest;
		} named;
	};
	struct nvme_zero zero;
#ifdef DIFFERENT
	u32 extra;
#endif
	long double unused_float;
	__int128 huge;
	u8 last;
};

struct nvme_request {		/* reached by no function */
	struct nvme_ctrl *ctrl;
	u16 status;
};

#endif
