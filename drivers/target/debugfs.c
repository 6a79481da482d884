// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the data path looks like right now, for people: pollard-target/queues in debugfs. The
 * numbers belong to the threads of poll groups and are read as they are.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "target/receive.h"

static struct dentry *polt_debugfs;

static int polt_debugfs_show_pair(struct polt_pair *pair, void *arg)
{
	const struct pol_pool *pool = pair->pool;
	struct seq_file *m = arg;

	seq_printf(m, "pair: device %s group %u inline %u queues %u receives %u of %u%s",
		   pair->device->name, pair->group->id, pair->inline_size, pair->users,
		   pair->nr_receives, pair->srq_size, pair->srq ? "" : " (none shared)");
	seq_printf(m, " small %u/%u large %u/%u members %d borrowed %d+%d\n",
		   READ_ONCE(pool->small.nr_free), pool->small.nr,
		   READ_ONCE(pool->large.nr_free), pool->large.nr, atomic_read(&pair->members),
		   atomic_read(&pair->shares[POLT_BUFFERS_SMALL].borrowed),
		   atomic_read(&pair->shares[POLT_BUFFERS_LARGE].borrowed));
	return 0;
}

static int polt_debugfs_show_queue(struct polt_queue *queue, void *arg)
{
	struct seq_file *m = arg;

	seq_printf(m, "queue: qid %u qpn %u peer %s group %u state %s depth %u", queue->qid,
		   queue->qp_num, queue->peer, queue->group->id,
		   polt_queue_state_name(READ_ONCE(queue->state)), queue->depth);
	seq_printf(m, " in-use %u outstanding %u credits %u/%u claimed %u+%u",
		   READ_ONCE(queue->in_use), READ_ONCE(queue->outstanding),
		   READ_ONCE(queue->send_credits), queue->max_credits,
		   READ_ONCE(queue->claimed[POLT_BUFFERS_SMALL]),
		   READ_ONCE(queue->claimed[POLT_BUFFERS_LARGE]));
	seq_printf(m, " received %llu done %llu failed %llu invalidates %llu fetches %llu",
		   READ_ONCE(queue->commands_received), READ_ONCE(queue->commands_done),
		   READ_ONCE(queue->commands_failed), READ_ONCE(queue->invalidates),
		   READ_ONCE(queue->fetches));
	seq_printf(m, " in-capsule %llu buffer-waits %llu\n", READ_ONCE(queue->in_capsule),
		   READ_ONCE(queue->buffer_waits));
	return 0;
}

static int polt_debugfs_queues_show(struct seq_file *m, void *unused)
{
	seq_puts(m, "v: 1\n");
	polt_pair_for_each(polt_debugfs_show_pair, m);
	polt_queue_for_each(polt_debugfs_show_queue, m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(polt_debugfs_queues);

/**
 * polt_debugfs_init - make pollard-target/queues
 *
 * Nothing fails where there is no debugfs: nothing is shown then. Module init, when all it shows is
 * ready.
 */
void polt_debugfs_init(void)
{
	polt_debugfs = debugfs_create_dir("pollard-target", NULL);
	debugfs_create_file("queues", 0400, polt_debugfs, NULL, &polt_debugfs_queues_fops);
}

/**
 * polt_debugfs_exit - remove it; waits for readers. Process context, sleeps
 */
void polt_debugfs_exit(void)
{
	debugfs_remove_recursive(polt_debugfs);
}
