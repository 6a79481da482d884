// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of controllers: made by Connect on an admin queue, joined by Connect on I/O queues,
 * enabled and shut down through CC, ended when the admin queue ends, when the host is silent for
 * longer than it promised, or when the administrator takes away what they are about.
 *
 * Ending only marks: the controller's queues are failed, end on their own and report back through
 * polt_ctrl_queue_gone() (no RDMA half any more) and polt_ctrl_put() (no command in a disk any
 * more). Between the two the controller is dead but not gone, and holds back CSTS.RDY of the same
 * host's next one, for as long as CAP.TO at most.
 *
 * Locks, outermost first: polt_config_lock (callers'; a controller is made under it, so that none
 * comes between the check of a change and its effect), polt_subsystem.ctrl_lock (the list of
 * controllers; whether one may be added), polt_ctrl.lock (everything that changes in one). The
 * reference count is that of queues alone. Groups' threads take no lock: they read `state` and set
 * `alive`.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jiffies.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "target/ctrl.h"
#include "target/netlink.h"
#include "target/queue.h"
#include "target/sqe.h"
#include "target/trace.h"

/* How long Connect waits for an older queue of the same QID that is ending already. */
#define POLT_CTRL_QUEUE_WAIT_MS	5000
/* How often a controller that is being enabled looks whether the host's dead ones are gone. */
#define POLT_CTRL_READY_MS	10

/* CAP */
#define POLT_CAP_CQR		(1ULL << 16)
#define POLT_CAP_TO_SHIFT	24
#define POLT_CAP_CSS_SHIFT	37

static struct workqueue_struct *polt_ctrl_wq;

/* Which states may follow which. */
static const u8 polt_ctrl_next[] = {
	[POLT_CTRL_DISABLED] = BIT(POLT_CTRL_ENABLING) | BIT(POLT_CTRL_SHUTDOWN) |
			       BIT(POLT_CTRL_FAILED) | BIT(POLT_CTRL_DELETING),
	[POLT_CTRL_ENABLING] = BIT(POLT_CTRL_READY) | BIT(POLT_CTRL_DISABLED) |
			       BIT(POLT_CTRL_SHUTDOWN) | BIT(POLT_CTRL_FAILED) |
			       BIT(POLT_CTRL_DELETING),
	[POLT_CTRL_READY] = BIT(POLT_CTRL_DISABLED) | BIT(POLT_CTRL_SHUTDOWN) |
			    BIT(POLT_CTRL_DELETING),
	[POLT_CTRL_SHUTDOWN] = BIT(POLT_CTRL_DISABLED) | BIT(POLT_CTRL_ENABLING) |
			       BIT(POLT_CTRL_FAILED) | BIT(POLT_CTRL_DELETING),
	[POLT_CTRL_FAILED] = BIT(POLT_CTRL_DISABLED) | BIT(POLT_CTRL_DELETING),
	[POLT_CTRL_DELETING] = 0,
};

static void polt_ctrl_fill_info(const struct polt_ctrl *ctrl, struct polt_ctrl_info *info)
{
	lockdep_assert_held(&ctrl->lock);
	info->subsystem = ctrl->subsystem;
	info->cntlid = ctrl->cntlid;
	info->discovery = ctrl->subsystem->discovery;
	info->state = ctrl->state;
	info->hostnqn = ctrl->hostnqn;
	info->hostid = ctrl->features.hostid;
	info->host_traddr = ctrl->peer;
	info->port_id = ctrl->port->id;
	info->kato_ms = ctrl->features.kato_ms;
	info->queues = ctrl->nr_queues;
	info->age_ms = jiffies64_to_msecs(get_jiffies_64() - ctrl->created);
}

/* User space hears of it. */
static void polt_ctrl_changed(const struct polt_ctrl *ctrl)
{
	struct polt_ctrl_info info;

	polt_ctrl_fill_info(ctrl, &info);
	polt_netlink_ctrl_changed(&info);
}

static void polt_ctrl_set_state(struct polt_ctrl *ctrl, enum polt_ctrl_state state)
{
	lockdep_assert_held(&ctrl->lock);
	WARN_ON_ONCE(!pol_state_may(polt_ctrl_next, ctrl->state, state));
	trace_polt_ctrl_state(ctrl, ctrl->state, state);
	WRITE_ONCE(ctrl->state, state);
	polt_ctrl_changed(ctrl);
}

