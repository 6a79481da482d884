// SPDX-License-Identifier: GPL-2.0-only
/*
 * Listening on a port's address, and answering connection requests: a request is checked, gets a
 * queue, or is rejected with the NVMe/RDMA status that says why.
 *
 * A port's worker (port.c) starts and stops the listener, one at a time. An address or a device
 * that goes away makes the listener useless, which is only reported (polt_port_restart): the worker
 * replaces it and tries again until address and device are back.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/ib_cm.h>

#include "core/wire.h"
#include "target/config.h"
#include "target/queue.h"
#include "target/trace.h"

#define POLT_LISTENER_BACKLOG	128

struct polt_listener {
	struct polt_port *port;
	/* NULL until it listens; then taken with xchg() by whoever is to destroy it */
	struct rdma_cm_id *cm_id;
};

static int polt_listener_reject(struct rdma_cm_id *cm_id, struct polt_port *port,
				enum nvme_rdma_cm_status status)
{
	struct nvme_rdma_cm_rej reply;

	trace_polt_connect(port->id, 0, 0, status);
	pr_info_ratelimited("port %u: connection from %pISpc rejected: %s\n", port->id,
			    &cm_id->route.addr.dst_addr, pol_wire_status_text(status));
	atomic64_inc(&port->rejected);
	pol_wire_build_reject(&reply, status);
	rdma_reject(cm_id, &reply, sizeof(reply), IB_CM_REJ_CONSUMER_DEFINED);
	return -ECONNREFUSED;		/* the CM destroys the cm_id */
}

static int polt_listener_request(struct polt_port *port, struct rdma_cm_id *cm_id,
				 const struct rdma_conn_param *asked)
{
	struct pol_wire_request request;
	struct polt_queue *queue;
	int status;

	if (rdma_protocol_iwarp(cm_id->device, cm_id->port_num)) {
		pr_err_ratelimited("port %u: %s is an iWARP device, which is not supported\n",
				   port->id, dev_name(&cm_id->device->dev));
		return polt_listener_reject(cm_id, port, NVME_RDMA_CM_NO_RSC);
	}
	status = pol_wire_parse_request(asked->private_data, asked->private_data_len, &request);
	if (status)
		return polt_listener_reject(cm_id, port, status);
	if (request.qid > POLT_IO_QUEUES_MAX)
		return polt_listener_reject(cm_id, port, NVME_RDMA_CM_INVALID_QID);
	/* A queue of one entry holds no command: NVMe's queues are full with one entry left. */
	if (request.hrqsize < 2)
		return polt_listener_reject(cm_id, port, NVME_RDMA_CM_INVALID_HRQSIZE);
	/* A host that can answer no RDMA READ cannot write. */
	if (!asked->initiator_depth)
		return polt_listener_reject(cm_id, port, NVME_RDMA_CM_INVALID_IRD);

	queue = polt_queue_create(cm_id, port, &request);
	if (IS_ERR(queue)) {
		pr_warn_ratelimited("port %u: no queue for %pISpc: error %ld\n", port->id,
				    &cm_id->route.addr.dst_addr, PTR_ERR(queue));
		return polt_listener_reject(cm_id, port, NVME_RDMA_CM_NO_RSC);
	}
	trace_polt_connect(port->id, queue->qid, queue->depth, 0);
	/* From here on the cm_id is the queue's, whatever happens. */
	if (!polt_queue_accept(queue, asked))
		atomic64_inc(&port->accepted);
	return 0;
}

/* Events of the listening cm_id, and requests, which bring a cm_id of their own. */
static int polt_listener_event(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	struct polt_listener *listener = cm_id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return polt_listener_request(listener->port, cm_id, &event->param.conn);
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		polt_port_restart(listener->port);
		/*
		 * Destroyed by the CM if this returns not 0, else by polt_listener_stop(), or by
		 * polt_listener_start() if that has still to see that it cannot listen.
		 */
		return cmpxchg(&listener->cm_id, cm_id, NULL) == cm_id;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		polt_port_restart(listener->port);
		return 0;
	default:
		return 0;
	}
}

/**
 * polt_listener_start - listen on the address of a port
 * @port: a port without listener
 *
 * The port's worker, may sleep.
 *
 * Return: 0 or -errno: -EADDRNOTAVAIL and -ENODEV when there is no such address or no RDMA device
 * behind it, -EADDRINUSE, ...
 */
int polt_listener_start(struct polt_port *port)
{
	struct polt_listener *listener = kzalloc(sizeof(*listener), GFP_KERNEL);
	struct sockaddr *addr = (struct sockaddr *)&port->addr;
	struct rdma_cm_id *cm_id;
	int error;

	if (!listener)
		return -ENOMEM;
	listener->port = port;
	cm_id = rdma_create_id(&init_net, polt_listener_event, listener, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(cm_id)) {
		error = PTR_ERR(cm_id);
		goto err_id;
	}
	if (addr->sa_family == AF_INET6) {
		error = rdma_set_afonly(cm_id, 1);
		if (error)
			goto err_listen;
	}
	error = rdma_bind_addr(cm_id, addr);
	if (error)
		goto err_listen;
	if (cm_id->device)
		strscpy(port->device, dev_name(&cm_id->device->dev), sizeof(port->device));
	error = rdma_listen(cm_id, POLT_LISTENER_BACKLOG);
	if (error)
		goto err_listen;
	/*
	 * Only now may the CM destroy it. If the device has gone since it was bound, the worker
	 * runs again and stops the listener.
	 */
	WRITE_ONCE(listener->cm_id, cm_id);
	port->listener = listener;
	return 0;

err_listen:
	rdma_destroy_id(cm_id);
	port->device[0] = '\0';
err_id:
	kfree(listener);
	return error;
}

/**
 * polt_listener_stop - accept nothing more
 * @port: the port; nothing happens if it does not listen
 *
 * The port's worker, may sleep. Connections without a controller are ended, others live on.
 */
void polt_listener_stop(struct polt_port *port)
{
	struct polt_listener *listener = port->listener;
	struct rdma_cm_id *cm_id;

	if (!listener)
		return;
	port->listener = NULL;
	port->device[0] = '\0';
	cm_id = xchg(&listener->cm_id, NULL);
	if (cm_id)
		rdma_destroy_id(cm_id);
	polt_queue_end_pending(port);
	kfree(listener);
}
