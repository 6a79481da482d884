// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connecting a queue and taking it down: CM identifier, queue pair, completion queue, memory.
 *
 * All of this happens in process context under the controller's lock. Recovery takes that, too, so
 * nobody may wait for write-back while holding it: memory is allocated without I/O. The CM handler
 * only notes how far rdma_cm has got and wakes the connecting task, which takes each next step
 * itself; so nothing of ours is held or awaited inside a CM handler. Waiting ends early when the
 * device is being removed or the controller deleted.
 *
 * A completion queue is a share of one of a poll group's, or for polled queues one of the queue's
 * own. Both have room for every work request the queue pair can have outstanding.
 */
#include <linux/delay.h>
#include <linux/log2.h>
#include <linux/nvme-rdma.h>
#include <linux/rcupdate.h>
#include <linux/sched/isolation.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>

#include "core/wire.h"
#include "host/host.h"
#include "host/trace.h"

#define POLH_RESOLVE_MS		3000	/* address and route */
#define POLH_CONNECT_MS		10000	/* until the target has accepted or rejected */
#define POLH_WAIT_SLICE		msecs_to_jiffies(100)
#define POLH_STALE_RETRIES	5	/* the other end may still remember an older queue pair */
#define POLH_STALE_WAIT_MS	200

static bool polh_queue_interrupted(const struct polh_ctrl *ctrl)
{
	enum nvme_ctrl_state state = READ_ONCE(ctrl->nvme.state);

	return atomic_read(&ctrl->removals) || state == NVME_CTRL_DELETING ||
	       state == NVME_CTRL_DELETING_NOIO;
}

static int polh_queue_wait_cm(struct polh_queue *queue, enum polh_cm_phase phase, unsigned int ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(ms);
	struct polh_ctrl *ctrl = queue->ctrl;

	/* In slices: nobody wakes us when nvme-core begins to delete the controller. */
	while (!wait_event_timeout(ctrl->cm_wait,
				   READ_ONCE(queue->cm_phase) >= phase ||
				   READ_ONCE(queue->cm_error) || polh_queue_interrupted(ctrl),
				   POLH_WAIT_SLICE)) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
	}
	if (READ_ONCE(queue->cm_error))
		return queue->cm_error;
	return polh_queue_interrupted(ctrl) ? -ECANCELED : 0;
}

static int polh_queue_rejected(struct polh_queue *queue, struct rdma_cm_id *cm_id,
			       struct rdma_cm_event *event)
{
	struct device *dev = queue->ctrl->nvme.device;
	const void *data;
	int status = 0;
	u8 len;

	data = rdma_consumer_reject_data(cm_id, event, &len);
	if (data)
		status = pol_wire_parse_reject(data, len);
	trace_polh_queue_rejected(queue, event->status, status);
	if (event->status == IB_CM_REJ_STALE_CONN)
		return -ESTALE;
	if (status > 0)
		dev_err(dev, "queue %u: rejected by the target: %s (%d)\n", queue->qid,
			pol_wire_status_text(status), status);
	else
		dev_err(dev, "queue %u: rejected: %s (%d)\n", queue->qid,
			rdma_reject_msg(cm_id, event->status), event->status);
	return -ECONNREFUSED;
}

static void polh_queue_cm_set(struct polh_queue *queue, enum polh_cm_phase phase, int error)
{
	trace_polh_queue_cm(queue, phase, error);
	if (error)
		WRITE_ONCE(queue->cm_error, error);
	else
		polh_state_set_phase(queue, phase);
	smp_mb();	/* the event is seen by the connecting task, or it has set CONNECTED */
	wake_up_all(&queue->ctrl->cm_wait);
}

static void polh_queue_established(struct polh_queue *queue, struct rdma_cm_event *event)
{
	u32 granted = 0;
	int err;

	err = pol_wire_parse_accept(event->param.conn.private_data,
				    event->param.conn.private_data_len, &granted);
	if (err)
		dev_err(queue->ctrl->nvme.device, "queue %u: accepted with malformed data\n",
			queue->qid);
	queue->granted = granted;
	polh_queue_cm_set(queue, POLH_CM_ESTABLISHED, err);
}