/*
 * The association ends: nothing more is taken from the host, every queue goes. The queues are
 * marked first: what then finds the controller ending gives the host no error, which learns of it
 * by the lost connection (polt_command_keeps_quiet()).
 */
static void polt_ctrl_end(struct polt_ctrl *ctrl, const char *why)
{
	unsigned int qid;

	lockdep_assert_held(&ctrl->lock);
	if (ctrl->state == POLT_CTRL_DELETING)
		return;
	for (qid = 0; qid <= POLT_IO_QUEUES_MAX; qid++)
		if (ctrl->queues[qid])
			polt_queue_end(ctrl->queues[qid], why);
	smp_wmb();	/* pairs with polt_command_keeps_quiet() */
	polt_ctrl_set_state(ctrl, POLT_CTRL_DELETING);
}

/*
 * Keep-alive. Every command sets the flag, the work looks at it once per period. So a silent host
 * is noticed after one to two periods, and neither a busy host nor one that is still connecting
 * its queues needs a Keep Alive command.
 */
static unsigned long polt_ctrl_alive_period(const struct polt_ctrl *ctrl)
{
	u32 ms = ctrl->features.kato_ms;

	if (!ms && ctrl->subsystem->discovery)
		ms = POLT_DISCOVERY_KATO_MS;
	return msecs_to_jiffies(ms);
}

static void polt_ctrl_alive_work(struct work_struct *work)
{
	struct polt_ctrl *ctrl = container_of(to_delayed_work(work), struct polt_ctrl, alive_work);
	unsigned long period;

	mutex_lock(&ctrl->lock);
	period = polt_ctrl_alive_period(ctrl);
	if (ctrl->state == POLT_CTRL_DELETING || !period)
		goto unlock;
	if (READ_ONCE(ctrl->alive)) {
		WRITE_ONCE(ctrl->alive, false);
		queue_delayed_work(polt_ctrl_wq, &ctrl->alive_work, period);
		goto unlock;
	}
	pr_info_ratelimited("%s: controller %u: host %s (%s) was silent for %u ms\n",
			    ctrl->subsystem->nqn, ctrl->cntlid, ctrl->hostnqn, ctrl->peer,
			    jiffies_to_msecs(period));
	polt_ctrl_end(ctrl, "keep-alive timeout");
unlock:
	mutex_unlock(&ctrl->lock);
}

/**
 * polt_ctrl_restart_alive - begin a new keep-alive period
 * @ctrl: a controller whose keep-alive timeout has changed, or that is new
 *
 * Without a timeout there is none, but of a discovery controller POLT_DISCOVERY_KATO_MS. Process
 * context, with the controller's lock. (NVMe Base Specification, "Keep Alive".)
 */
void polt_ctrl_restart_alive(struct polt_ctrl *ctrl)
{
	unsigned long period = polt_ctrl_alive_period(ctrl);

	lockdep_assert_held(&ctrl->lock);
	polt_ctrl_alive(ctrl);
	if (period && ctrl->state != POLT_CTRL_DELETING)
		mod_delayed_work(polt_ctrl_wq, &ctrl->alive_work, period);
	else
		cancel_delayed_work(&ctrl->alive_work);
}

static bool polt_ctrl_same_host(const struct polt_ctrl *a, const struct polt_ctrl *b)
{
	return !strcmp(a->hostnqn, b->hostnqn);
}

/* The association ends or is about to: the host has let go of its admin queue. */
static bool polt_ctrl_is_ending(const struct polt_ctrl *ctrl)
{
	lockdep_assert_held(&ctrl->lock);
	return ctrl->state == POLT_CTRL_DELETING ||
	       (ctrl->queues[0] && test_bit(POLT_QUEUE_ENDING, &ctrl->queues[0]->flags));
}

/* Does an I/O queue of it still take commands though it ends, or is one of them in a disk? */
static bool polt_ctrl_has_leftovers(const struct polt_ctrl *ctrl)
{
	unsigned int qid;

	lockdep_assert_held(&ctrl->lock);
	for (qid = 1; qid <= POLT_IO_QUEUES_MAX; qid++)
		if (ctrl->queues[qid] && test_bit(POLT_QUEUE_ENDING, &ctrl->queues[qid]->flags))
			return true;
	return kref_read(&ctrl->ref) > ctrl->nr_queues;
}

/*
 * May a command of the host still reach a disk that it gave before this controller was enabled?
 * From a dead controller, one that it has disabled or shut down and is about to leave, or from a
 * queue of this one that was there before it was disabled.
 */
