// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a target queue: made in a CM handler, worked on by its poll group, ended by a worker.
 *
 * The end of a queue:
 *  1. any failure, wherever it is noticed, only marks the queue and queues its worker
 *     (polt_queue_end, polt_queue_fail);
 *  2. the group stops parsing and posting and says so (polt_queue_stop);
 *  3. rdma_disconnect(), and the queue pair is drained: with a shared receive queue ib_drain_sq(),
 *     and for a bounded time LAST_WQE_REACHED; else ib_drain_qp();
 *  4. the group reaps what has been received and drops the queue from its table
 *     (polt_queue_forget);
 *  5. the worker destroys queue pair and cm_id: the RDMA half is gone;
 *  6. commands still in a disk keep their buffers' pages; the last one frees the queue.
 * Neither host nor disk can delay steps 1 to 5, which is all that device removal waits for. Module
 * exit waits for step 6 too.
 *
 * polt_queues_lock guards the list of queues, and nothing else.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "core/wire.h"
#include "target/ctrl.h"
#include "target/receive.h"
#include "target/trace.h"

#define POLT_LAST_WQE_TIMEOUT	HZ	/* some devices never say it */

static LIST_HEAD(polt_queues);
static DEFINE_MUTEX(polt_queues_lock);
static u64 polt_queue_ids;		/* last id given; polt_queues_lock */
static DECLARE_WAIT_QUEUE_HEAD(polt_queues_wait);	/* a queue has been freed */
static struct workqueue_struct *polt_queue_wq;

static const char * const polt_queue_state_names[] = {
	[POLT_QUEUE_CONNECTING] = "connecting",
	[POLT_QUEUE_LIVE] = "live",
	[POLT_QUEUE_FAILED] = "failed",
	[POLT_QUEUE_DRAINING] = "draining",
	[POLT_QUEUE_DEAD] = "dead",
};

/**
 * polt_queue_state_name - a state for people
 * @state: state of a queue
 */
const char *polt_queue_state_name(enum polt_queue_state state)
{
	return polt_queue_state_names[state];
}

static void polt_queue_set_state(struct polt_queue *queue, enum polt_queue_state state)
{
	static const u8 allowed[] = {
		[POLT_QUEUE_CONNECTING] = BIT(POLT_QUEUE_LIVE) | BIT(POLT_QUEUE_FAILED),
		[POLT_QUEUE_LIVE] = BIT(POLT_QUEUE_FAILED),
		[POLT_QUEUE_FAILED] = BIT(POLT_QUEUE_DRAINING),
		[POLT_QUEUE_DRAINING] = BIT(POLT_QUEUE_DEAD),
		[POLT_QUEUE_DEAD] = 0,
	};

	pol_group_assert_owned(queue->group);
	WARN_ON_ONCE(!pol_state_may(allowed, queue->state, state));
	trace_polt_queue_state(queue, queue->state, state);
	WRITE_ONCE(queue->state, state);
}

/* Keep a queue's structure. The caller knows it to exist. */
static void polt_queue_get(struct polt_queue *queue)
{
	kref_get(&queue->ref);
}

static void polt_queue_released(struct kref *ref)
{
	struct polt_queue *queue = container_of(ref, struct polt_queue, ref);

	queue_work(polt_queue_wq, &queue->free_work);
}

/**
 * polt_queue_put - let a queue's structure go
 * @queue: the queue. Any context
 */
void polt_queue_put(struct polt_queue *queue)
{
	kref_put(&queue->ref, polt_queue_released);
}

/**
 * polt_queue_end - a queue is to end
 * @queue: the queue
 * @why: for those who trace
 *
 * Any context. Only the first call counts: it queues the worker that ends the queue.
 *
 * Return: whether this was the first call.
 */
