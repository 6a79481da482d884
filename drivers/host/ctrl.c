// SPDX-License-Identifier: GPL-2.0-only
/*
 * Controllers: made by `nvme connect`, set up on connect, reset and reconnect, taken down, deleted.
 *
 * nvme-core owns the controller's state and calls us from its own work items (reset, delete); ours,
 * in recovery.c, are serialised with them by that state. What set-up has reached is written in the
 * queues' flags and in admin_set_ready and io_set_ready, so there is one way of taking down, which
 * copes with whatever is there.
 *
 * A controller is on the list from nvme_init_ctrl() until it is freed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/inet.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "host/host.h"
#include "host/limits.h"
#include "host/netlink.h"
#include "host/trace.h"

static unsigned int copy_max = POLH_COPY_MAX_DEFAULT;
module_param(copy_max, uint, 0644);
MODULE_PARM_DESC(copy_max, "bytes up to which the data of new controllers is copied instead of registered (default 16384)");

static ulong slot_mem_max = POLH_SLOT_MEM_DEFAULT;
module_param(slot_mem_max, ulong, 0644);
MODULE_PARM_DESC(slot_mem_max, "bytes of memory that one new controller may use for such copies (default 64 MiB)");

#define POLH_SCAN_TIMEOUT	msecs_to_jiffies(30000)

static LIST_HEAD(polh_ctrls);
static DEFINE_MUTEX(polh_ctrls_lock);
static unsigned int polh_nr_ctrls;	/* under the lock, READ_ONCE without it */
static DECLARE_WAIT_QUEUE_HEAD(polh_ctrls_empty);

/**
 * polh_ctrl_for_each() - call a function for each controller
 * @visit: may sleep; a result that is not 0 ends the walk
 * @arg: for @visit
 *
 * The list is not locked during @visit; the controller is kept by a reference.
 *
 * Context: process context.
 * Return: 0, or the result of the last @visit.
 */
int polh_ctrl_for_each(int (*visit)(struct polh_ctrl *ctrl, void *arg), void *arg)
{
	struct polh_ctrl *ctrl, *last = NULL;
	int ret = 0;

	mutex_lock(&polh_ctrls_lock);
	list_for_each_entry(ctrl, &polh_ctrls, entry) {
		if (!kobject_get_unless_zero(&ctrl->nvme.device->kobj))
			continue;
		mutex_unlock(&polh_ctrls_lock);
		/* The last one stayed on the list because it was kept. */
		if (last)
			polh_nvme_put(&last->nvme);
		last = ctrl;
		ret = visit(ctrl, arg);
		mutex_lock(&polh_ctrls_lock);
		if (ret)
			break;
	}
	mutex_unlock(&polh_ctrls_lock);
	if (last)
		polh_nvme_put(&last->nvme);
	return ret;
}

/**
 * polh_ctrl_changed() - a controller has come to another state: tell who wants to know
 * @ctrl: controller
 *
 * Context: process context, with or without the controller's lock.
 */
void polh_ctrl_changed(struct polh_ctrl *ctrl)
{
	trace_polh_ctrl_state(ctrl);
	polh_netlink_changed(ctrl);
}

/*
 * Sends the Connect command of a queue whose RDMA side is connected. blk-mq has no request for an
 * I/O queue whose CPUs are all offline or that is no CPU's; then nobody else has one either, and
 * the controller does without the queue until a CPU of it is back.
 */
static int polh_ctrl_start_queue(struct polh_ctrl *ctrl, unsigned int qid)
{
	int err;

	if (qid)
		err = nvmf_connect_io_queue(&ctrl->nvme, qid);
	else
		err = nvmf_connect_admin_queue(&ctrl->nvme);
	if (qid && err == -EXDEV) {
		dev_info(ctrl->nvme.device, "queue %u: left out: no CPU of it is online\n", qid);
		polh_queue_leave_out(&ctrl->queues[qid]);
		return 0;
	}
	if (!err)
		err = polh_state_go_live(&ctrl->queues[qid]);
	if (err)
		dev_err(ctrl->nvme.device, "queue %u: Connect failed (%d)\n", qid, err);
	return err;
}

