// SPDX-License-Identifier: GPL-2.0-only
/*
 * The target's side: a target that is sane as far as a script wants it to be, and then answers as
 * the script says. What it shows a host lies in memory regions that a script may change:
 *
 *	id_ctrl, id_ns, ns_list, ns_desc	Identify data
 *	log					any log page (Discovery: 0x70)
 *	disk					the blocks of namespace 1
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rawpeer.h"

#define DISK_SIZE	(1024 * 1024)
#define BLOCK		512
#define OP_FABRICS	0x7f

static struct region *page(const char *name, size_t size)
{
	return region_add(name, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			  IBV_ACCESS_REMOTE_WRITE);
}

/* Identify data of a controller with one namespace, as little as an initiator wants. */
static bool command_pages(struct words *words)
{
	struct region *ctrl = page("id_ctrl", 4096), *ns = page("id_ns", 4096);
	struct region *list = page("ns_list", 4096), *desc = page("ns_desc", 4096);
	struct region *log = page("log", 65536), *disk = page("disk", DISK_SIZE);
	const char *nqn = variable("subnqn");

	if (!ctrl || !ns || !list || !desc || !log || !disk)
		return false;
	memset(ctrl->data + 4, ' ', 68);
	memcpy(ctrl->data + 4, "RAWPEER", 7);		/* serial number */
	memcpy(ctrl->data + 24, "Raw Peer", 8);		/* model */
	memcpy(ctrl->data + 64, "1", 1);		/* firmware */
	ctrl->data[77] = 5;				/* MDTS: 128 KiB */
	put_le(ctrl->data + 78, 1, 2);			/* CNTLID */
	put_le(ctrl->data + 80, 0x10400, 4);		/* VER 1.4 */
	ctrl->data[111] = 1;				/* CNTRLTYPE: I/O */
	put_le(ctrl->data + 320, 10, 2);		/* KAS: 1 s */
	ctrl->data[512] = 0x66;				/* SQES */
	ctrl->data[513] = 0x44;				/* CQES */
	put_le(ctrl->data + 514, 64, 2);		/* MAXCMD */
	put_le(ctrl->data + 516, 1, 4);			/* NN */
	put_le(ctrl->data + 536, 0x100005, 4);		/* SGLS: keyed, offset */
	snprintf((char *)ctrl->data + 768, 256, "%s", nqn ? nqn : "nqn.2026-11.org.example:raw");
	put_le(ctrl->data + 1792, (64 + 4096) / 16, 4);	/* IOCCSZ */
	put_le(ctrl->data + 1796, 1, 4);		/* IORCSZ */
	ctrl->data[1803] = 1;				/* MSDBD */

	put_le(ns->data, DISK_SIZE / BLOCK, 8);		/* NSZE, NCAP, NUSE */
	put_le(ns->data + 8, DISK_SIZE / BLOCK, 8);
	put_le(ns->data + 16, DISK_SIZE / BLOCK, 8);
	put_le(ns->data + 128, 9 << 16, 4);		/* LBAF0: 512 bytes */
	put_le(list->data, 1, 4);
	desc->data[0] = 3;				/* a UUID */
	desc->data[1] = 16;
	memcpy(desc->data + 4, "raw peer's disk.", 16);
	(void)words;
	return true;
}

/* Data to where the capsule says, in one piece. Nothing when it does not say it with a key. */
static bool give(struct conn *conn, const struct region *region, size_t offset)
{
	const uint8_t *sqe = conn->current->data;
	uint64_t addr = get_le(sqe + 24, 8);
	size_t len = get_le(sqe + 32, 3);

	if (sqe[39] >> 4 != 4 || !len)
		return true;
	if (!region || offset > region->size)
		return true;
	if (len > region->size - offset)
		len = region->size - offset;
	return conn_rdma(conn, false, region, offset, len, addr, get_le(sqe + 35, 4));
}

static bool respond(struct conn *conn, uint64_t result, unsigned int status)
{
	const uint8_t *sqe = conn->current->data;
	uint8_t cqe[CQE_SIZE] = { 0 };

	put_le(cqe, result, 8);
	put_le(cqe + 10, conn->qid, 2);
	memcpy(cqe + 12, sqe + 2, 2);
	put_le(cqe + 14, status << 1, 2);
	return conn_send(conn, cqe, sizeof(cqe), sizeof(cqe), false, 0);
}

static bool serve_property(struct conn *conn)
{
	const uint8_t *sqe = conn->current->data;
	unsigned int offset = get_le(sqe + 44, 4);
	const char *cap = variable("cap"), *csts = variable("csts");
	uint64_t value = 0;

	if (sqe[4] == 0) {
		conn->cc = get_le(sqe + 48, 4);
		return respond(conn, 0, 0);
	}
	switch (offset) {
	case 0x0:		/* CAP: MQES 63, CQR, TO 7.5 s, NVM command set */
		value = 63 | 1 << 16 | 15 << 24 | 1ULL << 37;
		if (cap && !value_of(cap, &value))
			return false;
		break;
	case 0x8:		/* VS */
		value = 0x10400;
		break;
	case 0x14:		/* CC */
		value = conn->cc;
		break;
	case 0x1c:		/* CSTS: RDY as CC.EN says; shutdown is complete at once */
		value = (conn->cc & 1) | (conn->cc & 0xc000 ? 8 : 0);
		if (csts && strcmp(csts, "sane") && !value_of(csts, &value))
			return false;
		break;
	}
	return respond(conn, value, 0);
}