/* Called by rdma_cm; the queue outlives the identifier. */
static int polh_queue_cm_event(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	struct polh_queue *queue = cm_id->context;
	struct polh_ctrl *ctrl = queue->ctrl;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		polh_queue_cm_set(queue, POLH_CM_ADDRESS, 0);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		polh_queue_cm_set(queue, POLH_CM_ROUTE, 0);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		polh_queue_established(queue, event);
		break;
	case RDMA_CM_EVENT_REJECTED:
		polh_queue_cm_set(queue, 0, polh_queue_rejected(queue, cm_id, event));
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		polh_queue_cm_set(queue, 0, event->status < 0 ? event->status : -EHOSTUNREACH);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_ADDR_CHANGE:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		polh_queue_cm_set(queue, 0, -ECONNRESET);
		polh_queue_fail(queue, rdma_event_msg(event->event), event->status);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		polh_queue_cm_set(queue, 0, -ENODEV);
		WRITE_ONCE(ctrl->removed, cm_id->device);
		queue_work(polh_wq, &ctrl->removal_work);
		break;
	default:
		break;
	}
	return 0;
}

/* Called by devices under their own locks: polh_queue_fail() only queues work. */
static void polh_queue_qp_event(struct ib_event *event, void *context)
{
	struct polh_queue *queue = context;

	if (event->event != IB_EVENT_COMM_EST)
		polh_queue_fail(queue, ib_event_msg(event->event), event->event);
}

/**
 * polh_queue_fail() - a queue is of no use any more
 * @queue: the queue
 * @why: what has happened, for people
 * @detail: a number that says more
 *
 * Has no effect on a queue that is being taken down, or was already.
 *
 * Context: any.
 */
void polh_queue_fail(struct polh_queue *queue, const char *why, int detail)
{
	struct polh_ctrl *ctrl = queue->ctrl;

	if (!test_bit(POLH_QUEUE_CONNECTED, &queue->flags))
		return;
	trace_polh_queue_fail(queue, why, detail);
	if (!test_bit(POLH_CTRL_FAILED, &ctrl->flags))
		dev_warn_ratelimited(ctrl->nvme.device, "queue %u: %s (%d)\n", queue->qid, why,
				     detail);
	polh_recovery_fail(ctrl);
}

/* The device that all queues of the controller are on, and their protection domain. */
static int polh_queue_get_device(struct polh_queue *queue)
{
	struct polh_ctrl *ctrl = queue->ctrl;
	struct ib_device *ib = queue->cm_id->device;
	struct pol_device *device;
	struct ib_pd *pd;
	int err;

	if (ctrl->pd_users) {
		if (ctrl->device->ib != ib || READ_ONCE(ctrl->device->gone))
			return -ENODEV;
		ctrl->pd_users++;
		return 0;
	}
	if (!(ib->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS)) {
		dev_err(ctrl->nvme.device, "%s cannot register memory by work request\n",
			dev_name(&ib->dev));
		return -EOPNOTSUPP;
	}
	if (polh_memory_pages(ib) < 2) {
		dev_err(ctrl->nvme.device, "%s cannot register two pages at once\n",
			dev_name(&ib->dev));
		return -EOPNOTSUPP;
	}
	device = pol_device_get(ib);
	if (!device)
		return -ENODEV;
	/* Either the device's removal sees that the controller is on it, or it is seen here. */
	WRITE_ONCE(ctrl->device, device);
	smp_mb();	/* with polh_recovery_visit() */
	if (READ_ONCE(device->gone)) {
		err = -ENODEV;
		goto err_device;
	}
	pd = ib_alloc_pd(ib, 0);
	if (IS_ERR(pd)) {
		err = PTR_ERR(pd);
		goto err_device;
	}
	ctrl->pd = pd;
	ctrl->pd_users = 1;
	ctrl->nvme.numa_node = ibdev_to_node(ib);
	ctrl->pages_max = min_t(u32, polh_memory_pages(ib), POLH_PAGES_MAX);
	ctrl->bytes_max = min_t(size_t, (ctrl->pages_max - 1) * POLH_PAGE,
				pol_device_mapping_max(ib));
	ctrl->max_sends = min_t(int, ib->attrs.max_qp_wr, U16_MAX);
	ctrl->max_tags = max((ctrl->max_sends - 1) / POLH_SENDS_PER_TAG, 1U);
	return 0;

err_device:
	WRITE_ONCE(ctrl->device, NULL);
	pol_device_put(device);
	return err;
}

