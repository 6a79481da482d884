// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host's side: command capsules of any kind, and what has to come back for them. No answer is
 * taken that belongs to no capsule, whatever a script expects.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rawpeer.h"

#define CAPSULE_SIZE	(64 * 1024)

/* Status Code Type and Status Code, by the names of the Base Specification's tables. */
static const struct {
	const char *name;
	unsigned int status;
} statuses[] = {
	{ "success", 0x000 }, { "invalid-opcode", 0x001 }, { "invalid-field", 0x002 },
	{ "id-conflict", 0x003 }, { "transfer-error", 0x004 }, { "internal", 0x006 },
	{ "aborted", 0x007 }, { "invalid-namespace", 0x00b }, { "sequence", 0x00c },
	{ "sgl-segment", 0x00d }, { "sgl-count", 0x00e }, { "sgl-length", 0x00f },
	{ "sgl-type", 0x011 }, { "sgl-offset", 0x016 }, { "lba-range", 0x080 },
	{ "abort-limit", 0x103 }, { "aer-limit", 0x105 }, { "invalid-log", 0x109 },
	{ "not-saveable", 0x10d }, { "not-changeable", 0x10e },
	{ "connect-format", 0x180 }, { "connect-busy", 0x181 }, { "connect-parameters", 0x182 },
	{ "connect-host", 0x184 }, { "queue-type", 0x185 }, { "invalid-pi", 0x181 },
};

/* The status at the beginning of a list "a,b", as a name or a number. */
bool status_of(const char *text, uint64_t *status)
{
	size_t len = strcspn(text, ",");
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%.*s", (int)len, text);
	for (unsigned int i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		if (strcmp(statuses[i].name, name))
			continue;
		*status = statuses[i].status;
		return true;
	}
	return value_of(name, status);
}