static bool polt_ctrl_must_wait(struct polt_ctrl *ctrl)
{
	struct polt_ctrl *other;
	bool wait = false;

	lockdep_assert_held(&ctrl->subsystem->ctrl_lock);
	lockdep_assert_held(&ctrl->lock);
	if (ctrl->subsystem->discovery)
		return false;
	list_for_each_entry(other, &ctrl->subsystem->ctrls, entry) {
		if (other == ctrl || !polt_ctrl_same_host(other, ctrl))
			continue;
		/* Two controllers' locks are held under ctrl_lock only. */
		mutex_lock_nested(&other->lock, SINGLE_DEPTH_NESTING);
		wait = polt_ctrl_is_ending(other) ||
		       (other->state != POLT_CTRL_READY && polt_ctrl_has_leftovers(other));
		mutex_unlock(&other->lock);
		if (wait)
			return true;
	}
	return polt_ctrl_has_leftovers(ctrl);
}

static void polt_ctrl_try_ready(struct polt_ctrl *ctrl)
{
	if (!polt_ctrl_must_wait(ctrl)) {
		polt_ctrl_set_state(ctrl, POLT_CTRL_READY);
	} else if (time_before(jiffies, ctrl->ready_deadline)) {
		queue_delayed_work(polt_ctrl_wq, &ctrl->ready_work,
				   msecs_to_jiffies(POLT_CTRL_READY_MS));
	} else {
		pr_warn("%s: controller %u: commands of an earlier connection of %s are still in a disk\n",
			ctrl->subsystem->nqn, ctrl->cntlid, ctrl->hostnqn);
		polt_ctrl_set_state(ctrl, POLT_CTRL_FAILED);
	}
}

static void polt_ctrl_ready_work(struct work_struct *work)
{
	struct polt_ctrl *ctrl = container_of(to_delayed_work(work), struct polt_ctrl, ready_work);

	mutex_lock(&ctrl->subsystem->ctrl_lock);
	mutex_lock(&ctrl->lock);
	if (ctrl->state == POLT_CTRL_ENABLING)
		polt_ctrl_try_ready(ctrl);
	mutex_unlock(&ctrl->lock);
	mutex_unlock(&ctrl->subsystem->ctrl_lock);
}

/*
 * A controller reset: what the host has set, and what it has been told, is as after Connect (NVMe
 * Base Specification, "Controller Level Reset"). Who it is, and its keep-alive timer, belong to the
 * association, which goes on.
 */
static void polt_ctrl_disable(struct polt_ctrl *ctrl)
{
	unsigned int qid;

	for (qid = 1; qid <= POLT_IO_QUEUES_MAX; qid++)
		if (ctrl->queues[qid])
			polt_queue_end(ctrl->queues[qid], "controller disabled by the host");
	polt_aen_end(ctrl);
	memset(ctrl->events.changed, 0, sizeof(ctrl->events.changed));
	polt_features_reset(&ctrl->features);
	spin_lock_irq(&ctrl->errors_lock);
	polt_log_clear_errors(&ctrl->errors);
	spin_unlock_irq(&ctrl->errors_lock);
	polt_ctrl_set_state(ctrl, POLT_CTRL_DISABLED);
}

static void polt_ctrl_enable(struct polt_ctrl *ctrl)
{
	if (!polt_sqe_can_enable(ctrl->cc, ctrl->subsystem->discovery)) {
		pr_warn_ratelimited("%s: controller %u: %s enables it with CC %#x, which it cannot do\n",
				    ctrl->subsystem->nqn, ctrl->cntlid, ctrl->hostnqn, ctrl->cc);
		polt_ctrl_set_state(ctrl, POLT_CTRL_FAILED);
		return;
	}
	polt_ctrl_set_state(ctrl, POLT_CTRL_ENABLING);
	ctrl->ready_deadline = jiffies + msecs_to_jiffies(POLT_CAP_TO * POLT_CAP_TO_UNIT_MS);
	polt_ctrl_try_ready(ctrl);
}

/**
 * polt_ctrl_write_cc - the host writes CC
 * @ctrl: the controller
 * @cc: what it writes
 *
 * Process context. What comes of it is seen in CSTS (NVMe Base Specification, "Controller
 * Configuration").
 */