bool polt_queue_end(struct polt_queue *queue, const char *why)
{
	set_bit(POLT_QUEUE_DOOMED, &queue->flags);
	smp_mb__after_atomic();	/* either ATTACHED is seen here or DOOMED by who sets it */
	if (!test_bit(POLT_QUEUE_ATTACHED, &queue->flags) ||
	    test_and_set_bit(POLT_QUEUE_ENDING, &queue->flags))
		return false;
	trace_polt_queue_end(queue, why);
	pr_debug("queue %u of %s ends: %s\n", queue->qid, queue->peer, why);
	if (pol_group_owns(queue->group))
		polt_queue_set_state(queue, POLT_QUEUE_FAILED);
	queue_work(polt_queue_wq, &queue->end_work);
	return true;
}

/**
 * polt_queue_fail - something is wrong with a queue
 * @queue: the queue
 * @why: for the log
 *
 * Ends it as polt_queue_end() does. Who runs the target learns why a host that was let in has lost
 * its connection; what strangers do wrong would only fill the log. Any context.
 */
void polt_queue_fail(struct polt_queue *queue, const char *why)
{
	if (polt_queue_end(queue, why) && READ_ONCE(queue->connected))
		pr_warn_ratelimited("queue %u of %s ends: %s\n", queue->qid, queue->peer, why);
}

/**
 * polt_queue_fail_wc - a work request has completed in error
 * @queue: the queue
 * @status: of the completion. A flushed one says nothing but that the queue ends already
 *
 * Any context.
 */
void polt_queue_fail_wc(struct polt_queue *queue, enum ib_wc_status status)
{
	if (status == IB_WC_WR_FLUSH_ERR)
		polt_queue_end(queue, ib_wc_status_msg(status));
	else
		polt_queue_fail(queue, ib_wc_status_msg(status));
}

static void polt_queue_connect_late(struct pol_group *group, struct pol_timer *timer)
{
	struct polt_queue *queue = container_of(timer, struct polt_queue, connect_timer);

	polt_queue_fail(queue, "no Fabrics Connect in time");
}

/**
 * polt_queue_connected - a Fabrics Connect has succeeded
 * @queue: the queue it came on; its group's thread calls
 * @sqsize: SQSIZE of the Connect, 0's based
 */
void polt_queue_connected(struct polt_queue *queue, u16 sqsize)
{
	pol_group_assert_owned(queue->group);
	pol_timer_cancel(queue->group, &queue->connect_timer);
	polt_admission_connected(queue);
	queue->subsystem = polt_ctrl_subsystem(queue->ctrl);
	queue->sq_entries = sqsize + 1;
	WRITE_ONCE(queue->connected, true);
}

static void polt_queue_established(struct pol_group *group, struct pol_message *message)
{
	struct polt_queue *queue = container_of(message, struct polt_queue, established);

	pol_group_assert_owned(group);
	if (queue->state == POLT_QUEUE_CONNECTING) {
		polt_queue_set_state(queue, POLT_QUEUE_LIVE);
		polt_queue_serve(queue);
	}
	polt_queue_put(queue);
}

static void polt_queue_notify(struct work_struct *work)
{
	struct polt_queue *queue = container_of(work, struct polt_queue, notify_work);

	rdma_notify(queue->cm_id, IB_EVENT_COMM_EST);
}

/* Devices call this under their own locks, in any context. */
static void polt_queue_qp_event(struct ib_event *event, void *context)
{
	struct polt_queue *queue = context;

	switch (event->event) {
	case IB_EVENT_COMM_EST:
		/* A capsule overtook the CM's last message. */
		if (!test_bit(POLT_QUEUE_ENDING, &queue->flags))
			queue_work(polt_queue_wq, &queue->notify_work);
		break;
	case IB_EVENT_QP_LAST_WQE_REACHED:
		complete(&queue->last_wqe);
		break;
	default:
		polt_queue_fail(queue, ib_event_msg(event->event));
		break;
	}
}

/* CM events of a queue's cm_id. Never destroys it: that is the worker's. */
static int polt_queue_cm_event(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	struct polt_queue *queue = cm_id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		if (!test_and_set_bit(POLT_QUEUE_ESTABLISHED, &queue->flags)) {
			polt_queue_get(queue);
			pol_group_post(queue->group, &queue->established);
		}
		break;
	default:
		polt_queue_end(queue, rdma_event_msg(event->event));
		break;
	}
	return 0;
}

