// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults on purpose, one for each load: what the debug kernel is there to catch. Only ever loaded
 * by the test that wants to see the report; the load itself is refused, so that nothing stays but
 * the fault.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

static char *fault = "";
module_param(fault, charp, 0);
MODULE_PARM_DESC(fault, "one of the names in planted_init(), or missed-wakeup");

static DEFINE_MUTEX(planted_first);
static DEFINE_MUTEX(planted_second);
static DEFINE_SPINLOCK(planted_spinlock);
static volatile u8 planted_byte;
static volatile unsigned int planted_distance = 40;

static void planted_use_after_free(void)
{
	u8 *p = kzalloc(100, GFP_KERNEL);

	if (!p)
		return;
	OPTIMIZER_HIDE_VAR(p);
	kfree(p);
	planted_byte = p[50];
}

static void planted_out_of_bounds(void)
{
	u8 *p = kzalloc(100, GFP_KERNEL);

	if (!p)
		return;
	OPTIMIZER_HIDE_VAR(p);
	planted_byte = p[100];
	kfree(p);
}

static void planted_shift(void)
{
	planted_byte = 1 << planted_distance;
}

static void planted_expired(struct timer_list *timer)
{
}

static void planted_active_timer(void)
{
	struct timer_list *timer = kzalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, planted_expired, 0);
	mod_timer(timer, jiffies + 60 * HZ);
	kfree(timer);
}

static void planted_lock_inversion(void)
{
	mutex_lock(&planted_first);
	mutex_lock(&planted_second);
	mutex_unlock(&planted_second);
	mutex_unlock(&planted_first);

	mutex_lock(&planted_second);
	mutex_lock(&planted_first);
	mutex_unlock(&planted_first);
	mutex_unlock(&planted_second);
}

static void planted_leak(void)
{
	for (int i = 0; i < 16; i++) {
		u8 *p = kzalloc(1000, GFP_KERNEL);

		OPTIMIZER_HIDE_VAR(p);
	}
}

static void planted_atomic_sleep(void)
{
	spin_lock(&planted_spinlock);
	msleep(1);
	spin_unlock(&planted_spinlock);
}

static int planted_sleeper(void *data)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule();
	return 0;
}

static int __init planted_init(void)
{
	static const struct {
		const char *name;
		void (*plant)(void);
	} faults[] = {
		{ "use-after-free", planted_use_after_free },
		{ "out-of-bounds", planted_out_of_bounds },
		{ "shift", planted_shift },
		{ "active-timer", planted_active_timer },
		{ "lock-inversion", planted_lock_inversion },
		{ "leak", planted_leak },
		{ "atomic-sleep", planted_atomic_sleep },
	};

	/* Its thread runs code of this module, which has to stay. */
	if (!strcmp(fault, "missed-wakeup"))
		return PTR_ERR_OR_ZERO(kthread_run(planted_sleeper, NULL, "planted"));
	for (int i = 0; i < ARRAY_SIZE(faults); i++)
		if (!strcmp(fault, faults[i].name)) {
			faults[i].plant();
			return -EAGAIN;
		}
	return -EINVAL;
}
module_init(planted_init);

MODULE_DESCRIPTION("Faults on purpose, for the debug kernel to catch");
MODULE_LICENSE("GPL");