static bool serve_fabrics(struct conn *conn)
{
	const uint8_t *sqe = conn->current->data;
	const char *text = variable("cntlid");
	uint64_t cntlid = 1;

	switch (sqe[4]) {
	case 0x00: case 0x04:
		return serve_property(conn);
	case 0x01:
		return (!text || value_of(text, &cntlid)) && respond(conn, cntlid, 0);
	default:
		return respond(conn, 0, 0x4001);
	}
}

static bool serve_identify(struct conn *conn)
{
	switch (conn->current->data[40]) {
	case 0x00:
		return give(conn, region_find("id_ns"), 0) && respond(conn, 0, 0);
	case 0x01:
		return give(conn, region_find("id_ctrl"), 0) && respond(conn, 0, 0);
	case 0x02:
		return give(conn, region_find("ns_list"), 0) && respond(conn, 0, 0);
	case 0x03:
		return give(conn, region_find("ns_desc"), 0) && respond(conn, 0, 0);
	default:
		return respond(conn, 0, 0x4002);
	}
}

static bool serve_admin(struct conn *conn)
{
	const uint8_t *sqe = conn->current->data;

	switch (sqe[0]) {
	case 0x02:
		return give(conn, region_find("log"), get_le(sqe + 48, 8)) && respond(conn, 0, 0);
	case 0x06:
		return serve_identify(conn);
	case 0x09: case 0x0a:	/* Features; as many queues as are asked for */
		return respond(conn, sqe[40] == 7 ? get_le(sqe + 44, 4) : 0, 0);
	case 0x0c:		/* Asynchronous Event Request */
		return true;
	case 0x18:
		return respond(conn, 0, 0);
	default:
		return respond(conn, 0, 0x4001);
	}
}

static bool serve_io(struct conn *conn)
{
	const uint8_t *sqe = conn->current->data;
	uint64_t lba = get_le(sqe + 40, 8);

	if (sqe[0] == 0x02 && !give(conn, region_find("disk"), lba * BLOCK))
		return false;
	return respond(conn, 0, sqe[0] <= 0x02 ? 0 : 0x4001);
}

static bool serve_one(struct conn *conn)
{
	if (conn->current->data[0] == OP_FABRICS)
		return serve_fabrics(conn);
	return conn->qid ? serve_io(conn) : serve_admin(conn);
}

/* Conditions are fields of the capsule: op=6 u8@40=1, and qid=. */
static bool matches(struct words *words, struct conn *conn, bool *is)
{
	char text[LINE_SIZE];
	uint64_t have, want;
	char *value;

	*is = true;
	conn_hit(conn);
	for (int i = 1; i < words->count && *is; i++) {
		if (words->used[i])
			continue;
		snprintf(text, sizeof(text), "hit.%s",
			 strncmp(words->word[i], "op=", 3) ? words->word[i] : "opcode=");
		value = strchr(text, '=');
		if (!value)
			return fail("%s is no condition", words->word[i]);
		*value = '\0';
		if (!value_of(text, &have) || !value_of(strchr(words->word[i], '=') + 1, &want))
			return false;
		*is = have == want;
	}
	return true;
}

static void use_all(struct words *words)
{
	for (int i = 1; i < words->count; i++)
		words->used[i] = true;
}

/* What a peer asks for while serving is accepted, and called q0, q1 ... */
static void take_in(struct conn *conn)
{
	uint8_t data[32] = { 0 };

	conn->qid = get_le(conn->private_data + 2, 2);
	snprintf(conn->name, NAME_SIZE, "q%u", conn->qid);
	put_le(data + 2, 32, 2);
	/* It may have changed its mind. */
	if (!conn_accept(conn, data, sizeof(data)))
		conn->state = CONN_GONE;
}

static struct conn *anybody_with_message(void)
{
	for (struct conn *conn = conns; conn; conn = conn->next)
		if (conn->messages)
			return conn;
	return NULL;
}

/* A program of this machine that the script is about, one at a time. */

static pid_t child;
static int child_status;

static bool ran(void)
{
	if (child && waitpid(child, &child_status, WNOHANG) == child)
		child = 0;
	return !child;
}

/* The one of the test before, if it is still there. */
void child_clear(void)
{
	if (!child)
		return;
	kill(-child, SIGKILL);
	waitpid(child, &child_status, 0);
	child = 0;
}

