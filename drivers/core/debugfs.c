// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/pollard/groups/N: latency quantiles and completion queues of a group. Free
 * form; the first line is the version of the form.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "core/device.h"
#include "core/fault.h"
#include "core/group.h"
#include "core/sysfs.h"

static struct dentry *pol_debugfs_dir;
static struct dentry *pol_debugfs_groups;

static int latency_show(struct seq_file *file, void *unused)
{
	const struct pol_group *group = file->private;
	struct pol_histogram *h;
	int class, stage;

	seq_puts(file, "v: 1\n");
	seq_puts(file, "class stage count min-ns p50-ns p90-ns p99-ns p99.9-ns max-ns mean-ns\n");
	for (class = 0; class < POL_LATENCY_CLASSES; class++) {
		for (stage = 0; stage < POL_LATENCY_STAGES; stage++) {
			if (!READ_ONCE(group->latency->stage[class][stage].count))
				continue;
			h = pol_latency_copy(group->latency, class, stage);
			if (!h)
				return -ENOMEM;
			seq_printf(file, "%s %s %llu %llu %llu %llu %llu %llu %llu %llu\n",
				   pol_latency_class_name(class), pol_latency_stage_name(stage),
				   h->count, h->min_ns, pol_histogram_quantile(h, 50000),
				   pol_histogram_quantile(h, 90000),
				   pol_histogram_quantile(h, 99000),
				   pol_histogram_quantile(h, 99900), h->max_ns,
				   pol_histogram_mean(h));
			kvfree(h);
		}
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(latency);

static int cqs_show(struct seq_file *file, void *unused)
{
	struct pol_group *group = file->private;
	struct pol_cq *cq;

	seq_puts(file, "v: 1\n");
	seq_puts(file, "device capacity shared reserved armed broken\n");
	mutex_lock(&group->lock);
	list_for_each_entry(cq, &group->all_cqs, link)
		seq_printf(file, "%s %u %u %u %d %d\n", cq->device->name, cq->capacity, cq->shared,
			   cq->reserved, READ_ONCE(cq->armed), READ_ONCE(cq->broken));
	mutex_unlock(&group->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cqs);

/**
 * pol_debugfs_add_group - show a group's insides
 * @group: the group
 */
void pol_debugfs_add_group(struct pol_group *group)
{
	char name[12];

	snprintf(name, sizeof(name), "%u", group->id);
	group->debugfs = debugfs_create_dir(name, pol_debugfs_groups);
	debugfs_create_file("latency", 0400, group->debugfs, group, &latency_fops);
	debugfs_create_file("cqs", 0400, group->debugfs, group, &cqs_fops);
}

/**
 * pol_debugfs_remove_group - hide it again; waits for readers
 * @group: the group
 */
void pol_debugfs_remove_group(struct pol_group *group)
{
	debugfs_remove_recursive(group->debugfs);
}

/**
 * pol_debugfs_init - make /sys/kernel/debug/pollard, for the groups to come
 *
 * A DEBUG build has the controls of faults in it. Nothing fails where there is no debugfs: nothing
 * is shown then. Module init.
 */
void __init pol_debugfs_init(void)
{
	pol_debugfs_dir = debugfs_create_dir("pollard", NULL);
	pol_debugfs_groups = debugfs_create_dir("groups", pol_debugfs_dir);
	pol_fault_init(pol_debugfs_dir);
}

/**
 * pol_debugfs_exit - remove the directory and what is in it; waits for readers
 *
 * The groups' parts are gone already. Process context, may sleep.
 */
void pol_debugfs_exit(void)
{
	debugfs_remove_recursive(pol_debugfs_dir);
}