static const char *status_name(unsigned int status)
{
	for (unsigned int i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		if (statuses[i].status == status)
			return statuses[i].name;
	return "?";
}

static bool status_in(const char *list, unsigned int status, bool *in)
{
	uint64_t one;

	*in = !strcmp(list, "any") || (!strcmp(list, "error") && status);
	while (!*in && strcmp(list, "error")) {
		if (!status_of(list, &one))
			return false;
		*in = one == status;
		list += strcspn(list, ",");
		if (!*list++)
			break;
	}
	return true;
}

static void put_descriptor(uint8_t *at, uint64_t addr, uint64_t len, uint32_t key, uint8_t type)
{
	put_le(at, addr, 8);
	if (type >> 4 == 4) {
		put_le(at + 8, len, 3);
		put_le(at + 11, key, 4);
	} else {
		put_le(at + 8, len, 4);
		put_le(at + 12, 0, 3);
	}
	at[15] = type;
}

/* "REGION:OFFSET:LENGTH[:TYPE]" */
static bool put_segment(uint8_t *at, const char *text)
{
	char name[NAME_SIZE], offset[NAME_SIZE], len[NAME_SIZE], type[NAME_SIZE] = "0x40";
	uint64_t o, l, t;
	struct region *region;

	if (sscanf(text, "%31[^:]:%31[^:]:%31[^:]:%31s", name, offset, len, type) < 3)
		return fail("segment %s is not REGION:OFFSET:LENGTH[:TYPE]", text);
	region = region_find(name);
	if (!region || !value_of(offset, &o) || !value_of(len, &l) || !value_of(type, &t))
		return false;
	put_descriptor(at, (uintptr_t)region->data + o, l, region->rkey, t);
	return true;
}

/* data=: "HEX", "byte:VALUE:LENGTH", "REGION:OFFSET:LENGTH" */
static bool put_data(const char *text, uint8_t *at, size_t size, size_t *len)
{
	char name[NAME_SIZE], first[NAME_SIZE], second[NAME_SIZE];
	struct region *region;
	uint64_t a, b;

	if (!strchr(text, ':'))
		return hex_bytes(text, at, size, len);
	if (sscanf(text, "%31[^:]:%31[^:]:%31s", name, first, second) != 3 ||
	    !value_of(first, &a) || !value_of(second, &b))
		return fail("data=%s is not HEX, byte:VALUE:LENGTH or REGION:OFFSET:LENGTH", text);
	if (b > size)
		return fail("too much data");
	*len = b;
	if (!strcmp(name, "byte")) {
		memset(at, a, b);
		return true;
	}
	region = region_find(name);
	if (!region)
		return false;
	if (a > region->size || b > region->size - a)
		return fail("%s is shorter", name);
	memcpy(at, region->data + a, b);
	return true;
}

/* The fields of the SQE that scripts name; everything else is @OFFSET=HEX. */
static bool put_fields(struct words *words, uint8_t *sqe)
{
	static const struct {
		const char *key;
		unsigned int offset, bytes;
	} fields[] = {
		{ "op", 0, 1 }, { "flags", 1, 1 }, { "cid", 2, 2 }, { "nsid", 4, 4 },
		{ "fctype", 4, 1 }, { "cdw10", 40, 4 }, { "cdw11", 44, 4 }, { "cdw12", 48, 4 },
		{ "cdw13", 52, 4 }, { "cdw14", 56, 4 }, { "cdw15", 60, 4 },
		{ "lba", 40, 8 }, { "attrib", 40, 1 }, { "offset", 44, 4 }, { "value", 48, 8 },
		{ "recfmt", 40, 2 }, { "qid", 42, 2 }, { "sqsize", 44, 2 }, { "cattr", 46, 1 },
		{ "kato", 48, 4 },
	};
	const char *text;
	uint64_t value;

	for (unsigned int i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		text = words_text(words, fields[i].key);
		if (!text)
			continue;
		if (!value_of(text, &value))
			return false;
		put_le(sqe + fields[i].offset, value, fields[i].bytes);
	}
	return true;
}

/* SGL1: keyed by mem=, in the capsule when there is data, a list of segments by seg=... */
static bool put_sgl(struct words *words, uint8_t *capsule, size_t *size)
{
	const char *mem = words_text(words, "mem"), *data = words_text(words, "data"), *segment;
	uint64_t addr = 0, len = 0, key = 0, type = 0x40, offset = 0;
	size_t behind = 0, bytes = 0;
	struct region *region;

	while ((segment = words_text(words, "seg"))) {
		if (!put_segment(capsule + SQE_SIZE + behind, segment))
			return false;
		behind += 16;
		type = 0x31;
	}
	if (data) {
		if (!put_data(data, capsule + SQE_SIZE + behind,
			      CAPSULE_SIZE - SQE_SIZE - behind, &bytes))
			return false;
		if (!behind)
			type = 0x01;
	}
	len = behind ? behind : bytes;
	if (mem) {
		region = region_find(mem);
		if (!region || !words_number(words, "off", &offset))
			return false;
		addr = (uintptr_t)region->data + offset;
		len = region->size - offset;
		key = region->rkey;
		type = 0x40;
	}
	if (!words_number(words, "addr", &addr) || !words_number(words, "len", &len) ||
	    !words_number(words, "key", &key) || !words_number(words, "type", &type))
		return false;
	put_descriptor(capsule + 24, addr, len, key, type);
	*size = SQE_SIZE + behind + bytes;
	return true;
}

/* The next CID that is not outstanding. */
static uint16_t fresh_cid(struct conn *conn)
{
	while (conn->outstanding[conn->next_cid])
		conn->next_cid++;
	return conn->next_cid++;
}

static bool command_send(struct words *words)
{
	static uint8_t capsule[CAPSULE_SIZE];
	struct conn *conn = conn_next(words);
	const char *raw = words_text(words, "raw"), *cid = words_text(words, "cid");
	uint64_t times = 1, bytes, cut = CAPSULE_SIZE, fixed = 0;
	size_t size;

	if (!conn)
		return false;
	memset(capsule, 0, sizeof(capsule));
	capsule[1] = 0x40;
	if (raw) {
		if (!hex_bytes(raw, capsule, sizeof(capsule), &size))
			return false;
	} else if (!put_sgl(words, capsule, &size) || !put_fields(words, capsule)) {
		return false;
	}
	if (cid && !value_of(cid, &fixed))
		return false;
	bytes = size;
	if (!words_number(words, "size", &bytes) || !words_number(words, "times", &times) ||
	    !words_number(words, "cut", &cut) || !words_patch(words, capsule, sizeof(capsule)))
		return false;
	while (times--) {
		conn->cid = cid ? fixed : fresh_cid(conn);
		if (!raw)
			put_le(capsule + 2, conn->cid, 2);
		conn->outstanding[conn->cid]++;
		if (!conn_send(conn, capsule, bytes, cut, false, 0))
			return false;
	}
	return true;
}

/* The message that has come must be a response to something that is outstanding. */
static bool take_answer(struct conn *conn, const char *statuses, bool *fits)
{
	const struct message *message = conn->current;
	unsigned int cid, status;

	if (message->len != CQE_SIZE)
		return fail("%s: a response of %u bytes", conn->name, message->len);
	cid = get_le(message->data + 12, 2);
	if (!conn->outstanding[cid])
		return fail("%s: a response to CID %#x, which is not outstanding", conn->name, cid);
	conn->outstanding[cid]--;
	if (get_le(message->data + 10, 2) != conn->qid)
		return fail("%s: SQID %llu", conn->name,
			    (unsigned long long)get_le(message->data + 10, 2));
	if (message->data[14] & 1)
		return fail("%s: the response has a phase tag", conn->name);
	status = get_le(message->data + 14, 2) >> 1 & 0x7ff;
	if (!status_in(statuses, status, fits))
		return false;
	if (!*fits)
		return fail("%s: CID %#x: status %#x (%s), not %s", conn->name, cid, status,
			    status_name(status), statuses);
	return true;
}

static bool command_answer(struct words *words)
{
	struct conn *conn = conn_next(words);
	const char *statuses = words_text(words, "status");
	const char *cid = words_text(words, "cid"), *dw0 = words_text(words, "dw0");
	uint64_t want_cid, want_dw0, sqhd, have;
	const char *head = words_text(words, "sqhd");
	unsigned int limit = time_limit(words);
	bool fits;

	if (!conn)
		return false;
	want_cid = conn->cid;
	if ((cid && !value_of(cid, &want_cid)) || (dw0 && !value_of(dw0, &want_dw0)) ||
	    (head && !value_of(head, &sqhd)))
		return false;
	if (!conn_message(conn, limit) ||
	    !take_answer(conn, statuses ? statuses : "success", &fits))
		return false;
	have = get_le(conn->current->data + 12, 2);
	if (have != want_cid)
		return fail("%s: CID %#llx", conn->name, (unsigned long long)have);
	have = get_le(conn->current->data, 4);
	if (dw0 && have != want_dw0)
		return fail("%s: CDW0 %#llx", conn->name, (unsigned long long)have);
	have = get_le(conn->current->data + 8, 2);
	if (head && have != sqhd)
		return fail("%s: SQHD %llu", conn->name, (unsigned long long)have);
	return true;
}

static bool command_answers(struct words *words)
{
	struct conn *conn = conn_next(words);
	const char *statuses = words_text(words, "status");
	unsigned int limit = time_limit(words);
	uint64_t count = 1;
	bool fits;

	if (!conn || !words_number(words, "n", &count))
		return false;
	while (count--)
		if (!conn_message(conn, limit) ||
		    !take_answer(conn, statuses ? statuses : "success", &fits))
			return false;
	return true;
}

/* Where the specification leaves it open: an answer with such a status, or the queue goes. */
static bool command_answer_or_gone(struct words *words)
{
	struct conn *conn = conn_next(words);
	const char *statuses = words_text(words, "status");
	unsigned int limit = time_limit(words);
	bool fits;

	if (!conn)
		return false;
	if (!wait_until(conn->messages || conn->state == CONN_GONE, limit))
		return fail("%s: neither an answer nor the end", conn->name);
	if (!conn->messages)
		return true;
	return conn_message(conn, 0) && take_answer(conn, statuses ? statuses : "error", &fits);
}

static bool command_silence(struct words *words)
{
	struct conn *conn = conn_next(words);
	uint64_t ms = 100;

	if (!conn || !words_number(words, "ms", &ms))
		return false;
	return !wait_until(conn->messages, ms) || fail("%s: something has come", conn->name);
}

static bool command_connect_data(struct words *words)
{
	const char *name = words_next(words);
	const char *sub = words_text(words, "subnqn"), *host = words_text(words, "hostnqn");
	const char *id = words_text(words, "hostid");
	struct region *region = name ? region_add(name, 1024, IBV_ACCESS_LOCAL_WRITE |
						  IBV_ACCESS_REMOTE_READ) : NULL;
	uint64_t cntlid = 0xffff;
	size_t len;

	if (!region || !words_number(words, "cntlid", &cntlid))
		return false;
	if (!hex_bytes(id ? id : "52617720706565722052617720706565", region->data, 16, &len))
		return false;
	put_le(region->data + 16, cntlid, 2);
	snprintf((char *)region->data + 256, 256, "%s", sub ? sub : variable("subnqn"));
	snprintf((char *)region->data + 512, 256, "%s", host ? host : variable("hostnqn"));
	return words_patch(words, region->data, 1024);
}

const struct command host_commands[] = {
	{ "send", command_send,
	  "CONN [op= flags=0x40 cid= nsid= cdw10=...cdw15= | lba= | fctype= qid= sqsize= kato=\n"
	  "\tcattr= recfmt= | attrib= offset= value=] [@OFFSET=HEX]... [size=BYTES] [cut=BYTES] [times=N]\n"
	  "\twith no data, or\n"
	  "\tmem=NAME [off= len=]: a keyed SGL;\n"
	  "\tdata=HEX|byte:VALUE:LENGTH|NAME:OFFSET:LENGTH: behind the SQE, and an SGL that says so;\n"
	  "\tseg=NAME:OFFSET:LENGTH[:TYPE]...: a list of keyed segments in the capsule;\n"
	  "\taddr= len= key= type=: what SGL1 says instead;\n"
	  "\tor raw=HEX: the whole capsule. size: so much of it goes out. cut: the\n"
	  "\tdevice fails after so much, in the middle of the SEND. CIDs count up" },
	{ "answer", command_answer,
	  "CONN [status=success] [cid=] [dw0=] [sqhd=] [within=MS]: the response to the last\n"
	  "\tcapsule. A status is a name, a number (SCT << 8 | SC), a list, error or any" },
	{ "answers", command_answers,
	  "CONN n=N [status=success] [within=MS]: so many, in any order" },
	{ "answer-or-gone", command_answer_or_gone,
	  "CONN [status=error] [within=MS]: an answer, or the end of the queue" },
	{ "silence", command_silence, "CONN [ms=100]: nothing may come" },
	{ "connect-data", command_connect_data,
	  "NAME [cntlid=0xffff] [subnqn=$subnqn] [hostnqn=$hostnqn] [hostid=HEX] [@OFFSET=HEX]:\n"
	  "\tmemory with the data of a Fabrics Connect" },
	{ }
};