static void polh_queue_put_device(struct polh_ctrl *ctrl)
{
	if (--ctrl->pd_users)
		return;
	ib_dealloc_pd(ctrl->pd);
	ctrl->pd = NULL;
	pol_device_put(ctrl->device);
	WRITE_ONCE(ctrl->device, NULL);
}

/*
 * The CPU to reap a queue on: the first of those that blk-mq will have submit to it and that are
 * not isolated. Asked with a map of our own, since at the first connect there is no tag set yet.
 */
static unsigned int polh_queue_cpu(const struct polh_queue *queue)
{
	const u32 *queues = queue->ctrl->io_queues;
	unsigned int index = queue->qid, type, cpu;
	struct blk_mq_queue_map map = { };

	if (!index--)
		return 0;
	for (type = 0; type < HCTX_MAX_TYPES - 1 && index >= queues[type]; type++)
		index -= queues[type];
	map.nr_queues = queues[type];
	map.mq_map = kcalloc(nr_cpu_ids, sizeof(*map.mq_map), GFP_KERNEL);
	if (!map.mq_map)
		return index % nr_cpu_ids;
	polh_map_cpus(&map);
	for_each_online_cpu(cpu)
		if (map.mq_map[cpu] == index && !cpu_is_isolated(cpu))
			break;
	kfree(map.mq_map);
	return cpu < nr_cpu_ids ? cpu : index % nr_cpu_ids;
}

/*
 * Asks the queue's group for a mode. The admin queue has no hurry: with a mode of the controller's
 * own it never keeps a thread awake.
 */
static int polh_queue_wish(struct polh_queue *queue, u32 mode)
{
	if (mode != POLH_MODE_DEFAULT)
		return pol_group_wish(queue->group, &queue->wish,
				      queue->qid ? mode : POL_GROUP_SPIN_EVENT);
	pol_group_unwish(queue->group, &queue->wish);
	return 0;
}

/**
 * polh_queues_set_mode() - choose how the groups wait that reap a controller's queues
 * @ctrl: controller, connected or not; it keeps the mode over reconnects
 * @mode: spin time of the mode (core/group.h), or POLH_MODE_DEFAULT
 *
 * Context: process context, takes the controller's lock.
 * Return: 0, or -EBUSY when every CPU would have a busy group; nothing has changed then.
 */
int polh_queues_set_mode(struct polh_ctrl *ctrl, u32 mode)
{
	unsigned int noio = memalloc_noio_save(), i;
	int err = 0;

	mutex_lock(&ctrl->lock);
	for (i = 0; i < ctrl->nr_queues && !err; i++)
		if (ctrl->queues[i].group)
			err = polh_queue_wish(&ctrl->queues[i], mode);
	if (!err)
		ctrl->mode = mode;
	/* Going back is no longer time than before, which is never refused. */
	while (err && i--)
		if (ctrl->queues[i].group)
			polh_queue_wish(&ctrl->queues[i], ctrl->mode);
	mutex_unlock(&ctrl->lock);
	memalloc_noio_restore(noio);
	if (!err)
		polh_ctrl_changed(ctrl);
	return err;
}

/*
 * How long a send queue must be: each tag's worst case, and what it has posted without asking for a
 * completion since the last one; and the drain. Where the device has no room for that, every SEND
 * asks for one.
 */
static void polh_queue_size(struct polh_queue *queue)
{
	unsigned int per_tag = POLH_SENDS_PER_TAG + POLH_SIGNAL_EVERY - 1;

	queue->signal_every = POLH_SIGNAL_EVERY;
	if (!queue->qid || per_tag * queue->nr_tags + 1 > queue->ctrl->max_sends) {
		queue->signal_every = 1;
		per_tag = POLH_SENDS_PER_TAG;
	}
	queue->sends = per_tag * queue->nr_tags + 1;
}