static void polh_ctrl_set_ready(struct polh_ctrl *ctrl, bool *set, bool ready)
{
	mutex_lock(&ctrl->lock);
	*set = ready;
	mutex_unlock(&ctrl->lock);
}

/* What the controller says of itself, against what we can and need. */
static int polh_ctrl_check(struct polh_ctrl *ctrl)
{
	struct nvme_ctrl *nvme = &ctrl->nvme;

	if (!(nvme->sgls & POLH_SGLS_KEYED)) {
		dev_err(nvme->device, "the target does not take keyed SGLs\n");
		return -EPROTO;
	}
	nvme->sqsize = polh_limits_sqsize(nvme->sqsize, nvme->maxcmd, ctrl->max_tags);
	if (!nvme->sqsize) {
		dev_err(nvme->device, "no room for commands in the queues\n");
		return -EINVAL;
	}
	if (nvme->opts->queue_size > nvme->sqsize + 1)
		dev_info(nvme->device, "%u entries per queue instead of %zu\n", nvme->sqsize + 1,
			 nvme->opts->queue_size);
	return 0;
}

static int polh_ctrl_setup_admin(struct polh_ctrl *ctrl, bool first)
{
	struct nvme_ctrl *nvme = &ctrl->nvme;
	int err;

	err = polh_queue_connect(&ctrl->queues[0], NVME_AQ_DEPTH,
				 min_t(u32, READ_ONCE(ctrl->copy_max), PAGE_SIZE));
	if (err)
		return err;
	ctrl->queues[0].in_capsule_max = 0;
	if (first) {
		err = nvme_alloc_admin_tag_set(nvme, &ctrl->admin_set, &polh_admin_ops,
					       sizeof(struct polh_request));
		if (err)
			return err;
		polh_ctrl_set_ready(ctrl, &ctrl->admin_set_ready, true);
	}
	err = polh_ctrl_start_queue(ctrl, 0);
	if (err)
		return err;
	err = nvme_enable_ctrl(nvme);
	if (err)
		return err;
	if (!first && (ctrl->pages_max < nvme->max_segments ||
		       ctrl->bytes_max >> SECTOR_SHIFT < nvme->max_hw_sectors)) {
		dev_err(nvme->device, "this RDMA device cannot register I/O as large as before\n");
		return -EINVAL;
	}
	nvme->max_segments = ctrl->pages_max;
	nvme->max_hw_sectors = ctrl->bytes_max >> SECTOR_SHIFT;
	polh_compat_unquiesce_admin(nvme);
	err = polh_compat_init_ctrl_finish(nvme);
	if (err)
		return err;
	return polh_ctrl_check(ctrl);
}

/* Which of the queues that the target grants are for what. */
static void polh_ctrl_spread_queues(struct polh_ctrl *ctrl, unsigned int nr)
{
	unsigned int polled;

	polh_spread_queues(ctrl, nr, ctrl->io_queues);
	polled = ctrl->io_queues[HCTX_TYPE_DEFAULT] + ctrl->io_queues[HCTX_TYPE_READ] + 1;
	for (unsigned int qid = 1; qid < ctrl->nr_queues; qid++)
		assign_bit(POLH_QUEUE_POLLED, &ctrl->queues[qid].flags, qid >= polled);
}