static bool command_run(struct words *words)
{
	const char *command = words->count > 1 ? words->word[1] : NULL;

	if (!command || !ran())
		return fail("run COMMAND, when the last one has ended");
	words->used[1] = true;
	child = fork();
	if (child)
		return child > 0 || fail("no process");
	setpgid(0, 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static bool command_ran(struct words *words)
{
	const char *status = words_text(words, "status");
	unsigned int limit = time_limit(words);
	int code;

	if (!wait_until(ran(), limit))
		return fail("it still runs");
	code = WIFEXITED(child_status) ? WEXITSTATUS(child_status) : 128;
	if (!status || !strcmp(status, "any"))
		return code < 124 || fail("it ended with status %d", code);
	return (!strcmp(status, "failed") ? code && code < 124 : code == atoi(status)) ||
	       fail("it ended with status %d", code);
}

static bool command_serve(struct words *words)
{
	struct conn *listener = conn_next(words), *conn;
	bool until_ran = words_flag(words, "ran"), forever, is = false;
	uint64_t end = now_ms() + time_limit(words), during = 0;

	if (!listener || !words_number(words, "during", &during))
		return false;
	forever = during || until_ran;
	if (during)
		end = now_ms() + during;
	while (now_ms() < end) {
		if (until_ran && ran())
			return true;
		step(!anybody_with_message());
		while ((conn = conn_asked()))
			take_in(conn);
		conn = anybody_with_message();
		if (!conn)
			continue;
		conn_message(conn, 0);
		if (conn->current->len < SQE_SIZE)
			return fail("a capsule of %u bytes", conn->current->len);
		if (!forever) {
			if (!matches(words, conn, &is))
				return false;
			if (is) {
				use_all(words);
				return true;
			}
		}
		/* Whoever has gone takes no answer. */
		if (!serve_one(conn) && conn->state == CONN_UP && !conn->error)
			return false;
	}
	use_all(words);
	if (until_ran)
		return fail("it still runs");
	return forever || fail("no such capsule came");
}

static bool command_await(struct words *words)
{
	struct conn *conn = conn_next(words);
	unsigned int limit = time_limit(words);
	bool is;

	if (!conn || !conn_message(conn, limit) || !matches(words, conn, &is))
		return false;
	use_all(words);
	return is || fail("%s: another capsule came: opcode %#x", conn->name,
			  conn->current->data[0]);
}

static bool command_reply(struct words *words)
{
	struct conn *conn = conn_next(words);
	const char *status = words_text(words, "status"), *inv = words_text(words, "inv");
	uint64_t code = 0, cid, dw0 = 0, sqhd = 0, size = CQE_SIZE, times = 1, key = 0;
	uint8_t cqe[4096] = { 0 };
	uint64_t sqid;

	if (!conn)
		return false;
	if (!conn->current)
		return fail("%s: nothing to reply to", conn->name);
	cid = get_le(conn->current->data + 2, 2);
	sqid = conn->qid;
	if ((status && !status_of(status, &code)) || (inv && !value_of(inv, &key)) ||
	    !words_number(words, "cid", &cid) || !words_number(words, "dw0", &dw0) ||
	    !words_number(words, "sqhd", &sqhd) || !words_number(words, "sqid", &sqid) ||
	    !words_number(words, "size", &size) || !words_number(words, "times", &times))
		return false;
	put_le(cqe, dw0, 8);
	put_le(cqe + 8, sqhd, 2);
	put_le(cqe + 10, sqid, 2);
	put_le(cqe + 12, cid, 2);
	put_le(cqe + 14, code << 1, 2);
	if (!words_patch(words, cqe, sizeof(cqe)) || size > sizeof(cqe))
		return fail("it does not fit");
	while (times--)
		if (!conn_send(conn, cqe, size, size, inv, key))
			return false;
	return true;
}

static bool command_answer_sanely(struct words *words)
{
	struct conn *conn = conn_next(words);

	return conn && serve_one(conn);
}

static bool command_name(struct words *words)
{
	struct conn *conn = conn_next(words);
	const char *name = words_next(words);

	if (!conn || !name)
		return false;
	snprintf(conn->name, NAME_SIZE, "%s", name);
	return true;
}

const struct command target_commands[] = {
	{ "pages", command_pages,
	  ": make id_ctrl, id_ns, ns_list, ns_desc, log and disk with sane contents. The\n"
	  "\tvariable cap, if set, is CAP; csts, unless it is \"sane\", CSTS; cntlid what Connect says" },
	{ "serve", command_serve,
	  "LISTENER [during=MS] [ran] [within=MS] [FIELD=VALUE]...: be a sane target to all that\n"
	  "\tconnect (q0, q1...), until a capsule has these fields (op, fctype, qid, cdw10, u8@40...):\n"
	  "\tits connection is \"hit\", and it has no answer yet; ran: until what run began has\n"
	  "\tended" },
	{ "await", command_await, "CONN [within=MS] [FIELD=VALUE]...: the next capsule must be so" },
	{ "reply", command_reply,
	  "CONN [cid= status= dw0= sqhd= sqid=] [@OFFSET=HEX] [size=16] [inv=KEY] [times=1]:\n"
	  "\tanswer the last capsule so" },
	{ "reply-sanely", command_answer_sanely, "CONN: as serve would" },
	{ "name", command_name, "CONN NAME: call it so from now on" },
	{ "run", command_run, "COMMAND: begin a command of the shell (quote it)" },
	{ "ran", command_ran,
	  "[status=any|failed|N] [within=MS]: it has ended so; any is not a time-out or crash" },
	{ }
};
