// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task that touches what belongs to a poll group: what pol_group_assert_owned() is there to
 * catch. Only ever loaded by the test that wants to see the warning; the load itself is refused, so
 * that nothing stays.
 *
 * It cancels a timer that is not armed, which changes nothing, whoever does it. With owner=1 the
 * group's own thread does, as it may.
 */
#include <linux/module.h>

#include "core/group.h"

static bool owner;
module_param(owner, bool, 0);
MODULE_PARM_DESC(owner, "have the group's thread do it");

static void foreign_fired(struct pol_group *group, struct pol_timer *timer)
{
}

static void foreign_touch(struct pol_group *group, void *arg)
{
	pol_timer_cancel(group, arg);
}

static int __init foreign_init(void)
{
	struct pol_group *group = pol_group_choose(-1);
	struct pol_timer timer;

	if (!group)
		return -ENODEV;
	pol_timer_init(&timer, foreign_fired);
	if (owner)
		pol_group_call(group, foreign_touch, &timer);
	else
		foreign_touch(group, &timer);
	pol_group_put(group);
	return -EAGAIN;
}
module_init(foreign_init);

MODULE_DESCRIPTION("A foreign task in a poll group, for DEBUG builds to catch");
MODULE_LICENSE("GPL");