/* Connects the RDMA side of all I/O queues. Return: entries of the shallowest, or -errno. */
static int polh_ctrl_connect_io(struct polh_ctrl *ctrl, unsigned int nr, unsigned int nr_tags)
{
	struct nvme_ctrl *nvme = &ctrl->nvme;
	u32 granted = nr_tags, copy;
	int err;

	copy = polh_limits_copy_max(READ_ONCE(ctrl->copy_max), nr, nr_tags,
				    READ_ONCE(ctrl->slot_mem_max), PAGE_SIZE);
	WRITE_ONCE(ctrl->copy_now, copy);
	for (unsigned int qid = 1; qid <= nr; qid++) {
		struct polh_queue *queue = &ctrl->queues[qid];

		err = polh_queue_connect(queue, nr_tags, copy);
		if (!err && test_bit(POLH_CTRL_FAILED, &ctrl->flags))
			err = -ECONNRESET;
		if (err)
			return err;
		queue->in_capsule_max = polh_limits_in_capsule(nvme->ioccsz, nvme->icdoff,
							       nvme->sgls, queue->copy_max);
		granted = min(granted, queue->granted);
		WRITE_ONCE(ctrl->copy_now, min(ctrl->copy_now, queue->copy_max));
	}
	if (ctrl->copy_now < READ_ONCE(ctrl->copy_max))
		dev_info(nvme->device, "I/O is copied up to %u bytes: more slots do not fit\n",
			 ctrl->copy_now);
	return granted;
}

/*
 * nvme-core begins to look for namespaces only when the controller is live, but may not be through
 * with it. A disk that it adds or removes meanwhile is on no list by which its queue is emptied.
 */
static bool polh_ctrl_wait_scan(struct polh_ctrl *ctrl)
{
	unsigned long end = jiffies + POLH_SCAN_TIMEOUT;

	while (work_busy(&ctrl->nvme.scan_work)) {
		if (test_bit(POLH_CTRL_FAILED, &ctrl->flags) || time_after(jiffies, end))
			return false;
		msleep(20);
	}
	return true;
}

/* Keep I/O out of the disks' queues, and wait until what is in there has ended. */
static bool polh_ctrl_freeze(struct polh_ctrl *ctrl)
{
	struct nvme_ctrl *nvme = &ctrl->nvme;

	/* The queues there are carry what is there and what the scan does. */
	polh_compat_unquiesce_io(nvme);
	if (!polh_ctrl_wait_scan(ctrl))
		return false;
	nvme_start_freeze(nvme);
	if (polh_compat_wait_freeze(nvme))
		return true;
	nvme_unfreeze(nvme);
	return false;
}

/*
 * The number of I/O queues is not what it was: move blk-mq's queues over, with nothing in them.
 * Under the controller's lock, or somebody would cancel tags that are just being replaced; so
 * nothing may be waited for that needs recovery to end.
 */
static int polh_ctrl_change_queues(struct polh_ctrl *ctrl, unsigned int nr)
{
	unsigned int noio;
	bool changed;

	if (!polh_ctrl_freeze(ctrl)) {
		dev_err(ctrl->nvme.device, "I/O does not end: cannot go from %u to %u I/O queues\n",
			ctrl->io_set.nr_hw_queues, nr);
		return -ENODEV;
	}
	noio = memalloc_noio_save();
	mutex_lock(&ctrl->lock);
	blk_mq_update_nr_hw_queues(&ctrl->io_set, nr);
	changed = ctrl->io_set.nr_hw_queues == nr;
	mutex_unlock(&ctrl->lock);
	memalloc_noio_restore(noio);
	nvme_unfreeze(&ctrl->nvme);
	/* For want of memory it may have left all as it was. */
	return changed ? 0 : -ENOMEM;
}

static bool polh_ctrl_has_io_queue(const struct polh_ctrl *ctrl)
{
	for (unsigned int qid = 1; qid < ctrl->nr_queues; qid++)
		if (test_bit(POLH_QUEUE_LIVE, &ctrl->queues[qid].flags))
			return true;
	return false;
}