/* Step 2: nothing more is parsed or posted. */
static void polt_queue_stop(struct pol_group *group, void *arg)
{
	struct polt_queue *queue = arg;

	pol_group_assert_owned(group);
	if (queue->state < POLT_QUEUE_FAILED)
		polt_queue_set_state(queue, POLT_QUEUE_FAILED);
	polt_queue_set_state(queue, POLT_QUEUE_DRAINING);
	pol_timer_cancel(group, &queue->connect_timer);
	polt_transfer_stop(queue);
	polt_queue_drop(queue);
}

/* Everything that is in the queue's completion queue now. */
static void polt_queue_reap(struct polt_queue *queue)
{
	unsigned int left = queue->cq->capacity + queue->cq->shared;
	struct ib_wc wc;

	pol_group_assert_owned(queue->group);
	while (left-- && ib_poll_cq(queue->cq->cq, 1, &wc) > 0) {
		pol_group_count(queue->group, completions, 1);
		wc.wr_cqe->done(queue->cq->cq, &wc);
	}
}

/* Step 4: completions of the queue pair are not known any more. */
static void polt_queue_forget(struct pol_group *group, void *arg)
{
	struct polt_queue *queue = arg;

	pol_group_assert_owned(group);
	polt_queue_reap(queue);
	polt_queue_drop_posted(queue);
	polt_pair_detach(queue->pair, queue);
	polt_queue_set_state(queue, POLT_QUEUE_DEAD);
	polt_queue_command_freed(queue);
}

/**
 * polt_queue_command_freed - the storage half ends with the last command
 * @queue: a queue of which a command has become free; its group's thread calls
 */
void polt_queue_command_freed(struct polt_queue *queue)
{
	pol_group_assert_owned(queue->group);
	if (unlikely(queue->state == POLT_QUEUE_DEAD && !queue->in_use))
		polt_queue_put(queue);
}

static void polt_queue_leave_ctrl(struct polt_queue *queue)
{
	if (queue->ctrl && !test_and_set_bit(POLT_QUEUE_LEFT_CTRL, &queue->flags))
		polt_ctrl_queue_gone(queue->ctrl, queue);
}

static void polt_queue_end_work(struct work_struct *work)
{
	struct polt_queue *queue = container_of(work, struct polt_queue, end_work);
	struct pol_device *device = queue->pair->device;

	/* The connect handler may be accepting still. */
	rdma_lock_handler(queue->cm_id);
	rdma_unlock_handler(queue->cm_id);

	if (READ_ONCE(queue->ctrl))
		polt_ctrl_queue_ends(queue->ctrl, queue);
	pol_group_call(queue->group, polt_queue_stop, queue);
	rdma_disconnect(queue->cm_id);
	if (queue->pair->srq) {
		ib_drain_sq(queue->qp);
		wait_for_completion_timeout(&queue->last_wqe, POLT_LAST_WQE_TIMEOUT);
	} else {
		ib_drain_qp(queue->qp);
	}
	pol_group_call(queue->group, polt_queue_forget, queue);

	rdma_destroy_qp(queue->cm_id);
	cancel_work_sync(&queue->notify_work);
	rdma_destroy_id(queue->cm_id);
	pol_cq_release(queue->cq, queue->cq_entries);
	/* Not earlier: a host that connects and leaves, again and again, has these queue pairs. */
	polt_admission_connected(queue);
	pol_region_unmap(&queue->responses);
	polt_receives_unmap(&queue->receives);
	atomic_dec(&device->queues);
	polt_pair_leave(queue->pair);
	polt_port_queue_gone(queue->port);
	polt_queue_leave_ctrl(queue);
	polt_queue_put(queue);
}

