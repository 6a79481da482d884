// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/pollard/groups/N: tuning and exact work counters of each poll group, one value a file
 * (Documentation/ABI/testing/sysfs-kernel-pollard). A group's memory belongs to its kobject.
 */
#include <linux/kobject.h>
#include <linux/sysfs.h>

#include "core/group.h"
#include "core/netlink.h"
#include "core/sysfs.h"

static struct kobject *pol_sysfs_root;
static struct kset *pol_sysfs_groups;

static struct pol_group *to_group(struct kobject *kobj)
{
	return container_of(kobj, struct pol_group, kobj);
}

static ssize_t cpu_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	return sysfs_emit(page, "%d\n", READ_ONCE(to_group(kobj)->cpu));
}

static ssize_t cpu_store(struct kobject *kobj, struct kobj_attribute *attr, const char *page,
			 size_t len)
{
	int cpu, error;

	error = kstrtoint(page, 0, &cpu);
	if (!error)
		error = pol_group_set_cpu(to_group(kobj), cpu);
	if (error)
		return error;
	pol_netlink_group_changed(to_group(kobj)->id);
	return len;
}

static ssize_t mode_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	return sysfs_emit(page, "%s\n", pol_group_mode(READ_ONCE(to_group(kobj)->spin_us)));
}

static ssize_t mode_store(struct kobject *kobj, struct kobj_attribute *attr, const char *page,
			  size_t len)
{
	u32 spin_us;
	int error;

	error = pol_group_parse_mode(page, &spin_us);
	if (!error)
		error = pol_group_set_spin(to_group(kobj), spin_us);
	if (error)
		return error;
	pol_netlink_group_changed(to_group(kobj)->id);
	return len;
}

static ssize_t spin_us_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	return sysfs_emit(page, "%u\n", READ_ONCE(to_group(kobj)->spin_us));
}

static ssize_t spin_us_store(struct kobject *kobj, struct kobj_attribute *attr, const char *page,
			     size_t len)
{
	u32 spin_us;
	int error;

	error = kstrtou32(page, 0, &spin_us);
	if (!error)
		error = pol_group_set_spin(to_group(kobj), spin_us);
	if (error)
		return error;
	pol_netlink_group_changed(to_group(kobj)->id);
	return len;
}

static ssize_t effective_spin_us_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	return sysfs_emit(page, "%u\n", pol_group_spin(to_group(kobj)));
}

static ssize_t state_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	return sysfs_emit(page, "%s\n", pol_group_state_name(to_group(kobj)));
}

static ssize_t queues_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	return sysfs_emit(page, "%u\n", pol_group_queues(to_group(kobj)));
}

static struct kobj_attribute cpu_attr = __ATTR_RW(cpu);
static struct kobj_attribute mode_attr = __ATTR_RW(mode);
static struct kobj_attribute spin_us_attr = __ATTR_RW(spin_us);
static struct kobj_attribute effective_spin_us_attr = __ATTR_RO(effective_spin_us);
static struct kobj_attribute state_attr = __ATTR_RO(state);
static struct kobj_attribute queues_attr = __ATTR_RO(queues);

static struct attribute *pol_sysfs_group_attrs[] = {
	&cpu_attr.attr, &mode_attr.attr, &spin_us_attr.attr, &effective_spin_us_attr.attr,
	&state_attr.attr, &queues_attr.attr,
	NULL
};

static const struct attribute_group pol_sysfs_tuning = { .attrs = pol_sysfs_group_attrs };

/* One read-only file for each member of struct pol_group_counters. */
struct pol_counter_attribute {
	struct kobj_attribute attr;
	size_t offset;
};

static ssize_t pol_counter_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	struct pol_counter_attribute *counter =
		container_of(attr, struct pol_counter_attribute, attr);
	const u64 *value = (void *)&to_group(kobj)->counters + counter->offset;

	return sysfs_emit(page, "%llu\n", READ_ONCE(*value));
}

#define POL_COUNTER(_name)							\
	static struct pol_counter_attribute counter_##_name = {		\
		.attr = __ATTR(_name, 0444, pol_counter_show, NULL),		\
		.offset = offsetof(struct pol_group_counters, _name),		\
	}

POL_COUNTER(passes);
POL_COUNTER(busy_passes);
POL_COUNTER(sleeps);
POL_COUNTER(wakeups);
POL_COUNTER(yields);
POL_COUNTER(arms);
POL_COUNTER(completions);
POL_COUNTER(receives);
POL_COUNTER(messages);
POL_COUNTER(post_chains);
POL_COUNTER(work_requests);
POL_COUNTER(receive_posts);
POL_COUNTER(bytes_read);
POL_COUNTER(bytes_written);

static struct attribute *pol_sysfs_counter_attrs[] = {
	&counter_passes.attr.attr, &counter_busy_passes.attr.attr,
	&counter_sleeps.attr.attr, &counter_wakeups.attr.attr,
	&counter_yields.attr.attr, &counter_arms.attr.attr,
	&counter_completions.attr.attr, &counter_receives.attr.attr,
	&counter_messages.attr.attr, &counter_post_chains.attr.attr,
	&counter_work_requests.attr.attr, &counter_receive_posts.attr.attr,
	&counter_bytes_read.attr.attr, &counter_bytes_written.attr.attr,
	NULL
};

static const struct attribute_group pol_sysfs_counters = {
	.name = "counters",
	.attrs = pol_sysfs_counter_attrs,
};

static const struct attribute_group *pol_sysfs_group_groups[] = {
	&pol_sysfs_tuning, &pol_sysfs_counters, NULL
};

static void pol_sysfs_release(struct kobject *kobj)
{
	pol_group_free(to_group(kobj));
}

static const struct kobj_type pol_sysfs_group_type = {
	.release = pol_sysfs_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = pol_sysfs_group_groups,
};

/**
 * pol_sysfs_add_group - show a group
 * @group: complete, but not running yet
 *
 * Return: 0 or -errno. Either way the group's kobject is initialised and owns the memory.
 */
int pol_sysfs_add_group(struct pol_group *group)
{
	group->kobj.kset = pol_sysfs_groups;
	return kobject_init_and_add(&group->kobj, &pol_sysfs_group_type, NULL, "%u", group->id);
}

/**
 * pol_sysfs_hide_group - take a group's files away
 * @group: the caller drops the kobject's reference afterwards
 *
 * Waits for readers and writers of the files, so no lock of theirs may be held.
 */
void pol_sysfs_hide_group(struct pol_group *group)
{
	kobject_del(&group->kobj);
}

/**
 * pol_sysfs_init - make /sys/kernel/pollard
 */
int __init pol_sysfs_init(void)
{
	pol_sysfs_root = kobject_create_and_add("pollard", kernel_kobj);
	if (!pol_sysfs_root)
		return -ENOMEM;
	pol_sysfs_groups = kset_create_and_add("groups", NULL, pol_sysfs_root);
	if (!pol_sysfs_groups) {
		kobject_put(pol_sysfs_root);
		return -ENOMEM;
	}
	return 0;
}

/**
 * pol_sysfs_exit - remove /sys/kernel/pollard; every group is gone
 */
void pol_sysfs_exit(void)
{
	kset_unregister(pol_sysfs_groups);
	kobject_put(pol_sysfs_root);
}