static int polh_ctrl_setup_io(struct polh_ctrl *ctrl, bool first)
{
	struct nvme_ctrl *nvme = &ctrl->nvme;
	int granted, err, nr = ctrl->nr_queues - 1;
	unsigned int nr_tags, nr_start, qid;
	bool again = false;

	err = nvme_set_queue_count(nvme, &nr);
	if (err)
		return err;
	if (nr <= 0) {
		dev_err(nvme->device, "the target grants no I/O queue\n");
		return -EIO;
	}
	nr = min_t(int, nr, ctrl->nr_queues - 1);
	nvme->queue_count = nr + 1;
	polh_ctrl_spread_queues(ctrl, nr);

	for (;;) {
		nr_tags = nvme->sqsize + 1;
		if (!first && nr_tags < ctrl->io_set.queue_depth) {
			dev_err(nvme->device, "the target's queues have become too shallow\n");
			return -EINVAL;
		}
		granted = polh_ctrl_connect_io(ctrl, nr, nr_tags);
		if (granted < 0)
			return granted;
		if (granted == nr_tags)
			break;
		/* Less than was asked for: ask again for what there is, once. */
		if (granted < 2 || again) {
			dev_err(nvme->device, "the target grants %d entries per queue of %u\n",
				granted, nr_tags);
			return -EPROTO;
		}
		dev_info(nvme->device,
			 "the target grants %d entries per queue instead of %u, connecting anew\n",
			 granted, nr_tags);
		again = true;
		mutex_lock(&ctrl->lock);
		polh_queues_stop(ctrl, 1);
		polh_queues_disconnect(ctrl, 1);
		mutex_unlock(&ctrl->lock);
		nvme->sqsize = granted - 1;
	}

	if (first) {
		err = nvme_alloc_io_tag_set(nvme, &ctrl->io_set, &polh_io_ops,
					    nvme->opts->nr_poll_queues ? HCTX_MAX_TYPES : 2,
					    sizeof(struct polh_request));
		if (err)
			return err;
		polh_ctrl_set_ready(ctrl, &ctrl->io_set_ready, true);
		ctrl->sqsize = nvme->sqsize;
	}

	nr_start = min_t(unsigned int, nr, ctrl->io_set.nr_hw_queues);
	for (qid = 1; qid <= nr_start; qid++) {
		err = polh_ctrl_start_queue(ctrl, qid);
		if (err)
			return err;
	}
	if (!first) {
		if (nr != ctrl->io_set.nr_hw_queues)
			err = polh_ctrl_change_queues(ctrl, nr);
		else
			polh_compat_unquiesce_io(nvme);
		if (err)
			return err;
	}
	for (; qid <= nr; qid++) {
		err = polh_ctrl_start_queue(ctrl, qid);
		if (err)
			return err;
	}
	if (!polh_ctrl_has_io_queue(ctrl) && !test_bit(POLH_CTRL_FAILED, &ctrl->flags)) {
		dev_err(nvme->device, "no I/O queue has a CPU that is online\n");
		return -EXDEV;
	}
	dev_info(nvme->device, "%u/%u/%u default/read/poll queues\n",
		 ctrl->io_queues[HCTX_TYPE_DEFAULT], ctrl->io_queues[HCTX_TYPE_READ],
		 ctrl->io_queues[HCTX_TYPE_POLL]);
	return 0;
}

/*
 * Take a controller, in any condition, down in good order. @remove: for good, with a normal
 * shutdown of the controller, and the tag sets go too. I/O is not quiesced: without a connection it
 * is refused, see polh_recovery_take_down(). Waits for the target to shut down, in bounded time.
 */
static void polh_ctrl_teardown(struct polh_ctrl *ctrl, bool remove)
{
	struct nvme_ctrl *nvme = &ctrl->nvme;
	bool admin = ctrl->admin_set_ready, io = ctrl->io_set_ready;

	nvme_stop_keep_alive(nvme);
	polh_ctrl_drop(ctrl, 1);
	if (io && remove) {
		polh_ctrl_set_ready(ctrl, &ctrl->io_set_ready, false);
		nvme_remove_io_tag_set(nvme);
	}

	if (admin)
		polh_compat_quiesce_admin(nvme);
	if (test_bit(POLH_QUEUE_LIVE, &ctrl->queues[0].flags)) {
		polh_recovery_watch(ctrl);
		polh_compat_disable_ctrl(nvme, remove);
		polh_recovery_unwatch(ctrl);
	}
	polh_ctrl_drop(ctrl, 0);
	if (admin) {
		polh_compat_unquiesce_admin(nvme);
		if (remove) {
			polh_ctrl_set_ready(ctrl, &ctrl->admin_set_ready, false);
			nvme_remove_admin_tag_set(nvme);
		}
	}
}