static void polt_queue_free_memory(struct polt_queue *queue)
{
	WARN_ON_ONCE(pol_timer_armed(&queue->connect_timer) ||
		     pol_timer_armed(&queue->stall_timer) || pol_timer_armed(&queue->tail_timer));
	polt_receives_free(&queue->receives);
	pol_region_free(&queue->responses);
	kvfree(queue->commands);
	kfree(queue);
}

static void polt_queue_free(struct work_struct *work)
{
	struct polt_queue *queue = container_of(work, struct polt_queue, free_work);

	mutex_lock(&polt_queues_lock);
	list_del(&queue->entry);
	mutex_unlock(&polt_queues_lock);

	/* A Connect that was in a worker while the queue ended found its controller late. */
	polt_queue_leave_ctrl(queue);
	if (queue->ctrl)
		polt_ctrl_put(queue->ctrl);
	polt_pair_put(queue->pair, queue->nr_receives);
	pol_group_put(queue->group);
	polt_port_put(queue->port);
	polt_admission_give(queue);
	polt_queue_free_memory(queue);
	wake_up_all(&polt_queues_wait);
}

/**
 * polt_queue_for_each - look at every queue
 * @visit: called in process context, under a mutex and with a reference of the queue; may sleep
 * @arg: given to @visit
 *
 * Return: 0, or what the first @visit that returned something else returned.
 */
int polt_queue_for_each(int (*visit)(struct polt_queue *queue, void *arg), void *arg)
{
	struct polt_queue *queue;
	int result = 0;

	mutex_lock(&polt_queues_lock);
	list_for_each_entry(queue, &polt_queues, entry) {
		if (!kref_get_unless_zero(&queue->ref))
			continue;
		result = visit(queue, arg);
		polt_queue_put(queue);
		if (result)
			break;
	}
	mutex_unlock(&polt_queues_lock);
	return result;
}

struct polt_queue_abort {
	struct polt_queue *queue;
	u16 command_id;
	bool aborted;
};

static void polt_queue_try_abort(struct pol_group *group, void *arg)
{
	struct polt_queue_abort *abort = arg;
	struct polt_queue *queue = abort->queue;
	unsigned int i;

	pol_group_assert_owned(group);
	if (!polt_queue_is_live(queue))
		return;
	for (i = 0; i < queue->nr_commands; i++) {
		struct polt_command *command = &queue->commands[i];

		if (command->state == POLT_COMMAND_WAITING &&
		    command->sqe.common.command_id == abort->command_id) {
			polt_command_abort(command);
			abort->aborted = true;
			return;
		}
	}
}

/**
 * polt_queue_abort - try to abort a command
 * @queue: the queue it was given to; the caller has a reference
 * @command_id: its identifier, as it is in the capsule
 *
 * Only what waits for buffers can be taken back; what is in a disk or on the wire runs its course.
 * Process context, may sleep.
 *
 * Return: whether the command has been aborted (and answered so).
 */
bool polt_queue_abort(struct polt_queue *queue, u16 command_id)
{
	struct polt_queue_abort abort = { .queue = queue, .command_id = command_id };

	pol_group_call(queue->group, polt_queue_try_abort, &abort);
	return abort.aborted;
}

/* As many entries as host, port and device allow; the host must have room for the responses too. */
static u16 polt_queue_agree_depth(const struct ib_device_attr *attrs, const struct polt_port *port,
				  const struct pol_wire_request *request)
{
	u32 most = request->qid ? READ_ONCE(port->max_queue_depth) : POLT_ADMIN_DEPTH_MAX;

	if (attrs->max_qp_wr <= POLT_SEND_SPARE)
		return 0;
	most = min_t(u32, most, (attrs->max_qp_wr - POLT_SEND_SPARE - 1) / 2);
	return min3(most, request->hsqsize, request->hrqsize);
}