void polt_ctrl_write_cc(struct polt_ctrl *ctrl, u32 cc)
{
	u32 old;

	mutex_lock(&ctrl->subsystem->ctrl_lock);
	mutex_lock(&ctrl->lock);
	old = ctrl->cc;
	ctrl->cc = cc;
	if (ctrl->state == POLT_CTRL_DELETING)
		goto unlock;
	if ((old & NVME_CC_ENABLE) && !(cc & NVME_CC_ENABLE))
		polt_ctrl_disable(ctrl);
	else if (!(old & NVME_CC_ENABLE) && (cc & NVME_CC_ENABLE))
		polt_ctrl_enable(ctrl);
	if ((cc & NVME_CC_SHN_MASK) && !(old & NVME_CC_SHN_MASK) &&
	    ctrl->state != POLT_CTRL_FAILED && ctrl->state != POLT_CTRL_SHUTDOWN)
		polt_ctrl_set_state(ctrl, POLT_CTRL_SHUTDOWN);
unlock:
	mutex_unlock(&ctrl->lock);
	mutex_unlock(&ctrl->subsystem->ctrl_lock);
}

/**
 * polt_ctrl_csts - CSTS as the host reads it (NVMe Base Specification, "Controller Status")
 * @ctrl: the controller. Any context
 */
u32 polt_ctrl_csts(const struct polt_ctrl *ctrl)
{
	switch (READ_ONCE(ctrl->state)) {
	case POLT_CTRL_READY:
		return NVME_CSTS_RDY;
	case POLT_CTRL_SHUTDOWN:
		return NVME_CSTS_SHST_CMPLT | (READ_ONCE(ctrl->cc) & NVME_CC_ENABLE);
	case POLT_CTRL_FAILED:
	case POLT_CTRL_DELETING:
		return NVME_CSTS_CFS;
	case POLT_CTRL_DISABLED:
	case POLT_CTRL_ENABLING:
		break;
	}
	return 0;
}

/**
 * polt_ctrl_cap - CAP as the host reads it (NVMe Base Specification, "Controller Capabilities")
 * @ctrl: the controller. Any context
 */
u64 polt_ctrl_cap(const struct polt_ctrl *ctrl)
{
	return (ctrl->depth - 1) | POLT_CAP_CQR | (u64)POLT_CAP_TO << POLT_CAP_TO_SHIFT |
	       (u64)NVME_CAP_CSS_NVM << POLT_CAP_CSS_SHIFT;
}

/**
 * polt_ctrl_log_error - keep in the error log that a command has failed
 * @ctrl: the controller
 * @qid: queue that the command came on
 * @sqe: the command
 * @status: NVMe status, not shifted
 *
 * Any context. (NVMe Base Specification, "Error Information".)
 */
void polt_ctrl_log_error(struct polt_ctrl *ctrl, u16 qid, const struct nvme_command *sqe,
			 u16 status)
{
	unsigned long flags;

	spin_lock_irqsave(&ctrl->errors_lock, flags);
	polt_log_add_error(&ctrl->errors, qid, sqe, status);
	spin_unlock_irqrestore(&ctrl->errors_lock, flags);
}

static void polt_ctrl_release_work(struct work_struct *work)
{
	struct polt_ctrl *ctrl = container_of(work, struct polt_ctrl, release_work);
	struct polt_subsystem *subsystem = ctrl->subsystem;

	mutex_lock(&subsystem->ctrl_lock);
	list_del(&ctrl->entry);
	mutex_unlock(&subsystem->ctrl_lock);
	cancel_delayed_work_sync(&ctrl->ready_work);
	cancel_delayed_work_sync(&ctrl->alive_work);
	polt_netlink_ctrl_gone(subsystem, ctrl->cntlid);
	ida_free(&subsystem->cntlids, ctrl->cntlid);
	polt_port_put(ctrl->port);
	polt_subsystem_put(subsystem);
	mutex_destroy(&ctrl->lock);
	kfree(ctrl);
}

/* The last queue may be freed by a group's thread, which must not sleep. */
static void polt_ctrl_release(struct kref *ref)
{
	struct polt_ctrl *ctrl = container_of(ref, struct polt_ctrl, ref);

	queue_work(polt_ctrl_wq, &ctrl->release_work);
}

/**
 * polt_ctrl_put - give a queue's reference back
 * @ctrl: the controller; freed by a worker after the last one
 *
 * A queue does so when its storage half is gone. Any context.
 */
void polt_ctrl_put(struct polt_ctrl *ctrl)
{
	kref_put(&ctrl->ref, polt_ctrl_release);
}

static void polt_ctrl_attach(struct polt_ctrl *ctrl, struct polt_queue *queue)
{
	ctrl->queues[queue->qid] = queue;
	ctrl->nr_queues++;
	WRITE_ONCE(queue->ctrl, ctrl);
}

