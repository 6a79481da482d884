// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens when a connection is lost, a command takes too long, a device goes away or the
 * target falls silent.
 *
 * All failures end in polh_recovery_fail(), which marks the controller and queues one worker. If
 * the controller was live, the worker takes down all queues, ends what was in flight and tries to
 * reconnect until the user's limit. In any other state somebody is connecting, resetting or
 * deleting, and waits for commands that will not be answered any more: then the worker stops all
 * queues and ends those commands, and that somebody does the rest. Either way every queue has been
 * drained before the first request ends.
 *
 * While a controller is connecting or going down a watch sees to it that a target which has been
 * asked something answers something every now and then; nvme-core's own time-outs are much longer.
 * A target that answers may take its time; but a deletion does not wait for a reset or a connect.
 *
 * Removal of a device is a failure like others, only that the objects on the device are given up on
 * the spot. The controller stays and comes back with the device.
 */
#include <linux/sched/mm.h>

#include "host/host.h"
#include "host/trace.h"

#define POLH_SILENCE_TIMEOUT	msecs_to_jiffies(10000)
#define POLH_SILENCE_SLICE	msecs_to_jiffies(1000)	/* how often is looked */

/**
 * polh_recovery_fail() - the controller has to be taken down
 * @ctrl: controller in any state
 *
 * Context: any.
 */
void polh_recovery_fail(struct polh_ctrl *ctrl)
{
	set_bit(POLH_CTRL_FAILED, &ctrl->flags);
	queue_work(polh_wq, &ctrl->recovery_work);
}

/**
 * polh_recovery_again() - decide what to do after a failed attempt to connect
 * @ctrl: controller that has been taken down
 * @status: of the attempt: -errno, or an NVMe status; 0 if there was none yet
 *
 * Context: process context.
 */
void polh_recovery_again(struct polh_ctrl *ctrl, int status)
{
	struct nvme_ctrl *nvme = &ctrl->nvme;

	if (polh_nvme_state(nvme) != NVME_CTRL_CONNECTING)
		return;
	if (polh_compat_should_reconnect(nvme, status)) {
		dev_info(nvme->device, "reconnecting in %u seconds\n",
			 nvme->opts->reconnect_delay);
		queue_delayed_work(polh_reconnect_wq, &ctrl->reconnect_work,
				   nvme->opts->reconnect_delay * HZ);
	} else {
		dev_info(nvme->device, "giving up, removing the controller\n");
		nvme_delete_ctrl(nvme);
	}
}

static void polh_recovery_reconnect_work(struct work_struct *work)
{
	struct polh_ctrl *ctrl = container_of(to_delayed_work(work), struct polh_ctrl,
					      reconnect_work);
	struct nvme_ctrl *nvme = &ctrl->nvme;
	unsigned int noio = memalloc_noio_save();
	int err;

	nvme->nr_reconnects++;
	/* A deletion ends it; one that had begun is seen when the first queue connects. */
	set_bit(POLH_CTRL_BUSY, &ctrl->flags);
	smp_mb__after_atomic();	/* with polh_recovery_state() */
	err = polh_ctrl_setup(ctrl, false);
	trace_polh_ctrl_reconnect(ctrl, err);
	if (err) {
		dev_info(nvme->device, "attempt %d to reconnect failed (%d)\n",
			 nvme->nr_reconnects, err);
		polh_recovery_again(ctrl, err);
	} else {
		ctrl->reconnects++;
		dev_info(nvme->device, "reconnected\n");
	}
	memalloc_noio_restore(noio);
}

static void polh_recovery_take_down(struct polh_ctrl *ctrl)
{
	struct nvme_ctrl *nvme = &ctrl->nvme;

	/*
	 * Nothing is quiesced: what comes meanwhile is refused, as it is while reconnecting, or
	 * goes another path. Whoever made the controller live a moment ago may still be about to
	 * unquiesce its disks, and nvme-core keeps one bit for all who do either: quiescing just
	 * then lasted for ever.
	 */
	polh_ctrl_drop(ctrl, 0);
	/*
	 * Not before: some kernels' keep-alive work (6.1's) waits for the answer to its command,
	 * which only the drop ends. Another one is refused at once.
	 */
	nvme_stop_keep_alive(nvme);
	flush_work(&nvme->async_event_work);
	polh_compat_stop_auth(nvme);
	if (nvme_change_ctrl_state(nvme, NVME_CTRL_CONNECTING)) {
		polh_ctrl_changed(ctrl);
		polh_recovery_again(ctrl, 0);
	}
}