/**
 * polh_ctrl_setup() - connect a controller and make it live
 * @ctrl: controller in state CONNECTING
 * @first: by nvme connect; otherwise its tag sets and disks are there already
 *
 * It is not busy any more when this returns.
 *
 * Context: process context, one at a time by the controller's state. Bounded in time also when the
 * target does not answer.
 * Return: 0; -errno or a positive NVMe status with everything taken down.
 */
int polh_ctrl_setup(struct polh_ctrl *ctrl, bool first)
{
	struct nvme_ctrl *nvme = &ctrl->nvme;
	int err;

	clear_bit(POLH_CTRL_FAILED, &ctrl->flags);
	/* What another target or device had room for meanwhile does not bind this one. */
	nvme->sqsize = ctrl->sqsize;
	polh_recovery_watch(ctrl);
	err = polh_ctrl_setup_admin(ctrl, first);
	if (!err && ctrl->nr_queues > 1)
		err = polh_ctrl_setup_io(ctrl, first);
	polh_recovery_unwatch(ctrl);
	if (!err && test_bit(POLH_CTRL_FAILED, &ctrl->flags))
		err = -ECONNRESET;
	/* A live one is deleted in good order. */
	if (!err)
		clear_bit(POLH_CTRL_BUSY, &ctrl->flags);
	if (!err && !nvme_change_ctrl_state(nvme, NVME_CTRL_LIVE))
		err = -ECANCELED;
	if (err) {
		polh_ctrl_teardown(ctrl, first);
		clear_bit(POLH_CTRL_BUSY, &ctrl->flags);
		return err;
	}
	polh_compat_reconnected(nvme);
	nvme_start_ctrl(nvme);
	polh_ctrl_changed(ctrl);
	/* Until it was live a failure could not start recovery. */
	smp_mb();	/* with polh_recovery_work() */
	if (test_bit(POLH_CTRL_FAILED, &ctrl->flags))
		polh_recovery_fail(ctrl);
	return 0;
}

/**
 * polh_ctrl_cancel() - end the requests that were in flight
 * @ctrl: controller
 * @first: first queue that has been stopped; 0 ends admin commands too
 *
 * nvme-core tries those again that it may.
 *
 * Context: process context, under the controller's lock, after polh_queues_stop().
 */
void polh_ctrl_cancel(struct polh_ctrl *ctrl, unsigned int first)
{
	lockdep_assert_held(&ctrl->lock);
	if (ctrl->io_set_ready)
		polh_requests_cancel(&ctrl->io_set);
	if (!first && ctrl->admin_set_ready)
		polh_requests_cancel(&ctrl->admin_set);
}

/**
 * polh_ctrl_drop() - take down the RDMA half of queues, and end what was in flight
 * @ctrl: controller
 * @first: first queue to take down; all after it go too
 *
 * Context: process context, takes the controller's lock. Never waits for a peer.
 */
void polh_ctrl_drop(struct polh_ctrl *ctrl, unsigned int first)
{
	unsigned int noio = memalloc_noio_save();

	mutex_lock(&ctrl->lock);
	polh_queues_stop(ctrl, first);
	polh_ctrl_cancel(ctrl, first);
	polh_queues_disconnect(ctrl, first);
	mutex_unlock(&ctrl->lock);
	memalloc_noio_restore(noio);
}