/**
 * polt_ctrl_queue_ends - a queue is about to end: the association ends with its admin queue
 * @ctrl: its controller
 * @queue: a queue that has been marked. Process context, sleeps
 */
void polt_ctrl_queue_ends(struct polt_ctrl *ctrl, struct polt_queue *queue)
{
	mutex_lock(&ctrl->lock);
	if (ctrl->queues[queue->qid] == queue && !queue->qid)
		polt_ctrl_end(ctrl, "the admin queue ends");
	mutex_unlock(&ctrl->lock);
}

/**
 * polt_ctrl_queue_gone - a queue's RDMA half is gone: forget the queue
 * @ctrl: its controller; the queue's reference stays
 * @queue: the queue; nothing happens if that has been said already
 *
 * With the admin queue the association ends, and the Asynchronous Event Requests that it held
 * complete. A queue that has no controller then is looked at again at the end of its storage half:
 * a Connect that was executing may have joined one. Process context, sleeps.
 */
void polt_ctrl_queue_gone(struct polt_ctrl *ctrl, struct polt_queue *queue)
{
	bool last = false;

	mutex_lock(&ctrl->lock);
	if (ctrl->queues[queue->qid] == queue) {
		ctrl->queues[queue->qid] = NULL;
		last = !--ctrl->nr_queues;
		if (!queue->qid) {
			polt_ctrl_end(ctrl, "the admin queue has ended");
			polt_aen_end(ctrl);
		}
	}
	mutex_unlock(&ctrl->lock);
	wake_up_all(&ctrl->queue_gone);
	if (last)
		polt_config_reap();
}

static struct polt_ctrl *polt_ctrl_alloc(struct polt_queue *queue,
					 const struct polt_connect_request *request,
					 struct polt_subsystem *subsystem)
{
	struct polt_ctrl *ctrl = kzalloc(sizeof(*ctrl), GFP_KERNEL);

	if (!ctrl)
		return NULL;
	ctrl->subsystem = polt_subsystem_get(subsystem);
	ctrl->port = polt_port_get(queue->port);
	ctrl->depth = READ_ONCE(queue->port->max_queue_depth);
	ctrl->inline_size = READ_ONCE(queue->port->inline_data_size);
	ctrl->created = get_jiffies_64();
	strscpy(ctrl->hostnqn, request->hostnqn, sizeof(ctrl->hostnqn));
	strscpy(ctrl->peer, queue->peer, sizeof(ctrl->peer));
	kref_init(&ctrl->ref);
	mutex_init(&ctrl->lock);
	polt_features_init(&ctrl->features, subsystem->discovery, POLT_IO_QUEUES_MAX,
			   request->kato_ms, &request->hostid);
	spin_lock_init(&ctrl->errors_lock);
	init_waitqueue_head(&ctrl->queue_gone);
	INIT_DELAYED_WORK(&ctrl->ready_work, polt_ctrl_ready_work);
	INIT_DELAYED_WORK(&ctrl->alive_work, polt_ctrl_alive_work);
	INIT_WORK(&ctrl->release_work, polt_ctrl_release_work);
	return ctrl;
}

static void polt_ctrl_free(struct polt_ctrl *ctrl)
{
	polt_port_put(ctrl->port);
	polt_subsystem_put(ctrl->subsystem);
	mutex_destroy(&ctrl->lock);
	kfree(ctrl);
}

static u16 polt_ctrl_refuse(u32 *result, u32 at)
{
	*result = at;
	return NVME_SC_CONNECT_INVALID_PARAM | NVME_STATUS_DNR;
}

/* May the host have a controller of the subsystem, through this port? With ctrl_lock held. */
static u16 polt_ctrl_permit(const struct polt_queue *queue, struct polt_subsystem *subsystem,
			    const char *hostnqn, u32 *result)
{
	lockdep_assert_held(&subsystem->ctrl_lock);
	if (subsystem->dead)
		return polt_ctrl_refuse(result, POLT_CONNECT_AT_DATA(subsysnqn));
	if (!polt_port_exports(queue->port, subsystem))
		return polt_ctrl_refuse(result, POLT_CONNECT_AT_DATA(subsysnqn));
	if (!polt_subsystem_allows(subsystem, hostnqn)) {
		*result = POLT_CONNECT_AT_DATA(hostnqn);
		return NVME_SC_CONNECT_INVALID_HOST | NVME_STATUS_DNR;
	}
	return NVME_SC_SUCCESS;
}