static int polt_queue_alloc_commands(struct polt_queue *queue, struct pol_device *device)
{
	unsigned int i;
	int error;

	queue->commands = kvcalloc(queue->nr_commands, sizeof(*queue->commands), GFP_KERNEL);
	if (!queue->commands)
		return -ENOMEM;
	error = pol_region_alloc(&queue->responses, device->ib, queue->group->node,
				 polt_queue_responses_len(queue));
	if (error)
		return error;
	for (i = 0; i < queue->nr_commands; i++)
		polt_command_init(queue, &queue->commands[i], i);
	if (queue->pair->srq)
		return 0;
	return polt_receives_alloc(&queue->receives, queue->pair, queue, queue->nr_receives);
}

static int polt_queue_create_qp(struct polt_queue *queue, struct pol_device *device)
{
	struct ib_qp_init_attr init = {
		.event_handler = polt_queue_qp_event,
		.qp_context = queue,
		.srq = queue->pair->srq,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.cap.max_send_wr = queue->max_credits + 1,	/* one is for draining */
		.cap.max_send_sge = queue->max_sge,
	};
	int error;

	queue->cq_entries = init.cap.max_send_wr;
	if (!init.srq) {
		init.cap.max_recv_wr = queue->nr_receives + 1;	/* the same */
		init.cap.max_recv_sge = 1;
		queue->cq_entries += init.cap.max_recv_wr;
	}
	queue->cq = pol_cq_reserve(queue->group, device, queue->cq_entries, queue->pair->srq_size,
				   queue->pair);
	if (IS_ERR(queue->cq))
		return PTR_ERR(queue->cq);
	init.send_cq = queue->cq->cq;
	init.recv_cq = queue->cq->cq;
	error = rdma_create_qp(queue->cm_id, queue->pair->pd, &init);
	if (error) {
		pol_cq_release(queue->cq, queue->cq_entries);
		return error;
	}
	queue->qp = queue->cm_id->qp;
	queue->qp_num = queue->qp->qp_num;
	atomic_inc(&device->queues);
	return 0;
}

static void polt_queue_attach(struct pol_group *group, void *arg)
{
	struct polt_queue *queue = arg;

	pol_group_assert_owned(group);
	pol_sendq_init(&queue->sendq, queue->qp, group, polt_transfer_failed);
	polt_pair_attach(queue->pair, queue);
	polt_receives_post(&queue->receives);
	pol_timer_arm(group, &queue->connect_timer, POLT_CONNECT_TIMEOUT_S * NSEC_PER_SEC);
}

static struct polt_queue *polt_queue_alloc(struct pol_group *group)
{
	struct polt_queue *queue = kzalloc_node(sizeof(*queue), GFP_KERNEL, group->node);

	if (!queue)
		return NULL;
	queue->group = group;
	queue->state = POLT_QUEUE_CONNECTING;
	INIT_LIST_HEAD(&queue->free_commands);
	INIT_LIST_HEAD(&queue->early);
	INIT_LIST_HEAD(&queue->starved);
	INIT_LIST_HEAD(&queue->held);
	INIT_LIST_HEAD(&queue->waiting_entry);
	INIT_LIST_HEAD(&queue->posted);
	INIT_LIST_HEAD(&queue->receives);
	kref_init(&queue->ref);		/* the RDMA half's ... */
	kref_get(&queue->ref);		/* ... and the storage half's */
	polt_transfer_init_queue(queue);
	pol_timer_init(&queue->connect_timer, polt_queue_connect_late);
	queue->established.handle = polt_queue_established;
	INIT_WORK(&queue->notify_work, polt_queue_notify);
	INIT_WORK(&queue->end_work, polt_queue_end_work);
	INIT_WORK(&queue->free_work, polt_queue_free);
	init_completion(&queue->last_wqe);
	return queue;
}