static void polh_ctrl_reset_work(struct work_struct *work)
{
	struct nvme_ctrl *nvme = container_of(work, struct nvme_ctrl, reset_work);
	struct polh_ctrl *ctrl = polh_ctrl_of(nvme);
	unsigned int noio;
	int err;

	/* There is nothing to reset before the first connect, which cancels this work. */
	if (!ctrl->admin_set_ready)
		return;
	set_bit(POLH_CTRL_BUSY, &ctrl->flags);
	smp_mb__after_atomic();	/* with polh_recovery_state() */
	/* A deletion that had begun takes the controller down itself. */
	if (polh_nvme_state(nvme) != NVME_CTRL_RESETTING) {
		clear_bit(POLH_CTRL_BUSY, &ctrl->flags);
		return;
	}
	noio = memalloc_noio_save();
	/* It waits for works that wait for an answer; on some kernels (6.1) to a Keep Alive. */
	polh_recovery_watch(ctrl);
	nvme_stop_ctrl(nvme);
	polh_recovery_unwatch(ctrl);
	/* A firmware that was not activated in time: nvme-core resets, with the disks quiesced. */
	polh_compat_unquiesce_io(nvme);
	polh_ctrl_teardown(ctrl, false);
	if (nvme_change_ctrl_state(nvme, NVME_CTRL_CONNECTING)) {
		polh_ctrl_changed(ctrl);
		err = polh_ctrl_setup(ctrl, false);
		if (err) {
			nvme->nr_reconnects++;
			polh_recovery_again(ctrl, err);
		}
	} else {
		clear_bit(POLH_CTRL_BUSY, &ctrl->flags);
	}
	memalloc_noio_restore(noio);
}

static void polh_ctrl_delete(struct nvme_ctrl *nvme)
{
	struct polh_ctrl *ctrl = polh_ctrl_of(nvme);
	unsigned int noio = memalloc_noio_save();

	polh_ctrl_changed(ctrl);
	polh_sysfs_remove(ctrl);
	polh_ctrl_teardown(ctrl, true);
	polh_recovery_exit(ctrl);
	memalloc_noio_restore(noio);
}

static void polh_ctrl_stop(struct nvme_ctrl *nvme)
{
	polh_recovery_stop(polh_ctrl_of(nvme));
}

static void polh_ctrl_free_queues(struct polh_ctrl *ctrl)
{
	for (unsigned int i = 0; i < ctrl->nr_queues; i++)
		free_percpu(ctrl->queues[i].submitted);
	kfree(ctrl->queues);
}

static int polh_ctrl_alloc_queues(struct polh_ctrl *ctrl, unsigned int nr)
{
	ctrl->queues = kcalloc(nr, sizeof(*ctrl->queues), GFP_KERNEL);
	if (!ctrl->queues)
		return -ENOMEM;
	for (; ctrl->nr_queues < nr; ctrl->nr_queues++) {
		struct polh_queue *queue = &ctrl->queues[ctrl->nr_queues];

		queue->ctrl = ctrl;
		queue->qid = ctrl->nr_queues;
		spin_lock_init(&queue->polling);
		pol_wish_init(&queue->wish);
		pol_batch_init(&queue->finishing, polh_request_finish);
		queue->submitted = alloc_percpu(struct polh_submitted);
		if (!queue->submitted) {
			polh_ctrl_free_queues(ctrl);
			return -ENOMEM;
		}
	}
	return 0;
}

/* The last reference is gone. The options are the caller's when nvme connect has failed. */
static void polh_ctrl_free(struct nvme_ctrl *nvme)
{
	struct polh_ctrl *ctrl = polh_ctrl_of(nvme);
	struct completion *freed = ctrl->freed;

	mutex_lock(&polh_ctrls_lock);
	list_del(&ctrl->entry);
	mutex_unlock(&polh_ctrls_lock);
	polh_netlink_gone(ctrl);
	if (test_bit(POLH_CTRL_CREATED, &ctrl->flags))
		nvmf_free_options(nvme->opts);
	polh_ctrl_free_queues(ctrl);
	kfree(ctrl);

	mutex_lock(&polh_ctrls_lock);
	WRITE_ONCE(polh_nr_ctrls, polh_nr_ctrls - 1);
	if (!polh_nr_ctrls)
		wake_up_all(&polh_ctrls_empty);
	if (freed)
		complete(freed);
	mutex_unlock(&polh_ctrls_lock);
}