static int polh_queue_create_cq(struct polh_queue *queue)
{
	struct ib_device *ib = queue->ctrl->device->ib;
	unsigned int cpu = polh_queue_cpu(queue);
	struct ib_cq *cq;

	queue->cq_entries = queue->sends + queue->nr_tags + 1;
	if (test_bit(POLH_QUEUE_POLLED, &queue->flags)) {
		cq = ib_alloc_cq(ib, queue, queue->cq_entries, cpu % ib->num_comp_vectors,
				 IB_POLL_DIRECT);
		if (IS_ERR(cq))
			return PTR_ERR(cq);
		queue->cq = cq;
		return 0;
	}
	queue->group = pol_group_choose(cpu);
	if (!queue->group) {
		dev_err(queue->ctrl->nvme.device, "there is no poll group\n");
		return -ENODEV;
	}
	queue->pol_cq = pol_cq_reserve(queue->group, queue->ctrl->device, queue->cq_entries, 0,
				       NULL);
	if (IS_ERR(queue->pol_cq)) {
		int err = PTR_ERR(queue->pol_cq);

		queue->pol_cq = NULL;
		pol_group_put(queue->group);
		queue->group = NULL;
		return err;
	}
	queue->cq = queue->pol_cq->cq;
	if (polh_queue_wish(queue, queue->ctrl->mode))
		dev_warn(queue->ctrl->nvme.device,
			 "queue %u: poll group %u cannot be %s: a CPU has to stay without a busy group\n",
			 queue->qid, queue->group->id, pol_group_mode(queue->ctrl->mode));
	return 0;
}

static void polh_queue_destroy_cq(struct polh_queue *queue)
{
	if (queue->pol_cq) {
		pol_cq_release(queue->pol_cq, queue->cq_entries);
		pol_group_unwish(queue->group, &queue->wish);
		pol_group_put(queue->group);
		queue->pol_cq = NULL;
		queue->group = NULL;
	} else {
		ib_free_cq(queue->cq);
	}
	queue->cq = NULL;
}

static int polh_queue_create_qp(struct polh_queue *queue)
{
	struct ib_qp_init_attr attr = {
		.event_handler		= polh_queue_qp_event,
		.qp_context		= queue,
		.send_cq		= queue->cq,
		.recv_cq		= queue->cq,
		.cap.max_send_wr	= queue->sends,
		.cap.max_recv_wr	= queue->nr_tags + 1,
		.cap.max_send_sge	= 2,
		.cap.max_recv_sge	= 1,
		.sq_sig_type		= IB_SIGNAL_REQ_WR,
		.qp_type		= IB_QPT_RC,
	};
	int err;

	err = rdma_create_qp(queue->cm_id, queue->ctrl->pd, &attr);
	if (err)
		return err;
	queue->qp = queue->cm_id->qp;
	atomic_inc(&queue->ctrl->device->queues);
	return 0;
}

static void polh_queue_destroy_qp(struct polh_queue *queue)
{
	atomic_dec(&queue->ctrl->device->queues);
	rdma_destroy_qp(queue->cm_id);
	queue->qp = NULL;
}

/**
 * polh_queue_post_receive() - give a receive buffer to the device
 * @queue: a connected queue
 * @response: a buffer that is not posted
 *
 * Context: any, does not sleep.
 */
int polh_queue_post_receive(struct polh_queue *queue, struct polh_response *response)
{
	size_t offset = response->index * POLH_RESPONSE_STRIDE;
	struct ib_sge sge = {
		.addr	= queue->responses.dma + offset,
		.length	= sizeof(struct nvme_completion),
		.lkey	= queue->ctrl->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe		= &response->cqe,
		.sg_list	= &sge,
		.num_sge	= 1,
	};

	pol_mem_sync_for_device(&queue->responses, offset, sizeof(struct nvme_completion));
	return ib_post_recv(queue->qp, &wr, NULL);
}