static void polh_recovery_work(struct work_struct *work)
{
	struct polh_ctrl *ctrl = container_of(work, struct polh_ctrl, recovery_work);
	unsigned int noio;

	if (!test_bit(POLH_CTRL_FAILED, &ctrl->flags))
		return;
	noio = memalloc_noio_save();
	if (nvme_change_ctrl_state(&ctrl->nvme, NVME_CTRL_RESETTING)) {
		dev_warn(ctrl->nvme.device, "connection lost, recovering\n");
		polh_ctrl_changed(ctrl);
		polh_recovery_take_down(ctrl);
	} else {
		mutex_lock(&ctrl->lock);
		polh_queues_stop(ctrl, 0);
		polh_ctrl_cancel(ctrl, 0);
		mutex_unlock(&ctrl->lock);
		/*
		 * The failure may have been one of the attempt before, and this attempt not know of
		 * it. Either it sees the mark before it is live, or it is live here.
		 */
		set_bit(POLH_CTRL_FAILED, &ctrl->flags);
		smp_mb__after_atomic();	/* with polh_ctrl_setup() */
		if (polh_nvme_state(&ctrl->nvme) == NVME_CTRL_LIVE)
			polh_recovery_fail(ctrl);
	}
	memalloc_noio_restore(noio);
}

/* Gives up every object the controller has on a device. */
static void polh_recovery_give_up_device(struct polh_ctrl *ctrl, struct ib_device *ib)
{
	unsigned int noio = memalloc_noio_save();

	mutex_lock(&ctrl->lock);
	if (ctrl->device && ctrl->device->ib == ib) {
		dev_warn(ctrl->nvme.device, "%s is being removed\n", ctrl->device->name);
		/*
		 * First, or a path that is live by name takes everything back that another has
		 * given up. Under the lock: deletion has not taken it for the last time, so it will
		 * wait.
		 */
		polh_recovery_fail(ctrl);
		polh_queues_stop(ctrl, 0);
		polh_ctrl_cancel(ctrl, 0);
		polh_queues_disconnect(ctrl, 0);
	}
	mutex_unlock(&ctrl->lock);
	memalloc_noio_restore(noio);
}

/* rdma_cm knew of the removal first; it tells every queue that is being connected on the device. */
static void polh_recovery_removal_work(struct work_struct *work)
{
	struct polh_ctrl *ctrl = container_of(work, struct polh_ctrl, removal_work);

	polh_recovery_give_up_device(ctrl, READ_ONCE(ctrl->removed));
}

static int polh_recovery_visit(struct polh_ctrl *ctrl, void *arg)
{
	struct pol_device *device = arg;

	/* Who is not on the device now cannot come there any more, and is left alone. */
	smp_mb();	/* with polh_queue_get_device() */
	if (READ_ONCE(ctrl->device) != device)
		return 0;
	/* Whoever connects a queue on it lets go of the controller's lock soon. */
	atomic_inc(&ctrl->removals);
	wake_up_all(&ctrl->cm_wait);
	polh_recovery_give_up_device(ctrl, device->ib);
	atomic_dec(&ctrl->removals);
	return 0;
}

/**
 * polh_recovery_device_gone() - a device is being removed
 * @device: the device; nothing of ours is on it any more when this returns
 *
 * Context: process context; does not wait for peers.
 */
void polh_recovery_device_gone(struct pol_device *device)
{
	polh_ctrl_for_each(polh_recovery_visit, device);
}

static u64 polh_recovery_progress(const struct polh_ctrl *ctrl)
{
	u64 completions = 0;

	for (unsigned int i = 0; i < ctrl->nr_queues; i++)
		completions += READ_ONCE(ctrl->queues[i].reaped.completions);
	return completions;
}

/*
 * Does the target owe an answer? Whoever holds the lock connects a queue, which has its own limits,
 * or takes queues down.
 */
static bool polh_recovery_asked(struct polh_ctrl *ctrl)
{
	bool asked = false;

	if (!mutex_trylock(&ctrl->lock))
		return false;
	for (unsigned int i = 0; i < ctrl->nr_queues && !asked; i++)
		asked = polh_request_unanswered(&ctrl->queues[i]);
	mutex_unlock(&ctrl->lock);
	return asked;
}

static void polh_recovery_silence_begins(struct polh_ctrl *ctrl)
{
	ctrl->silence_seen = polh_recovery_progress(ctrl);
	ctrl->silence_since = jiffies;
}

static void polh_recovery_silence_work(struct work_struct *work)
{
	struct polh_ctrl *ctrl = container_of(to_delayed_work(work), struct polh_ctrl,
					      silence_work);

	if (polh_recovery_progress(ctrl) != ctrl->silence_seen || !polh_recovery_asked(ctrl)) {
		polh_recovery_silence_begins(ctrl);
	} else if (time_after_eq(jiffies, ctrl->silence_since + POLH_SILENCE_TIMEOUT)) {
		dev_warn(ctrl->nvme.device, "no answer from the target\n");
		polh_recovery_fail(ctrl);
		polh_recovery_silence_begins(ctrl);
	}
	queue_delayed_work(polh_wq, &ctrl->silence_work, POLH_SILENCE_SLICE);
}

/**
 * polh_recovery_watch() - fail the controller when the target falls silent
 * @ctrl: controller that is not live
 *
 * Silence counts while a command waits for its response, so neither while queues are being
 * connected nor while there is nothing to say.
 *
 * Context: process context.
 */
