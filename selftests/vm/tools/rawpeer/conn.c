// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections: how they come up to any point and no further, what goes over them, and how they end,
 * politely or not.
 *
 * Each has an event channel of its own, so that one can be left without an answer while others go
 * on. An active one moves its queue pair itself: it can send before it confirms the accept, and
 * need not confirm it at all. Nothing here blocks but step(), the only place where anything is
 * taken notice of.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rawpeer.h"

#define DEFAULT_LIMIT	5000		/* ms, unless within= says otherwise */
#define SEND_QUEUE	256

enum { WR_RECV, WR_SEND, WR_RDMA, WR_BIND };	/* in the upper half of wr_id */

struct conn *conns;
static struct conn *hit;

uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ULL + now.tv_nsec / 1000000;
}

unsigned int time_limit(struct words *words)
{
	const char *slowness = getenv("VM_SLOWNESS");
	uint64_t limit = DEFAULT_LIMIT;

	words_number(words, "within", &limit);
	return limit * (slowness && atoi(slowness) > 0 ? atoi(slowness) : 1);
}

struct conn *conn_find(const char *name)
{
	if (!strcmp(name, "hit") && hit)
		return hit;
	for (struct conn *conn = conns; conn; conn = conn->next)
		if (!strcmp(conn->name, name))
			return conn;
	fail("there is no connection or memory %s", name);
	return NULL;
}

struct conn *conn_next(struct words *words)
{
	const char *name = words_next(words);

	return name ? conn_find(name) : NULL;
}

void conn_hit(struct conn *conn)
{
	hit = conn;
}

struct conn *conn_add(const char *name)
{
	struct conn *conn = calloc(1, sizeof(*conn));

	if (!conn)
		return NULL;
	snprintf(conn->name, NAME_SIZE, "%s", name);
	conn->kept = !testing;
	conn->last_message = &conn->messages;
	conn->outstanding = calloc(65536, sizeof(*conn->outstanding));
	conn->events = rdma_create_event_channel();
	if (!conn->outstanding || !conn->events) {
		fail("no event channel: %s", strerror(errno));
		free(conn->outstanding);
		free(conn);
		return NULL;
	}
	fcntl(conn->events->fd, F_SETFL, O_NONBLOCK);
	conn->next = conns;
	conns = conn;
	return conn;
}

void conn_kill(struct conn *conn)
{
	if (conn->qp)
		ibv_destroy_qp(conn->qp);
	conn->qp = NULL;
	if (conn->id)
		conn->id->qp = NULL;
}

void conn_drop(struct conn *conn)
{
	struct message *message;
	struct conn **at;

	for (at = &conns; *at != conn; at = &(*at)->next)
		;
	*at = conn->next;
	if (hit == conn)
		hit = NULL;
	conn_kill(conn);
	if (conn->id)
		rdma_destroy_id(conn->id);
	rdma_destroy_event_channel(conn->events);
	if (conn->cq)
		ibv_destroy_cq(conn->cq);
	if (conn->mr)
		ibv_dereg_mr(conn->mr);
	while ((message = conn->messages)) {
		conn->messages = message->next;
		free(message);
	}
	free(conn->current);
	free(conn->buffers);
	free(conn->outstanding);
	free(conn);
}

void conns_clear(bool kept_too)
{
	struct conn *conn, *next;

	for (conn = conns; conn; conn = next) {
		next = conn->next;
		if (kept_too || !conn->kept)
			conn_drop(conn);
	}
}

static bool post_receive(struct conn *conn, unsigned int slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)conn->buffers + slot * conn->slot,
		.length = conn->slot,
		.lkey = conn->mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = (uint64_t)WR_RECV << 32 | slot, .sg_list = &sge, .num_sge = 1,
	}, *bad;

	return !ibv_post_recv(conn->qp, &wr, &bad) || fail("no receive posted");
}

static bool move_qp(struct conn *conn, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	if (rdma_init_qp_attr(conn->id, &attr, &mask))
		return fail("no attributes for state %d: %s", state, strerror(errno));
	if (state == IBV_QPS_INIT)
		attr.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				       IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND;
	return !ibv_modify_qp(conn->qp, &attr, mask) ||
	       fail("queue pair does not go to state %d: %s", state, strerror(errno));
}

