// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands about connections: to any point and no further, and how they end.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rawpeer.h"

#define RESOLVE_MS	2000
#define LOOK_MS		20	/* how often pause looks for a file */

static bool address(struct words *words, const char *key, const char *or, struct sockaddr_in *in)
{
	const char *text = words_text(words, key);

	memset(in, 0, sizeof(*in));
	in->sin_family = AF_INET;
	if (!text)
		text = or;
	return inet_pton(AF_INET, text, &in->sin_addr) == 1 || fail("%s is no address", text);
}

/* Private data from fields; defaults make an acceptable request of an Admin Queue. */
static bool private_request(struct words *words, uint8_t *data, uint64_t *len)
{
	uint64_t recfmt = 0, qid = 0, hrqsize = 32, hsqsize = 31, cntlid = 0;
	const char *hex = words_text(words, "private");
	size_t bytes;

	*len = 32;
	if (!words_number(words, "recfmt", &recfmt) || !words_number(words, "qid", &qid) ||
	    !words_number(words, "hrqsize", &hrqsize) ||
	    !words_number(words, "hsqsize", &hsqsize) ||
	    !words_number(words, "cntlid", &cntlid))
		return false;
	put_le(data, recfmt, 2);
	put_le(data + 2, qid, 2);
	put_le(data + 4, hrqsize, 2);
	put_le(data + 6, hsqsize, 2);
	put_le(data + 8, cntlid, 2);
	if (hex) {
		if (!hex_bytes(hex, data, PRIVATE_SIZE, &bytes))
			return false;
		*len = bytes;
	}
	return words_number(words, "length", len) && words_patch(words, data, PRIVATE_SIZE) &&
	       (*len <= PRIVATE_SIZE || fail("private data is at most %d bytes", PRIVATE_SIZE));
}

static bool command_connect(struct words *words)
{
	uint64_t len, port = 4420, reads = 4, serves = 4, receives = 64, slot = 8192 + SQE_SIZE;
	uint64_t qpn = 0;
	const char *name = words_next(words), *until = words_text(words, "until");
	uint8_t data[PRIVATE_SIZE] = { 0 };
	struct sockaddr_in to, from;
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	unsigned int limit = time_limit(words);
	struct conn *conn;

	if (!name || !address(words, "addr", "10.77.0.1", &to) ||
	    !address(words, "from", "10.77.0.2", &from) || !words_number(words, "port", &port) ||
	    !words_number(words, "reads", &reads) || !words_number(words, "serves", &serves) ||
	    !words_number(words, "receives", &receives) || !words_number(words, "slot", &slot) ||
	    !words_number(words, "qpn", &qpn) || !private_request(words, data, &len))
		return false;
	to.sin_port = htons(port);
	conn = conn_add(name);
	if (!conn)
		return false;
	conn->depth = receives;
	conn->slot = slot;
	conn->hold = words_flag(words, "hold");
	conn->stingy = words_flag(words, "stingy");
	conn->qid = get_le(data + 2, 2);
	if (rdma_create_id(conn->events, &conn->id, conn, RDMA_PS_TCP))
		return fail("no identifier: %s", strerror(errno));
	if (rdma_resolve_addr(conn->id, (void *)&from, (void *)&to, RESOLVE_MS) ||
	    !wait_until(conn->state == CONN_ADDRESS, RESOLVE_MS))
		return fail("the address is not resolved");
	if (until && !strcmp(until, "address"))
		return true;
	if (rdma_resolve_route(conn->id, RESOLVE_MS) ||
	    !wait_until(conn->state == CONN_ROUTE, RESOLVE_MS))
		return fail("there is no route");
	if (until && !strcmp(until, "route"))
		return true;
	if (!qpn && !conn_make_qp(conn))
		return false;
	conn->qpn = qpn ? qpn : conn->qp->qp_num;
	param.private_data = len ? data : NULL;
	param.private_data_len = len;
	param.initiator_depth = reads;
	param.responder_resources = serves;
	param.qp_num = conn->qpn;
	conn->state = CONN_WAITING;
	if (rdma_connect(conn->id, &param))
		return fail("connect: %s", strerror(errno));
	if (until && !strcmp(until, "request")) {
		conn->deaf = true;
		return true;
	}
	if (until)
		return fail("until= address, route or request");
	wait_until(conn->state != CONN_WAITING, limit);
	return conn->state != CONN_WAITING || fail("no answer to the connect request");
}