static void polt_queue_set_limits(struct polt_queue *queue, struct polt_port *port,
				  const struct ib_device_attr *attrs,
				  const struct pol_wire_request *request)
{
	queue->qid = request->qid;
	queue->depth = polt_queue_agree_depth(attrs, port, request);
	queue->sq_entries = queue->depth;
	/* A response may arrive, and the next capsules come, before its SEND is seen to be done. */
	queue->nr_commands = queue->depth + clamp(queue->depth / 4, POLT_SIGNAL_EVERY + 4, 32);
	queue->nr_receives = queue->depth + POLT_RECEIVE_SPARE;
	queue->inline_size = READ_ONCE(port->inline_data_size);
	queue->max_credits = 2 * queue->depth + POLT_SEND_SPARE;
	queue->send_credits = queue->max_credits;
	queue->max_sge = min_t(unsigned int, attrs->max_send_sge, POLT_COMMAND_BUFFERS);
	/* Not every driver says how many an RDMA READ may have. */
	queue->max_read_sge = clamp_t(unsigned int, attrs->max_sge_rd, 1, queue->max_sge);
	queue->can_invalidate = attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS;
}

/**
 * polt_queue_create - make the queue for a connection
 * @cm_id: of the connection request; belongs to the queue from here on if this succeeds
 * @port: where it arrived
 * @request: what the host asked for
 *
 * CM handler, may sleep. The queue's group knows it when this returns: capsules may arrive. What
 * follows is polt_queue_accept().
 *
 * Return: the queue or ERR_PTR: -ENODEV (the device goes), -ENOENT (no poll group), -EBUSY (too
 * many connections that do not go on, too much memory in queues), -ENOMEM, ...
 */
struct polt_queue *polt_queue_create(struct rdma_cm_id *cm_id, struct polt_port *port,
				     const struct pol_wire_request *request)
{
	struct pol_device *device = pol_device_get(cm_id->device);
	struct pol_group *group;
	struct polt_queue *queue;
	int error;

	if (!device)
		return ERR_PTR(-ENODEV);
	group = pol_group_choose(-1);
	if (!group) {
		error = -ENOENT;
		goto err_group;
	}
	queue = polt_queue_alloc(group);
	if (!queue) {
		error = -ENOMEM;
		goto err_queue;
	}
	queue->cm_id = cm_id;
	queue->port = port;
	queue->host = cm_id->route.addr.dst_addr;
	snprintf(queue->peer, sizeof(queue->peer), "%pISpc", &cm_id->route.addr.dst_addr);
	snprintf(queue->local, sizeof(queue->local), "%pISc", &cm_id->route.addr.src_addr);
	polt_queue_set_limits(queue, port, &cm_id->device->attrs, request);
	if (queue->depth < 2) {
		error = -EINVAL;
		goto err_admission;
	}
	error = polt_admission_take(queue);
	if (error)
		goto err_admission;
	queue->pair = polt_pair_get(group, device, queue->inline_size, queue->nr_receives);
	if (IS_ERR(queue->pair)) {
		error = PTR_ERR(queue->pair);
		goto err_pair;
	}
	error = polt_queue_alloc_commands(queue, device);
	if (error)
		goto err_commands;
	error = polt_queue_create_qp(queue, device);
	if (error)
		goto err_commands;

	/* Nothing fails from here on: the queue is ended by its worker or not at all. */
	polt_port_get(port);
	polt_port_queue_added(port);
	cm_id->context = queue;
	cm_id->event_handler = polt_queue_cm_event;
	queue->group_id = group->id;
	strscpy(queue->device, device->name, sizeof(queue->device));
	mutex_lock(&polt_queues_lock);
	queue->id = ++polt_queue_ids;
	list_add_tail(&queue->entry, &polt_queues);
	mutex_unlock(&polt_queues_lock);
	pol_group_call(group, polt_queue_attach, queue);
	set_bit(POLT_QUEUE_ATTACHED, &queue->flags);
	smp_mb__after_atomic();	/* with polt_queue_end() */
	if (READ_ONCE(device->gone))
		polt_queue_end(queue, "device goes");
	else if (test_bit(POLT_QUEUE_DOOMED, &queue->flags))
		polt_queue_end(queue, "failed while it was made");
	pol_device_put(device);
	return queue;

err_commands:
	pol_region_unmap(&queue->responses);
	polt_receives_unmap(&queue->receives);
	polt_pair_leave(queue->pair);	/* the device may go from here on */
	polt_pair_put(queue->pair, queue->nr_receives);
err_pair:
	polt_admission_give(queue);
err_admission:
	polt_queue_free_memory(queue);
err_queue:
	pol_group_put(group);
err_group:
	pol_device_put(device);
	return ERR_PTR(error);
}