static int polh_queue_establish(struct polh_queue *queue)
{
	struct polh_ctrl *ctrl = queue->ctrl;
	u32 reads = min_t(u32, ctrl->device->ib->attrs.max_qp_rd_atom, U8_MAX);
	struct nvme_rdma_cm_req private;
	struct pol_wire_request request = {
		.qid		= queue->qid,
		.hrqsize	= queue->nr_tags,
		.hsqsize	= queue->nr_tags,
		.cntlid		= queue->qid ? ctrl->nvme.cntlid : 0,
	};
	struct rdma_conn_param param = {
		.private_data		= &private,
		.private_data_len	= sizeof(private),
		.responder_resources	= reads,
		.flow_control		= 1,
		.retry_count		= 7,
		.rnr_retry_count	= 7,
		.qp_num			= queue->qp->qp_num,
	};
	int err;

	pol_wire_build_request(&private, &request);
	err = rdma_connect(queue->cm_id, &param);
	if (!err)
		err = polh_queue_wait_cm(queue, POLH_CM_ESTABLISHED, POLH_CONNECT_MS);
	return err;
}

/* From here on the queue pair has to be drained before it is destroyed. */
static int polh_queue_fill(struct polh_queue *queue)
{
	int err;

	queue->drain = true;
	for (unsigned int i = 0; i < queue->nr_tags; i++) {
		err = polh_queue_post_receive(queue, &queue->receives[i]);
		if (err)
			return err;
	}
	return polh_memory_register(queue);
}

static void polh_queue_drain_work(struct work_struct *work)
{
	struct polh_queue *queue = container_of(work, struct polh_queue, drain_work);
	unsigned int noio = memalloc_noio_save();

	ib_drain_qp(queue->qp);
	memalloc_noio_restore(noio);
}

/*
 * Of a completion queue that nobody reaps, ib_drain_qp() looks at what has come after a tenth of a
 * second, twice. All polled queues of a controller let this pass together.
 */
static void polh_queue_drain_begin(struct polh_queue *queue)
{
	polh_request_forget_pending(queue);
	INIT_WORK(&queue->drain_work, polh_queue_drain_work);
	if (queue->drain && test_bit(POLH_QUEUE_POLLED, &queue->flags))
		queue_work(polh_drain_wq, &queue->drain_work);
}

static void polh_queue_drain(struct polh_queue *queue)
{
	if (!queue->drain)
		return;
	if (test_bit(POLH_QUEUE_POLLED, &queue->flags))
		flush_work(&queue->drain_work);
	else
		ib_drain_qp(queue->qp);
	/* The last completion may have been reaped together with others whose batch still ends. */
	if (queue->group)
		pol_group_sync(queue->group);
	polh_request_release(queue);
	queue->drain = false;
}