/* A queue pair in state INIT with its receives posted. */
bool conn_make_qp(struct conn *conn)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = SEND_QUEUE, .max_recv_wr = conn->depth,
			.max_send_sge = 2, .max_recv_sge = 1,
		},
	};
	size_t bytes = 2 * conn->depth * conn->slot;

	if (!the_pd())
		return false;
	conn->cq = ibv_create_cq(the_pd()->context, SEND_QUEUE + conn->depth, NULL, NULL, 0);
	conn->buffers = calloc(1, bytes);
	if (conn->buffers)
		conn->mr = ibv_reg_mr(the_pd(), conn->buffers, bytes, IBV_ACCESS_LOCAL_WRITE);
	if (!conn->cq || !conn->mr)
		return fail("no completion queue or buffers: %s", strerror(errno));
	init.send_cq = init.recv_cq = conn->cq;
	if (conn->passive) {
		if (rdma_create_qp(conn->id, the_pd(), &init))
			return fail("no queue pair: %s", strerror(errno));
		conn->qp = conn->id->qp;
	} else {
		conn->qp = ibv_create_qp(the_pd(), &init);
		if (!conn->qp)
			return fail("no queue pair: %s", strerror(errno));
		if (!move_qp(conn, IBV_QPS_INIT))
			return false;
	}
	for (unsigned int i = 0; i < conn->depth; i++)
		if (!post_receive(conn, i))
			return false;
	return true;
}

static void conn_broken(struct conn *conn)
{
	if (conn->state != CONN_REJECTED)
		conn->state = CONN_GONE;
}

static void take_private(struct conn *conn, const struct rdma_cm_event *event)
{
	conn->private_len = event->param.conn.private_data_len;
	memcpy(conn->private_data, event->param.conn.private_data, conn->private_len);
	conn->reason = event->status;
}

static void take_request(struct rdma_cm_event *event)
{
	struct conn *conn = conn_add("");

	if (!conn)
		return;
	conn->kept = false;
	conn->passive = true;
	conn->state = CONN_ASKED;
	conn->id = event->id;
	conn->id->context = conn;
	conn->qpn = event->param.conn.qp_num;
	take_private(conn, event);
}

static void take_event(struct conn *conn, struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		conn->state = CONN_ADDRESS;
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		conn->state = CONN_ROUTE;
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		take_private(conn, event);
		if (!move_qp(conn, IBV_QPS_INIT) || !move_qp(conn, IBV_QPS_RTR) ||
		    !move_qp(conn, IBV_QPS_RTS))
			conn_broken(conn);
		else
			conn->state = CONN_RESPONDED;
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		conn->state = CONN_UP;
		break;
	case RDMA_CM_EVENT_REJECTED:
		take_private(conn, event);
		conn->state = CONN_REJECTED;
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		take_request(event);
		break;
	default:
		conn_broken(conn);
		break;
	}
}

static void read_events(struct conn *conn)
{
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };
	enum conn_state before = conn->state;
	struct rdma_cm_event *event;
	struct conn *asked;

	while (!rdma_get_cm_event(conn->events, &event)) {
		take_event(conn, event);
		rdma_ack_cm_event(event);
		/* The request's identifier comes on the listener's channel. */
		asked = conns;
		if (asked->state == CONN_ASKED && asked->id->channel == conn->events)
			rdma_migrate_id(asked->id, asked->events);
	}
	if (conn->state == CONN_RESPONDED && !conn->hold) {
		rdma_establish(conn->id);
		conn->state = CONN_UP;
	}
	/* What the peer has taken down is answered, and what was posted ends. */
	if (conn->state == CONN_GONE && before != CONN_GONE) {
		if (conn->qp)
			ibv_modify_qp(conn->qp, &error, IBV_QP_STATE);
		rdma_disconnect(conn->id);
	}
}

static void take_message(struct conn *conn, const struct ibv_wc *wc)
{
	unsigned int slot = (uint32_t)wc->wr_id;
	struct message *message = malloc(sizeof(*message) + wc->byte_len);

	if (!message)
		return;
	message->next = NULL;
	message->len = wc->byte_len;
	message->invalidated = wc->wc_flags & IBV_WC_WITH_INV;
	message->rkey = message->invalidated ? wc->invalidated_rkey : 0;
	memcpy(message->data, conn->buffers + slot * conn->slot, wc->byte_len);
	*conn->last_message = message;
	conn->last_message = &message->next;
	if (!conn->stingy && conn->qp)
		post_receive(conn, slot);
}

static void take_completion(struct conn *conn, const struct ibv_wc *wc)
{
	unsigned int kind = wc->wr_id >> 32;

	if (wc->status != IBV_WC_SUCCESS && conn->error == IBV_WC_SUCCESS)
		conn->error = wc->status;
	switch (kind) {
	case WR_RECV:
		if (wc->status == IBV_WC_SUCCESS)
			take_message(conn, wc);
		return;
	case WR_RDMA:
		conn->rdma_done++;
		conn->rdma_status = wc->status;
		break;
	default:
		break;
	}
	conn->done++;
}

static void reap(struct conn *conn)
{
	struct ibv_wc wc;

	while (conn->cq && ibv_poll_cq(conn->cq, 1, &wc) > 0)
		take_completion(conn, &wc);
}

/* Look at everything once; wait for an event for at most so long when asked to. */
void step(unsigned int ms)
{
	static struct pollfd fds[4096];
	static struct conn *whose[4096];
	unsigned int count = 0;

	for (struct conn *conn = conns; conn; conn = conn->next) {
		reap(conn);
		if (conn->deaf || !conn->id || count == 4096)
			continue;
		fds[count] = (struct pollfd){ .fd = conn->events->fd, .events = POLLIN };
		whose[count++] = conn;
	}
	if (poll(fds, count, ms) <= 0)
		return;
	for (unsigned int i = 0; i < count; i++)
		if (fds[i].revents)
			read_events(whose[i]);
}