void polh_recovery_watch(struct polh_ctrl *ctrl)
{
	polh_recovery_silence_begins(ctrl);
	mod_delayed_work(polh_wq, &ctrl->silence_work, POLH_SILENCE_SLICE);
}

/**
 * polh_recovery_unwatch() - the target may be silent again
 * @ctrl: controller, watched or not
 *
 * A deletion begins to watch in polh_recovery_stop() and ends that in polh_recovery_exit().
 *
 * Context: process context; waits for a look that is under way.
 */
void polh_recovery_unwatch(struct polh_ctrl *ctrl)
{
	cancel_delayed_work_sync(&ctrl->silence_work);
}

static void polh_recovery_deadline_work(struct work_struct *work)
{
	struct polh_ctrl *ctrl = container_of(to_delayed_work(work), struct polh_ctrl,
					      deadline_work);

	dev_warn(ctrl->nvme.device, "deletion does not get on, giving up the connection\n");
	polh_recovery_fail(ctrl);
}

/*
 * Before nvme-core asks us to stop (polh_recovery_stop()) a deletion waits for whatever it finds: a
 * reset or an attempt to connect, which nobody needs any more; who reads a log page or
 * authenticates; and a firmware that is being activated. For some of these even a target that
 * answers may take minutes. A live controller is to be taken down in good order, so those others
 * have some time.
 *
 * Called at each change of state, under nvme-core's spinlock, with interrupts disabled.
 */
static int polh_recovery_state(struct wait_queue_entry *entry, unsigned int mode, int sync,
			       void *key)
{
	struct polh_ctrl *ctrl = container_of(entry, struct polh_ctrl, state_wait);

	if (polh_nvme_state(&ctrl->nvme) != NVME_CTRL_DELETING)
		return 0;
	smp_mb();	/* either the state is seen there or BUSY here */
	if (test_bit(POLH_CTRL_BUSY, &ctrl->flags))
		polh_recovery_fail(ctrl);
	queue_delayed_work(polh_wq, &ctrl->deadline_work, POLH_SILENCE_TIMEOUT);
	return 0;
}

/**
 * polh_recovery_stop() - nvme-core is about to reset or delete the controller
 * @ctrl: controller in state RESETTING or DELETING
 *
 * Neither recovery nor an attempt to reconnect is running or will start by itself after this.
 *
 * Context: process context.
 */
void polh_recovery_stop(struct polh_ctrl *ctrl)
{
	flush_work(&ctrl->recovery_work);
	cancel_delayed_work_sync(&ctrl->reconnect_work);
	if (polh_nvme_state(&ctrl->nvme) != NVME_CTRL_RESETTING) {
		cancel_delayed_work_sync(&ctrl->deadline_work);
		/*
		 * What is left in the disks' queues has to end, and soon, even while a firmware is
		 * activated.
		 */
		polh_compat_unquiesce_io(&ctrl->nvme);
		polh_recovery_watch(ctrl);
	}
}

/**
 * polh_recovery_exit() - the controller has been taken down for good
 * @ctrl: controller without a connected queue
 *
 * Context: process context.
 */
void polh_recovery_exit(struct polh_ctrl *ctrl)
{
	remove_wait_queue(&ctrl->nvme.state_wq, &ctrl->state_wait);
	cancel_delayed_work_sync(&ctrl->deadline_work);
	polh_compat_stop_leftovers(&ctrl->nvme);
	cancel_delayed_work_sync(&ctrl->silence_work);
	cancel_delayed_work_sync(&ctrl->reconnect_work);
	cancel_work_sync(&ctrl->removal_work);
	cancel_work_sync(&ctrl->recovery_work);
}

/**
 * polh_recovery_init() - prepare the works of a new controller
 * @ctrl: controller that nvme-core does not know yet
 *
 * Context: process context. Nothing has to be undone before polh_recovery_begin().
 */
void polh_recovery_init(struct polh_ctrl *ctrl)
{
	INIT_WORK(&ctrl->recovery_work, polh_recovery_work);
	INIT_DELAYED_WORK(&ctrl->reconnect_work, polh_recovery_reconnect_work);
	INIT_WORK(&ctrl->removal_work, polh_recovery_removal_work);
	INIT_DELAYED_WORK(&ctrl->silence_work, polh_recovery_silence_work);
	INIT_DELAYED_WORK(&ctrl->deadline_work, polh_recovery_deadline_work);
	init_waitqueue_func_entry(&ctrl->state_wait, polh_recovery_state);
}

/**
 * polh_recovery_begin() - hear of every change of a controller's state
 * @ctrl: controller that nvme-core has initialised and that has not been connected yet
 *
 * A deletion that does not get on is helped from here on. The opposite is polh_recovery_exit().
 *
 * Context: process context.
 */
void polh_recovery_begin(struct polh_ctrl *ctrl)
{
	add_wait_queue(&ctrl->nvme.state_wq, &ctrl->state_wait);
}