static u16 polt_ctrl_add(struct polt_queue *queue, const struct polt_connect_request *request,
			 struct polt_subsystem *subsystem, u32 *result)
{
	struct polt_ctrl *ctrl;
	int id;
	u16 status;

	lockdep_assert_held(&subsystem->ctrl_lock);
	status = polt_ctrl_permit(queue, subsystem, request->hostnqn, result);
	if (status)
		return status;

	ctrl = polt_ctrl_alloc(queue, request, subsystem);
	if (!ctrl)
		return NVME_SC_INTERNAL;
	id = ida_alloc_range(&subsystem->cntlids, subsystem->cntlid_min, subsystem->cntlid_max,
			     GFP_KERNEL);
	if (id < 0) {
		polt_ctrl_free(ctrl);
		return id == -ENOSPC ? NVME_SC_CONNECT_CTRL_BUSY : NVME_SC_INTERNAL;
	}
	ctrl->cntlid = id;
	list_add_tail(&ctrl->entry, &subsystem->ctrls);

	mutex_lock(&ctrl->lock);
	polt_ctrl_restart_alive(ctrl);
	polt_ctrl_attach(ctrl, queue);
	polt_ctrl_changed(ctrl);
	mutex_unlock(&ctrl->lock);
	*result = ctrl->cntlid;
	return NVME_SC_SUCCESS;
}

/**
 * polt_ctrl_create - Connect on an admin queue makes a controller
 * @queue: not connected yet; holds a reference to the controller afterwards
 * @request: well-formed
 * @result: CDW0 of the response: CNTLID, or what is to blame
 *
 * Process context, sleeps; takes polt_config_lock.
 *
 * Return: NVMe status.
 */
u16 polt_ctrl_create(struct polt_queue *queue, const struct polt_connect_request *request,
		     u32 *result)
{
	struct polt_subsystem *subsystem = polt_subsystem_find(request->subnqn);
	u16 status;

	if (!subsystem)
		return polt_ctrl_refuse(result, POLT_CONNECT_AT_DATA(subsysnqn));
	if (subsystem->discovery && !polt_admission_discover(queue)) {
		polt_subsystem_put(subsystem);
		return NVME_SC_CONNECT_CTRL_BUSY;
	}
	mutex_lock(&polt_config_lock);
	mutex_lock(&subsystem->ctrl_lock);
	status = polt_ctrl_add(queue, request, subsystem, result);
	mutex_unlock(&subsystem->ctrl_lock);
	mutex_unlock(&polt_config_lock);
	polt_subsystem_put(subsystem);
	return status;
}

/* With a reference, so that the controller stays while nobody holds ctrl_lock. */
static struct polt_ctrl *polt_ctrl_find(struct polt_subsystem *subsystem, u16 cntlid)
{
	struct polt_ctrl *ctrl;

	lockdep_assert_held(&subsystem->ctrl_lock);
	list_for_each_entry(ctrl, &subsystem->ctrls, entry)
		if (ctrl->cntlid == cntlid)
			return kref_get_unless_zero(&ctrl->ref) ? ctrl : NULL;
	return NULL;
}

/* A host whose controller ends under its hands may come again; it has made no mistake. */
static u16 polt_ctrl_check_ready(const struct polt_ctrl *ctrl)
{
	switch (ctrl->state) {
	case POLT_CTRL_READY:
		return NVME_SC_SUCCESS;
	case POLT_CTRL_DELETING:
		return NVME_SC_CONNECT_CTRL_BUSY;
	default:
		return NVME_SC_CMD_SEQ_ERROR | NVME_STATUS_DNR;
	}
}

/* Is the queue one of the controller's, by everything the host says? */
static u16 polt_ctrl_check_join(const struct polt_ctrl *ctrl, const struct polt_queue *queue,
				const struct polt_connect_request *request, u32 *result)
{
	if (strcmp(ctrl->hostnqn, request->hostnqn)) {
		*result = POLT_CONNECT_AT_DATA(hostnqn);
		return NVME_SC_CONNECT_INVALID_HOST | NVME_STATUS_DNR;
	}
	if (!uuid_equal(&ctrl->features.hostid, &request->hostid))
		return polt_ctrl_refuse(result, POLT_CONNECT_AT_DATA(hostid));
	if (ctrl->port != queue->port)
		return polt_ctrl_refuse(result, POLT_CONNECT_AT_DATA(cntlid));
	if (ctrl->subsystem->discovery || queue->qid > ctrl->features.io_queues)
		return polt_ctrl_refuse(result, POLT_CONNECT_AT_SQE(qid));
	if (request->entries > ctrl->depth)
		return polt_ctrl_refuse(result, POLT_CONNECT_AT_SQE(sqsize));
	/* The port's in-capsule size was made smaller since Identify promised it: connect anew. */
	if (queue->inline_size < ctrl->inline_size)
		return NVME_SC_CONNECT_CTRL_BUSY;
	return polt_ctrl_check_ready(ctrl);
}