static struct nvme_ctrl_ops polh_ctrl_ops = {
	.module			= THIS_MODULE,
	.flags			= POLH_NVME_F_FABRICS,
	.reg_read32		= nvmf_reg_read32,
	.reg_read64		= nvmf_reg_read64,
	.reg_write32		= nvmf_reg_write32,
	.free_ctrl		= polh_ctrl_free,
	.submit_async_event	= polh_request_async_event,
	.delete_ctrl		= polh_ctrl_delete,
	.stop_ctrl		= polh_ctrl_stop,
	.get_address		= nvmf_get_address,
	POLH_COMPAT_CTRL_OPS
};

/**
 * polh_ctrls_init() - before the first controller is made
 * @name: what controllers say their transport is
 *
 * Context: process context.
 */
void __init polh_ctrls_init(const char *name)
{
	polh_ctrl_ops.name = name;
}

static int polh_ctrl_parse_addresses(struct polh_ctrl *ctrl, struct nvmf_ctrl_options *opts)
{
	int err;

	if (!(opts->mask & NVMF_OPT_TRSVCID)) {
		opts->trsvcid = kstrdup(__stringify(NVME_RDMA_IP_PORT), GFP_KERNEL);
		if (!opts->trsvcid)
			return -ENOMEM;
		opts->mask |= NVMF_OPT_TRSVCID;
	}
	err = inet_pton_with_scope(&init_net, AF_UNSPEC, opts->traddr, opts->trsvcid, &ctrl->addr);
	if (err) {
		pr_err("malformed address: %s:%s\n", opts->traddr, opts->trsvcid);
		return err;
	}
	if (opts->mask & NVMF_OPT_HOST_TRADDR) {
		err = inet_pton_with_scope(&init_net, AF_UNSPEC, opts->host_traddr, NULL,
					   &ctrl->src_addr);
		if (err)
			pr_err("malformed host address: %s\n", opts->host_traddr);
	}
	return err;
}

static bool polh_ctrl_exists(struct nvmf_ctrl_options *opts)
{
	struct polh_ctrl *ctrl;
	bool found = false;

	mutex_lock(&polh_ctrls_lock);
	list_for_each_entry(ctrl, &polh_ctrls, entry) {
		found = nvmf_ip_options_match(&ctrl->nvme, opts);
		if (found)
			break;
	}
	mutex_unlock(&polh_ctrls_lock);
	return found;
}

static struct polh_ctrl *polh_ctrl_alloc(struct nvmf_ctrl_options *opts)
{
	struct polh_ctrl *ctrl;
	int err;

	if (!polh_compat_takes_secrets(opts)) {
		pr_err("this kernel does not authenticate: dhchap_secret is refused\n");
		return ERR_PTR(-EOPNOTSUPP);
	}
	ctrl = kzalloc(sizeof(*ctrl), GFP_KERNEL);
	if (!ctrl)
		return ERR_PTR(-ENOMEM);
	err = polh_ctrl_parse_addresses(ctrl, opts);
	if (err)
		goto err_addresses;
	err = -EALREADY;
	if (!opts->duplicate_connect && polh_ctrl_exists(opts))
		goto err_addresses;
	/* More of a kind than there are CPUs would never carry anything. */
	opts->nr_write_queues = min(opts->nr_write_queues, num_online_cpus());
	opts->nr_poll_queues = min(opts->nr_poll_queues, num_online_cpus());
	err = polh_ctrl_alloc_queues(ctrl, opts->nr_io_queues + opts->nr_write_queues +
				     opts->nr_poll_queues + 1);
	if (err)
		goto err_addresses;
	ctrl->nvme.opts = opts;
	ctrl->nvme.queue_count = ctrl->nr_queues;
	ctrl->sqsize = opts->queue_size - 1;
	ctrl->nvme.kato = opts->kato;
	ctrl->copy_max = min_t(u32, READ_ONCE(copy_max), POLH_COPY_MAX_LIMIT);
	ctrl->slot_mem_max = READ_ONCE(slot_mem_max);
	ctrl->mode = POLH_MODE_DEFAULT;
	mutex_init(&ctrl->lock);
	init_waitqueue_head(&ctrl->cm_wait);
	INIT_WORK(&ctrl->nvme.reset_work, polh_ctrl_reset_work);
	polh_recovery_init(ctrl);
	return ctrl;

err_addresses:
	kfree(ctrl);
	return ERR_PTR(err);
}