static bool command_accepted(struct words *words)
{
	struct conn *conn = conn_next(words);
	uint64_t crqsize = 0;

	if (!conn || !words_number(words, "crqsize", &crqsize))
		return false;
	if (conn->state != CONN_UP && conn->state != CONN_RESPONDED)
		return fail("%s is not accepted: state %d, reason %d, status %llu", conn->name,
			    conn->state, conn->reason,
			    (unsigned long long)get_le(conn->private_data + 2, 2));
	if (conn->private_len < 32 || get_le(conn->private_data, 2))
		return fail("the accept's private data is malformed");
	if (crqsize && get_le(conn->private_data + 2, 2) != crqsize)
		return fail("CRQSIZE is %llu", (unsigned long long)get_le(conn->private_data + 2, 2));
	for (unsigned int i = 4; i < 32; i++)
		if (conn->private_data[i])
			return fail("byte %u of the accept's private data is not 0", i);
	return true;
}

/* What the specification lets a controller choose from is "status=1,3". */
static bool one_of(const char *list, uint64_t number)
{
	uint64_t one;
	char *end;

	for (;; list = end + 1) {
		one = strtoull(list, &end, 0);
		if (end == list)
			return false;
		if (one == number)
			return true;
		if (*end != ',')
			return false;
	}
}

static bool command_rejected(struct words *words)
{
	struct conn *conn = conn_next(words);
	const char *want = words_text(words, "status");
	unsigned int limit = time_limit(words);
	uint64_t status, reason = 28;		/* consumer defined */

	if (!conn || !words_number(words, "reason", &reason))
		return false;
	conn->deaf = false;
	if (!wait_until(conn->state == CONN_REJECTED, limit))
		return fail("%s is not rejected: state %d", conn->name, conn->state);
	status = get_le(conn->private_data + 2, 2);
	if ((uint64_t)conn->reason != reason)
		return fail("%s is rejected for reason %d", conn->name, conn->reason);
	if (!want)
		return true;
	if (conn->private_len < 4 || get_le(conn->private_data, 2))
		return fail("the reject's private data is malformed");
	return one_of(want, status) ||
	       fail("%s is rejected with status %llu", conn->name, (unsigned long long)status);
}

static bool command_establish(struct words *words)
{
	struct conn *conn = conn_next(words);

	if (!conn)
		return false;
	if (conn->state != CONN_RESPONDED || rdma_establish(conn->id))
		return fail("%s cannot be established", conn->name);
	conn->state = CONN_UP;
	return true;
}

static bool command_gone(struct words *words)
{
	struct conn *conn = conn_next(words);
	unsigned int limit = time_limit(words);

	if (!conn)
		return false;
	conn->deaf = false;
	return wait_until(conn->state == CONN_GONE || conn->state == CONN_REJECTED, limit) ||
	       fail("%s is still there: state %d, %s", conn->name, conn->state,
		    ibv_wc_status_str(conn->error));
}

static bool command_up(struct words *words)
{
	struct conn *conn = conn_next(words);
	uint64_t ms = 0;

	if (!conn || !words_number(words, "for", &ms))
		return false;
	return !wait_until(conn->state != CONN_UP, ms) ||
	       fail("%s has gone: state %d, %s", conn->name, conn->state,
		    ibv_wc_status_str(conn->error));
}

static bool command_leave(struct words *words)
{
	struct conn *conn = conn_next(words);

	if (!conn)
		return false;
	rdma_disconnect(conn->id);
	return wait_until(conn->state == CONN_GONE, 1000) || true;
}

static bool command_drop(struct words *words)
{
	struct conn *conn = conn_next(words);

	if (!conn)
		return false;
	conn_drop(conn);
	return true;
}

