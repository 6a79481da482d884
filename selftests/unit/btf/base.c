// SPDX-License-Identifier: GPL-2.0-only
/* Stands for the kernel. */
#include "public.h"

struct list_head list;
public_lock_t lock;
struct nvme_command command;
enum nvme_public public_value;
#ifdef OTHER_BUILD
struct another_type {
	int with_a_member;
	struct list_head and_a_list;
} another;
#endif

int nvme_public_function(int value)
{
	return value + list.next->prev - list.prev;
}