/**
 * polh_ctrl_create() - nvmf_transport_ops.create_ctrl: what nvme connect does
 * @dev: parent of the controller's device
 * @opts: what the user asked for; they stay the caller's when this fails
 *
 * Context: process context, one at a time; bounded in time whatever the target does.
 * Return: the controller, live, or an ERR_PTR.
 */
struct nvme_ctrl *polh_ctrl_create(struct device *dev, struct nvmf_ctrl_options *opts)
{
	DECLARE_COMPLETION_ONSTACK(freed);
	struct polh_ctrl *ctrl;
	struct nvme_ctrl *nvme;
	bool connecting;
	int err;

	ctrl = polh_ctrl_alloc(opts);
	if (IS_ERR(ctrl))
		return ERR_CAST(ctrl);
	nvme = &ctrl->nvme;
	err = nvme_init_ctrl(nvme, dev, &polh_ctrl_ops, 0);
	if (err)
		goto err_init;
	mutex_lock(&polh_ctrls_lock);
	list_add_tail(&ctrl->entry, &polh_ctrls);
	polh_nr_ctrls++;
	mutex_unlock(&polh_ctrls_lock);
	err = polh_compat_add_ctrl(nvme);
	if (err)
		goto err_add;
	polh_recovery_begin(ctrl);
	connecting = nvme_change_ctrl_state(nvme, NVME_CTRL_CONNECTING);
	/* A user may have asked for a reset until here; the next can come when it is live. */
	cancel_work_sync(&nvme->reset_work);
	if (!connecting) {
		err = -EINTR;
		goto err_setup;
	}
	err = polh_sysfs_add(ctrl);
	if (err)
		goto err_setup;
	err = polh_ctrl_setup(ctrl, true);
	if (err)
		goto err_setup;
	set_bit(POLH_CTRL_CREATED, &ctrl->flags);
	polh_ctrl_changed(ctrl);
	dev_info(nvme->device, "connected to %s at %pISpcs\n", opts->subsysnqn, &ctrl->addr);
	return nvme;

err_setup:
	polh_recovery_exit(ctrl);
	nvme_uninit_ctrl(nvme);
err_add:
	/*
	 * The options go when this returns, but the controller may be held by who looks at them all
	 * just now, and nvme-core needs them to free it.
	 */
	ctrl->freed = &freed;
	polh_nvme_put(nvme);
	wait_for_completion(&freed);
	return ERR_PTR(err > 0 ? -EIO : err);
err_init:
	polh_ctrl_free_queues(ctrl);
	kfree(ctrl);
	return ERR_PTR(err);
}

static int polh_ctrl_delete_one(struct polh_ctrl *ctrl, void *arg)
{
	nvme_delete_ctrl(&ctrl->nvme);
	return 0;
}

/**
 * polh_ctrls_delete_all() - delete every controller, and wait until they are gone
 *
 * After polh_transport_exit(): none comes any more. Whoever holds a controller can delay this for
 * ever, an open /dev/nvme-fabrics for one.
 *
 * Context: process context, module exit.
 */
void polh_ctrls_delete_all(void)
{
	polh_ctrl_for_each(polh_ctrl_delete_one, NULL);
	flush_workqueue(nvme_delete_wq);
	while (!wait_event_timeout(polh_ctrls_empty, !READ_ONCE(polh_nr_ctrls), 5 * HZ))
		pr_warn_once("unloading waits until nobody holds a controller; an open /dev/nvme-fabrics holds the one made through it\n");
	/* Who freed the last one has let go of the lock. */
	mutex_lock(&polh_ctrls_lock);
	mutex_unlock(&polh_ctrls_lock);
}