/*
 * A host that lost its link may come back before its old queue has ended. If that is on its way,
 * wait for it; a queue that is in use keeps its place. With the controller's lock held, which is
 * released while it waits.
 */
static u16 polt_ctrl_vacate(struct polt_ctrl *ctrl, u16 qid)
{
	unsigned long left = msecs_to_jiffies(POLT_CTRL_QUEUE_WAIT_MS);

	while (ctrl->queues[qid]) {
		if (!test_bit(POLT_QUEUE_ENDING, &ctrl->queues[qid]->flags))
			return NVME_SC_CMD_SEQ_ERROR | NVME_STATUS_DNR;
		mutex_unlock(&ctrl->lock);
		left = wait_event_timeout(ctrl->queue_gone, !READ_ONCE(ctrl->queues[qid]), left);
		mutex_lock(&ctrl->lock);
		if (!left && ctrl->queues[qid])
			return NVME_SC_CONNECT_CTRL_BUSY;
	}
	return NVME_SC_SUCCESS;
}

/**
 * polt_ctrl_join - Connect on an I/O queue adds it to a controller
 * @queue: not connected yet; holds a reference to the controller afterwards
 * @request: well-formed
 * @result: CDW0 of the response: CNTLID, or what is to blame
 *
 * Process context, sleeps; POLT_CTRL_QUEUE_WAIT_MS at most for an old queue to end.
 *
 * Return: NVMe status.
 */
u16 polt_ctrl_join(struct polt_queue *queue, const struct polt_connect_request *request,
		   u32 *result)
{
	struct polt_subsystem *subsystem = polt_subsystem_find(request->subnqn);
	struct polt_ctrl *ctrl;
	u16 status;

	if (!subsystem)
		return polt_ctrl_refuse(result, POLT_CONNECT_AT_DATA(subsysnqn));
	mutex_lock(&subsystem->ctrl_lock);
	ctrl = polt_ctrl_find(subsystem, request->cntlid);
	mutex_unlock(&subsystem->ctrl_lock);
	polt_subsystem_put(subsystem);
	if (!ctrl)
		return polt_ctrl_refuse(result, POLT_CONNECT_AT_DATA(cntlid));

	mutex_lock(&ctrl->lock);
	status = polt_ctrl_check_join(ctrl, queue, request, result);
	if (status)
		goto err_join;
	status = polt_ctrl_vacate(ctrl, queue->qid);
	if (status)
		goto err_join;
	/* It may have ended while nobody held the lock. */
	status = polt_ctrl_check_ready(ctrl);
	if (status)
		goto err_join;
	polt_ctrl_alive(ctrl);
	polt_ctrl_attach(ctrl, queue);
	*result = ctrl->cntlid;
	mutex_unlock(&ctrl->lock);
	return NVME_SC_SUCCESS;

err_join:
	mutex_unlock(&ctrl->lock);
	polt_ctrl_put(ctrl);
	return status;
}

static bool polt_ctrl_matches(const struct polt_ctrl *ctrl, const char *hostnqn,
			      const struct polt_port *port)
{
	return (!hostnqn || !strcmp(ctrl->hostnqn, hostnqn)) && (!port || ctrl->port == port);
}

static void polt_ctrl_fail(struct polt_subsystem *subsystem, const struct polt_port *port,
			   const char *why)
{
	struct polt_ctrl *ctrl;

	mutex_lock(&subsystem->ctrl_lock);
	list_for_each_entry(ctrl, &subsystem->ctrls, entry) {
		if (!polt_ctrl_matches(ctrl, NULL, port))
			continue;
		mutex_lock(&ctrl->lock);
		polt_ctrl_end(ctrl, why);
		mutex_unlock(&ctrl->lock);
	}
	mutex_unlock(&subsystem->ctrl_lock);
}

/**
 * polt_ctrl_fail_subsystem - end every controller of a subsystem
 * @subsystem: a dead one: no controller is added any more
 *
 * Only marks. Process context, sleeps; takes ctrl_lock.
 */