static bool command_kill(struct words *words)
{
	struct conn *conn = conn_next(words);

	if (!conn)
		return false;
	conn->deaf = true;
	conn_kill(conn);
	return true;
}

static bool command_deaf(struct words *words)
{
	struct conn *conn = conn_next(words);

	if (conn)
		conn->deaf = true;
	return conn;
}

static bool command_listen(struct words *words)
{
	const char *name = words_next(words);
	struct sockaddr_in at;
	uint64_t port = 4420;
	struct conn *conn;

	if (!name || !address(words, "addr", "10.77.0.1", &at) ||
	    !words_number(words, "port", &port))
		return false;
	at.sin_port = htons(port);
	conn = conn_add(name);
	if (!conn)
		return false;
	if (rdma_create_id(conn->events, &conn->id, conn, RDMA_PS_TCP) ||
	    rdma_bind_addr(conn->id, (void *)&at) || rdma_listen(conn->id, 128))
		return fail("cannot listen: %s", strerror(errno));
	return true;
}

static bool command_asked(struct words *words)
{
	struct conn *listener = conn_next(words), *conn;
	const char *name = words_next(words);
	unsigned int limit = time_limit(words);
	uint64_t qpn = 0;

	if (!listener || !name || !words_number(words, "qpn", &qpn))
		return false;
	if (!wait_until(conn_asked(), limit))
		return fail("nobody connects");
	conn = conn_asked();
	if (qpn && conn->qpn != qpn)
		return fail("queue pair %u connects", conn->qpn);
	conn->state = CONN_NEW;
	snprintf(conn->name, NAME_SIZE, "%s", name);
	conn->qid = get_le(conn->private_data + 2, 2);
	return true;
}

static bool private_reply(struct words *words, uint8_t *data, size_t *len, uint64_t value)
{
	const char *hex = words_text(words, "private");
	uint64_t recfmt = 0, bytes = *len;

	if (!words_number(words, "recfmt", &recfmt))
		return false;
	put_le(data, recfmt, 2);
	put_le(data + 2, value, 2);
	if (hex && !hex_bytes(hex, data, PRIVATE_SIZE, len))
		return false;
	if (hex)
		bytes = *len;
	if (!words_number(words, "length", &bytes) || bytes > PRIVATE_SIZE)
		return fail("private data is at most %d bytes", PRIVATE_SIZE);
	*len = bytes;
	return words_patch(words, data, PRIVATE_SIZE);
}

static bool command_accept(struct words *words)
{
	struct conn *conn = conn_next(words);
	uint8_t data[PRIVATE_SIZE] = { 0 };
	uint64_t crqsize = 32;
	size_t len = 32;

	if (!conn || !words_number(words, "crqsize", &crqsize) ||
	    !private_reply(words, data, &len, crqsize))
		return false;
	return conn_accept(conn, data, len);
}

static bool command_reject(struct words *words)
{
	struct conn *conn = conn_next(words);
	uint8_t data[PRIVATE_SIZE] = { 0 };
	uint64_t status = 6;
	size_t len = 4;

	if (!conn || !words_number(words, "status", &status) ||
	    !private_reply(words, data, &len, status))
		return false;
	conn->state = CONN_REJECTED;
	return !rdma_reject(conn->id, len ? data : NULL, len) || fail("cannot reject");
}

static bool command_rdma(struct words *words)
{
	struct conn *conn = conn_next(words);
	const char *op = words_next(words), *mem = words_text(words, "mem");
	struct region *region = mem ? region_find(mem) : NULL;
	uint64_t offset = 0, len = 0, addr = 0, rkey = 0;

	if (!conn || !op || !region)
		return fail("rdma CONN read|write mem=...");
	len = region->size;
	if (!words_number(words, "off", &offset) || !words_number(words, "len", &len) ||
	    !words_number(words, "addr", &addr) || !words_number(words, "rkey", &rkey))
		return false;
	return conn_rdma(conn, !strcmp(op, "read"), region, offset, len, addr, rkey);
}