bool conn_message(struct conn *conn, unsigned int ms)
{
	if (!wait_until(conn->messages, ms))
		return fail("nothing comes on %s (state %d, %s)", conn->name, conn->state,
			    ibv_wc_status_str(conn->error));
	free(conn->current);
	conn->current = conn->messages;
	conn->messages = conn->current->next;
	if (!conn->messages)
		conn->last_message = &conn->messages;
	return true;
}

/* Waits for room in the send queue. */
static bool post(struct conn *conn, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	if (!conn->qp)
		return fail("%s has no queue pair", conn->name);
	if (!wait_until(conn->posted - conn->done < conn->depth, DEFAULT_LIMIT))
		return fail("%s: the send queue is stuck", conn->name);
	wr->send_flags |= IBV_SEND_SIGNALED;
	conn->posted++;
	return !ibv_post_send(conn->qp, wr, &bad) || fail("%s: posting failed", conn->name);
}

/* What is behind the first @cut bytes is where the device cannot read: it stops in the middle. */
bool conn_send(struct conn *conn, const uint8_t *data, size_t len, size_t cut, bool invalidate,
	       uint32_t rkey)
{
	unsigned int slot = conn->depth + conn->posted % conn->depth;
	size_t first = cut < len ? cut : len;
	struct ibv_sge sge[2] = {
		{
			.addr = (uintptr_t)conn->buffers + slot * conn->slot,
			.length = first,
			.lkey = conn->mr ? conn->mr->lkey : 0,
		},
		{
			.addr = (uintptr_t)conn->buffers + slot * conn->slot + first,
			.length = len - first,
		},
	};
	struct ibv_send_wr wr = {
		.wr_id = (uint64_t)WR_SEND << 32,
		.sg_list = sge, .num_sge = cut < len ? 2 : 1,
		.opcode = invalidate ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND,
		.invalidate_rkey = rkey,
	};

	if (!conn->qp || len > conn->slot)
		return fail("%s cannot send %zu bytes", conn->name, len);
	if (!wait_until(conn->posted - conn->done < conn->depth, DEFAULT_LIMIT))
		return fail("%s: the send queue is stuck", conn->name);
	memcpy(conn->buffers + slot * conn->slot, data, len);
	if (!post(conn, &wr))
		return false;
	return cut >= len || wait_until(conn->error, DEFAULT_LIMIT) ||
	       fail("%s: all of it has been sent", conn->name);
}

bool conn_rdma(struct conn *conn, bool read, const struct region *region, size_t offset,
	       size_t len, uint64_t addr, uint32_t rkey)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)region->data + offset,
		.length = len,
		.lkey = region->mr ? region->mr->lkey : 0,
	};
	struct ibv_send_wr wr = {
		.wr_id = (uint64_t)WR_RDMA << 32,
		.sg_list = &sge, .num_sge = 1,
		.opcode = read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
		.wr.rdma = { .remote_addr = addr, .rkey = rkey },
	};

	conn->rdma_posted++;
	return post(conn, &wr);
}

bool conn_bind(struct conn *conn, struct region *region, struct ibv_mr *mr)
{
	struct ibv_send_wr wr = {
		.wr_id = (uint64_t)WR_BIND << 32,
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = {
			.mw = region->mw,
			.rkey = region->rkey,
			.bind_info = {
				.mr = mr, .addr = (uintptr_t)mr->addr, .length = mr->length,
				.mw_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
			},
		},
	};

	if (!post(conn, &wr))
		return false;
	if (!wait_until(conn->done == conn->posted, DEFAULT_LIMIT) || conn->error)
		return fail("the window is not bound: %s", ibv_wc_status_str(conn->error));
	return true;
}

struct conn *conn_asked(void)
{
	struct conn *oldest = NULL;

	for (struct conn *conn = conns; conn; conn = conn->next)
		if (conn->state == CONN_ASKED)
			oldest = conn;
	return oldest;
}

bool conn_accept(struct conn *conn, const uint8_t *data, size_t len)
{
	struct rdma_conn_param param = {
		.private_data = data,
		.private_data_len = len,
		.responder_resources = RDMA_MAX_RESP_RES,
		.initiator_depth = RDMA_MAX_INIT_DEPTH,
		.rnr_retry_count = 7,
	};

	if (!conn->depth)
		conn->depth = 64;
	if (!conn->slot)
		conn->slot = 8192 + SQE_SIZE;
	if (!conn_make_qp(conn))
		return false;
	if (rdma_accept(conn->id, &param))
		return fail("accept: %s", strerror(errno));
	conn->state = CONN_WAITING;
	return true;
}