void polt_ctrl_fail_subsystem(struct polt_subsystem *subsystem)
{
	polt_ctrl_fail(subsystem, NULL, "its subsystem is deleted");
}

/**
 * polt_ctrl_fail_port - end the controllers of a subsystem that came through a port
 * @port: the port, which offers the subsystem no more
 * @subsystem: the subsystem
 *
 * Only marks. Process context, sleeps; takes ctrl_lock.
 */
void polt_ctrl_fail_port(struct polt_port *port, struct polt_subsystem *subsystem)
{
	polt_ctrl_fail(subsystem, port, "its subsystem is not offered on the port any more");
}

/**
 * polt_ctrl_fail_host - end controllers of hosts that are not allowed any more
 * @subsystem: whose controllers
 * @hostnqn: the host in question, NULL: any
 *
 * Only marks, and spares those whose host is allowed. Process context, sleeps; takes ctrl_lock.
 */
void polt_ctrl_fail_host(struct polt_subsystem *subsystem, const char *hostnqn)
{
	struct polt_ctrl *ctrl;

	mutex_lock(&subsystem->ctrl_lock);
	list_for_each_entry(ctrl, &subsystem->ctrls, entry) {
		if (!polt_ctrl_matches(ctrl, hostnqn, NULL) ||
		    polt_subsystem_allows(subsystem, ctrl->hostnqn))
			continue;
		mutex_lock(&ctrl->lock);
		polt_ctrl_end(ctrl, "its host is not allowed any more");
		mutex_unlock(&ctrl->lock);
	}
	mutex_unlock(&subsystem->ctrl_lock);
}

/**
 * polt_ctrl_any - does a controller have a queue whose RDMA half is not gone?
 * @subsystem: whose controllers
 * @hostnqn: of this host only, NULL: of any
 * @port: come through this port only, NULL: through any
 *
 * When the last such queue of a controller goes, polt_config_reap() is called. Process context,
 * sleeps; takes ctrl_lock.
 */
bool polt_ctrl_any(struct polt_subsystem *subsystem, const char *hostnqn, struct polt_port *port)
{
	struct polt_ctrl *ctrl;
	bool any = false;

	mutex_lock(&subsystem->ctrl_lock);
	list_for_each_entry(ctrl, &subsystem->ctrls, entry)
		if (polt_ctrl_matches(ctrl, hostnqn, port) && READ_ONCE(ctrl->nr_queues)) {
			any = true;
			break;
		}
	mutex_unlock(&subsystem->ctrl_lock);
	return any;
}

static int polt_ctrl_visit(struct polt_ctrl *ctrl,
			   int (*visit)(const struct polt_ctrl_info *info, void *arg), void *arg)
{
	struct polt_ctrl_info info;

	mutex_lock(&ctrl->lock);
	polt_ctrl_fill_info(ctrl, &info);
	mutex_unlock(&ctrl->lock);
	return visit(&info, arg);
}

/**
 * polt_ctrl_for_each - look at the controllers of a subsystem, those that are ending too
 * @subsystem: the subsystem
 * @visit: called with ctrl_lock held; what it is shown is good until it returns
 * @arg: given to @visit
 *
 * Process context, sleeps.
 *
 * Return: 0, or what the first @visit that returned something else returned.
 */
int polt_ctrl_for_each(struct polt_subsystem *subsystem,
		       int (*visit)(const struct polt_ctrl_info *info, void *arg), void *arg)
{
	struct polt_ctrl *ctrl;
	int ret = 0;

	mutex_lock(&subsystem->ctrl_lock);
	list_for_each_entry(ctrl, &subsystem->ctrls, entry) {
		ret = polt_ctrl_visit(ctrl, visit, arg);
		if (ret)
			break;
	}
	mutex_unlock(&subsystem->ctrl_lock);
	return ret;
}

/**
 * polt_ctrls_init - before the first queue
 *
 * Return: 0 or -ENOMEM.
 */
int polt_ctrls_init(void)
{
	polt_ctrl_wq = alloc_workqueue("pollard-ctrl", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return polt_ctrl_wq ? 0 : -ENOMEM;
}

/**
 * polt_ctrls_exit - wait until the works of controllers that are gone have run
 *
 * After polt_queues_exit(), which has put the last controller. Process context, sleeps.
 */
void polt_ctrls_exit(void)
{
	destroy_workqueue(polt_ctrl_wq);
}