static bool command_done(struct words *words)
{
	static const struct {
		const char *name;
		enum ibv_wc_status status;
	} names[] = {
		{ "ok", IBV_WC_SUCCESS }, { "remote-access", IBV_WC_REM_ACCESS_ERR },
		{ "remote-operation", IBV_WC_REM_OP_ERR },
		{ "remote-request", IBV_WC_REM_INV_REQ_ERR }, { "flushed", IBV_WC_WR_FLUSH_ERR },
		{ "retries", IBV_WC_RETRY_EXC_ERR },
	};
	struct conn *conn = conn_next(words);
	const char *want = words_text(words, "status");
	unsigned int limit = time_limit(words);

	if (!conn)
		return false;
	if (!wait_until(conn->rdma_done == conn->rdma_posted, limit))
		return fail("%s: no completion", conn->name);
	if (want && !strcmp(want, "any"))
		return true;
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(want ? want : "ok", names[i].name))
			return conn->rdma_status == names[i].status ||
			       fail("%s: the work request ended with %s", conn->name,
				    ibv_wc_status_str(conn->rdma_status));
	return fail("there is no status %s", want);
}

static bool command_pause(struct words *words)
{
	const char *file = words_text(words, "until");
	uint64_t ms = 0, end;

	if (!file) {
		if (!words_number(words, "ms", &ms))
			return false;
		wait_until(false, ms);
		return true;
	}
	/* It may take long, and others want the CPU. */
	end = now_ms() + time_limit(words);
	while (access(file, F_OK)) {
		if (now_ms() >= end)
			return fail("there is no file %s", file);
		step(LOOK_MS);
	}
	return true;
}

const struct command conn_commands[] = {
	{ "connect", command_connect,
	  "NAME [addr= from= port=] [qid= hrqsize= hsqsize= cntlid= recfmt=] [private=HEX]\n"
	  "\t[length=BYTES] [@OFFSET=HEX] [reads=4 serves=4] [receives=64] [slot=BYTES] [hold]\n"
	  "\t[stingy] [qpn=N] [until=address|route|request]: ask for a connection; returns when it\n"
	  "\tis answered. hold: the accept is not confirmed; stingy: no receive is posted again;\n"
	  "\tqpn: say that this is its queue pair, and make none; until: go no further, and take no\n"
	  "\tnotice of what comes" },
	{ "accepted", command_accepted, "CONN [crqsize=]: must be, with well-formed data" },
	{ "rejected", command_rejected,
	  "CONN [status=N[,N...]] [reason=28]: must be, with an NVMe/RDMA status" },
	{ "establish", command_establish, "CONN: confirm the accept" },
	{ "gone", command_gone, "CONN [within=MS]: the peer must end it" },
	{ "up", command_up, "CONN [for=MS]: the peer must not end it" },
	{ "leave", command_leave, "CONN: disconnect" },
	{ "drop", command_drop, "CONN: destroy all of it at once" },
	{ "kill", command_kill, "CONN: destroy the queue pair and say nothing" },
	{ "deaf", command_deaf, "CONN: take no notice of connection events any more" },
	{ "listen", command_listen, "NAME [addr= port=]" },
	{ "asked", command_asked,
	  "LISTENER NAME [within=MS] [qpn=N]: wait for a connect request; it must be of this\n"
	  "\tqueue pair" },
	{ "accept", command_accept,
	  "CONN [crqsize=32] [recfmt=] [private=HEX] [length=BYTES] [@OFFSET=HEX]" },
	{ "reject", command_reject, "CONN [status=6] [recfmt=] [private=HEX] [length=BYTES]" },
	{ "rdma", command_rdma,
	  "CONN read|write mem=NAME [off= len=] addr= rkey=: reach the peer's memory" },
	{ "done", command_done,
	  "CONN [status=ok|remote-access|remote-operation|remote-request|flushed|retries|any]\n"
	  "\t[within=MS]: every rdma has ended, the last one so" },
	{ "pause", command_pause,
	  "ms=N | until=FILE [within=MS]: keep everything going for so long, or until there is\n"
	  "\tsuch a file" },
	{ }
};