static int polh_queue_connect_once(struct polh_queue *queue, unsigned int nr_tags, u32 copy_max)
{
	struct polh_ctrl *ctrl = queue->ctrl;
	struct nvmf_ctrl_options *opts = ctrl->nvme.opts;
	struct sockaddr *from = NULL;
	struct rdma_cm_id *cm_id;
	int err;

	polh_state_set(queue, POLH_STATE_IDLE);
	queue->cm_error = 0;
	queue->nr_tags = nr_tags;
	queue->granted = 0;
	cm_id = rdma_create_id(&init_net, polh_queue_cm_event, queue, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(cm_id))
		return PTR_ERR(cm_id);
	queue->cm_id = cm_id;
	if (opts->tos >= 0)
		rdma_set_service_type(cm_id, opts->tos);

	if (opts->mask & NVMF_OPT_HOST_TRADDR)
		from = (struct sockaddr *)&ctrl->src_addr;
	err = rdma_resolve_addr(cm_id, from, (struct sockaddr *)&ctrl->addr, POLH_RESOLVE_MS);
	if (!err)
		err = polh_queue_wait_cm(queue, POLH_CM_ADDRESS, POLH_RESOLVE_MS + 1000);
	if (err)
		goto err_resolve;
	err = polh_queue_get_device(queue);
	if (err)
		goto err_resolve;
	if (nr_tags > ctrl->max_tags) {
		dev_err(ctrl->nvme.device, "%s has no room for %u entries per queue\n",
			ctrl->device->name, nr_tags);
		err = -EINVAL;
		goto err_cq;
	}
	polh_queue_size(queue);
	err = polh_queue_create_cq(queue);
	if (err)
		goto err_cq;
	err = polh_queue_create_qp(queue);
	if (err)
		goto err_qp;
	err = polh_memory_create(queue, copy_max ? roundup_pow_of_two(copy_max) : 0);
	if (err)
		goto err_memory;
	queue->copy_max = min_t(size_t, copy_max, queue->slots.size);

	err = rdma_resolve_route(cm_id, POLH_RESOLVE_MS);
	if (!err)
		err = polh_queue_wait_cm(queue, POLH_CM_ROUTE, POLH_RESOLVE_MS + 1000);
	if (!err)
		err = polh_queue_establish(queue);
	if (err)
		goto err_establish;
	err = polh_queue_fill(queue);
	if (err)
		goto err_fill;
	/* All before is seen with it (polh_request_connected()). */
	polh_state_set(queue, POLH_STATE_CONNECTED);
	/* Until then an event would not have been taken seriously. */
	if (READ_ONCE(queue->cm_error)) {
		err = queue->cm_error;
		goto err_connected;
	}
	return 0;

err_connected:
	polh_state_set(queue, POLH_STATE_IDLE);
	synchronize_rcu();
err_fill:
	rdma_disconnect(cm_id);
	polh_queue_drain_begin(queue);
	polh_queue_drain(queue);
err_establish:
	polh_queue_destroy_qp(queue);
	polh_memory_destroy(queue);
	goto err_qp;
err_memory:
	polh_queue_destroy_qp(queue);
err_qp:
	polh_queue_destroy_cq(queue);
err_cq:
	polh_queue_put_device(ctrl);
err_resolve:
	queue->cm_id = NULL;
	rdma_destroy_id(cm_id);
	polh_state_set_phase(queue, POLH_CM_IDLE);
	return err;
}

/**
 * polh_queue_connect() - connect a queue to the target's RDMA side
 * @queue: a queue that is not connected
 * @nr_tags: commands it may have in flight, and entries to ask for
 * @copy_max: bytes of data to be copied at most; queue->copy_max says what it has become
 *
 * The NVMe Connect command is the caller's next step. Everything here is bounded in time, whatever
 * the target does, and cut short by device removal and deletion.
 *
 * Context: process context, takes the controller's lock.
 * Return: 0 or -errno with nothing left behind.
 */
int polh_queue_connect(struct polh_queue *queue, unsigned int nr_tags, u32 copy_max)
{
	struct polh_ctrl *ctrl = queue->ctrl;
	unsigned int noio;
	int err;

	for (unsigned int i = 0; ; i++) {
		noio = memalloc_noio_save();
		mutex_lock(&ctrl->lock);
		err = polh_queue_connect_once(queue, nr_tags, copy_max);
		mutex_unlock(&ctrl->lock);
		memalloc_noio_restore(noio);
		if (err != -ESTALE || i == POLH_STALE_RETRIES)
			break;
		msleep(POLH_STALE_WAIT_MS);
	}
	trace_polh_queue_connect(queue, err);
	if (err)
		dev_err(ctrl->nvme.device, "queue %u: connecting failed (%d)\n", queue->qid, err);
	return err;
}