/**
 * polt_queue_accept - accept the connection of a queue
 * @queue: from polt_queue_create(), in the same CM handler
 * @asked: what the host asked for
 *
 * Return: 0, or -errno; the queue is then being ended.
 */
int polt_queue_accept(struct polt_queue *queue, const struct rdma_conn_param *asked)
{
	const struct ib_device_attr *attrs = &queue->cm_id->device->attrs;
	struct nvme_rdma_cm_rep reply;
	struct rdma_conn_param param = {
		.private_data = &reply,
		.private_data_len = sizeof(reply),
		.flow_control = 1,
		.rnr_retry_count = 7,	/* for ever: the stall timer is what bounds it */
		.initiator_depth = min_t(u32, asked->initiator_depth, attrs->max_qp_init_rd_atom),
		.responder_resources = min_t(u32, asked->responder_resources,
					     attrs->max_qp_rd_atom),
	};
	int error;

	pol_wire_build_accept(&reply, queue->depth);
	/* The default would have a host wait for most of a second when receives run out. */
	rdma_set_min_rnr_timer(queue->cm_id, IB_RNR_TIMER_000_12);
	error = rdma_accept(queue->cm_id, &param);
	if (error)
		polt_queue_fail(queue, "accept failed");
	return error;
}

static int polt_queue_end_if_pending(struct polt_queue *queue, void *arg)
{
	if (queue->port == arg && test_bit(POLT_QUEUE_PENDING, &queue->flags))
		polt_queue_end(queue, "port stops listening");
	return 0;
}

/**
 * polt_queue_end_pending - end the queues of a port that have no controller yet
 * @port: the port. Process context
 */
void polt_queue_end_pending(struct polt_port *port)
{
	polt_queue_for_each(polt_queue_end_if_pending, port);
}

static int polt_queue_end_if_on(struct polt_queue *queue, void *arg)
{
	if (queue->pair->device == arg || !arg)
		polt_queue_end(queue, arg ? "device goes" : "module goes");
	return 0;
}

/* The promise of a pol_client: no object of ours is on the device when this returns. */
static void polt_queues_device_gone(struct pol_device *device)
{
	unsigned int gone;

	do {
		gone = READ_ONCE(polt_pairs_gone);
		polt_queue_for_each(polt_queue_end_if_on, device);
		if (polt_pair_device_idle(device))
			return;
		/* A connect handler may still bring a queue: look again from time to time. */
		wait_event_timeout(polt_pairs_wait, gone != READ_ONCE(polt_pairs_gone), HZ / 10);
	} while (true);
}

static void polt_queues_device_added(struct pol_device *device)
{
	polt_ports_retry();
}

static struct pol_client polt_client = {
	.name = KBUILD_MODNAME,
	.api = POL_API,
	.device_added = polt_queues_device_added,
	.device_gone = polt_queues_device_gone,
};

/**
 * polt_queues_init - before the first listener
 *
 * Return: 0, -ENOMEM, or -EPROTO when the core is another version.
 */
int polt_queues_init(void)
{
	int error;

	polt_queue_wq = alloc_workqueue("pollard-target", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!polt_queue_wq)
		return -ENOMEM;
	error = pol_client_register(&polt_client);
	if (error)
		destroy_workqueue(polt_queue_wq);
	return error;
}

/**
 * polt_queues_exit - end every queue
 *
 * After the last listener has stopped. Waits until the last command has left its disk.
 */
void polt_queues_exit(void)
{
	do {
		polt_queue_for_each(polt_queue_end_if_on, NULL);
	} while (!wait_event_timeout(polt_queues_wait, list_empty_careful(&polt_queues), HZ / 10));
	pol_client_unregister(&polt_client);
	destroy_workqueue(polt_queue_wq);
}