/* Stops the queues from @first until before @end. */
static void polh_queues_stop_some(struct polh_ctrl *ctrl, unsigned int first, unsigned int end)
{
	struct polh_queue *queue;
	bool any = false;
	unsigned int i;

	lockdep_assert_held(&ctrl->lock);
	for (i = first; i < end; i++) {
		queue = &ctrl->queues[i];
		if (!test_bit(POLH_QUEUE_CONNECTED, &queue->flags))
			continue;
		polh_state_set(queue, POLH_STATE_STOPPING);
		any = true;
	}
	if (!any)
		return;
	/* Whoever still saw a queue connected has posted, or left ->poll, after this. */
	synchronize_rcu();
	for (i = first; i < end; i++) {
		queue = &ctrl->queues[i];
		if (!test_bit(POLH_QUEUE_STOPPING, &queue->flags))
			continue;
		rdma_disconnect(queue->cm_id);
		polh_queue_drain_begin(queue);
	}
	for (i = first; i < end; i++) {
		queue = &ctrl->queues[i];
		if (!test_bit(POLH_QUEUE_STOPPING, &queue->flags))
			continue;
		polh_state_set(queue, POLH_STATE_IDLE);
		polh_queue_drain(queue);
	}
}

/**
 * polh_queues_stop() - make sure that nothing is in flight any more
 * @ctrl: controller
 * @first: first queue to stop; all after it are stopped too
 *
 * All queues are drained when this returns; no request has been ended. May be called again.
 *
 * Context: process context, under the controller's lock. Waits for devices and poll groups, never
 * for a peer.
 */
void polh_queues_stop(struct polh_ctrl *ctrl, unsigned int first)
{
	polh_queues_stop_some(ctrl, first, ctrl->nr_queues);
}

/* Gives up the RDMA half of a queue that has been stopped, if it has one. */
static void polh_queue_disconnect(struct polh_queue *queue)
{
	struct rdma_cm_id *cm_id = queue->cm_id;

	lockdep_assert_held(&queue->ctrl->lock);
	if (!cm_id)
		return;
	polh_queue_destroy_qp(queue);
	polh_memory_destroy(queue);
	polh_queue_destroy_cq(queue);
	polh_queue_put_device(queue->ctrl);
	queue->cm_id = NULL;
	rdma_destroy_id(cm_id);
	polh_state_set_phase(queue, POLH_CM_IDLE);
}

/**
 * polh_queues_disconnect() - give up the RDMA half of queues
 * @ctrl: controller
 * @first: first queue; all after it go too. They have been stopped
 *
 * Context: process context, under the controller's lock.
 */
void polh_queues_disconnect(struct polh_ctrl *ctrl, unsigned int first)
{
	for (unsigned int i = ctrl->nr_queues; i-- > first;)
		polh_queue_disconnect(&ctrl->queues[i]);
}

/**
 * polh_queue_leave_out() - do without an I/O queue until somebody wants to use it
 * @queue: queue that is connected and carries no command
 *
 * A target would not keep the connection for long without a Connect command.
 *
 * Context: process context, takes the controller's lock.
 */
void polh_queue_leave_out(struct polh_queue *queue)
{
	struct polh_ctrl *ctrl = queue->ctrl;
	unsigned int noio = memalloc_noio_save();

	mutex_lock(&ctrl->lock);
	polh_queues_stop_some(ctrl, queue->qid, queue->qid + 1);
	polh_queue_disconnect(queue);
	polh_state_set(queue, POLH_STATE_LEFT_OUT);
	mutex_unlock(&ctrl->lock);
	memalloc_noio_restore(noio);
}

/**
 * polh_queue_sum() - add up what a queue has counted
 * @queue: the queue
 * @sum: to be added to
 *
 * Context: any.
 */
void polh_queue_sum(const struct polh_queue *queue, struct polh_counters *sum)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		const struct polh_submitted *part = per_cpu_ptr(queue->submitted, cpu);

		sum->commands += part->commands;
		sum->posts += part->posts;
		sum->work_requests += part->work_requests;
		sum->registrations += part->registrations;
		sum->invalidations += part->invalidations;
		sum->copies += part->copies;
		sum->zero_copy += part->zero_copy;
		sum->in_capsule += part->in_capsule;
		sum->bytes_read += part->bytes_read;
		sum->bytes_written += part->bytes_written;
	}
	sum->completions += READ_ONCE(queue->reaped.completions);
	sum->remote_invalidations += READ_ONCE(queue->reaped.remote_invalidations);
	sum->timeouts += READ_ONCE(queue->reaped.timeouts);
}
