// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: how many tags a queue has (a byte), then what happens on it, a record of 24 bytes each:
 * which event, tag, flags, a byte that is nothing, a key (4 bytes), a response (16 bytes). Commands
 * are submitted and posted, and the device reports what it was asked for, as it does; responses are
 * whatever comes, also before the post. A model says which of them may be taken, when a key has to
 * be made void, and when a command ends: once, not before its post and its response, and not while
 * the peer has a key.
 */
#include "fuzz.h"
#include "host/flight.h"

#define TAGS_MAX	64

struct record {
	u8 event;	/* 0 submission, 1 the device reports, 3 the post returns, else response */
	u8 tag;
	u8 flags;
	u8 pad;
	u32 rkey;
	u8 cqe[16];
};

#define FLAG_SIGNALLED		1
#define FLAG_KEYED		2
#define FLAG_INVALIDATED	1
#define FLAG_INVALIDATION	1

/* What is known of a tag without asking the code under test. */
struct model {
	struct polh_flight flight;
	bool busy;
	bool posted;
	bool sending;		/* a completion of the SEND will come */
	bool answered;
	bool keyed;		/* the peer has a key */
	bool invalidating;	/* its end has been asked for */
	u32 rkey;
	u8 cqe[16];
};

static void submit(struct model *tag, const struct record *record)
{
	int waiting = POLH_WAIT_RESPONSE | POLH_WAIT_CHECK;

	if (tag->busy)
		return;
	memset(tag, 0xa5, sizeof(*tag));
	tag->busy = true;
	tag->posted = false;
	tag->answered = false;
	tag->invalidating = false;
	tag->sending = record->flags & FLAG_SIGNALLED;
	tag->keyed = record->flags & FLAG_KEYED;
	tag->rkey = record->rkey;
	tag->flight.rkey = record->rkey;
	memcpy(&tag->flight.command_id, record->cqe + 12, 2);
	if (tag->sending)
		waiting |= POLH_WAIT_SEND;
	if (tag->keyed)
		waiting |= POLH_WAIT_INVALIDATE;
	polh_flight_begin(&tag->flight, waiting);
}

static void done(struct model *tag, int what)
{
	bool revoke = tag->answered && tag->posted && tag->keyed && !tag->invalidating;
	bool over = tag->answered && tag->posted && !tag->sending && !tag->keyed;

	MUST(polh_flight_done(&tag->flight, what) ==
	     (over ? POLH_FLIGHT_END : revoke ? POLH_FLIGHT_REVOKE : POLH_FLIGHT_WAIT));
	tag->invalidating |= revoke;
	if (!over)
		return;
	MUST(!memcmp(&tag->flight.result, tag->cqe, 8));
	MUST(!memcmp(&tag->flight.status, tag->cqe + 14, 2));
	MUST(!atomic_read(&tag->flight.waiting));
	tag->busy = false;
}

static void report(struct model *tag, const struct record *record)
{
	if (!tag->busy)
		return;
	if (record->flags & FLAG_INVALIDATION) {
		if (!tag->invalidating)
			return;
		tag->invalidating = false;
		tag->keyed = false;
		done(tag, POLH_WAIT_INVALIDATE);
	} else if (tag->sending) {
		tag->sending = false;
		done(tag, POLH_WAIT_SEND);
	}
}

/* The post returns. A response that came before has been kept. */
static void post(struct model *tag)
{
	if (!tag->busy || tag->posted)
		return;
	tag->posted = true;
	done(tag, POLH_WAIT_POST);
}

/* What a response is, by the rules: the identifier first, then the key. */
static enum polh_verdict expected(const struct model *tag, const struct record *record)
{
	bool invalidated = record->flags & FLAG_INVALIDATED;

	if (!tag->busy || tag->answered || memcmp(&tag->flight.command_id, record->cqe + 12, 2))
		return POLH_ANSWER_UNKNOWN;
	if (invalidated)
		return tag->keyed && record->rkey == tag->rkey ? POLH_ANSWER_COMPLETE :
								 POLH_ANSWER_FOREIGN_KEY;
	return tag->keyed ? POLH_ANSWER_KEY_LEFT : POLH_ANSWER_COMPLETE;
}

static void respond(struct model *tags, unsigned int nr_tags, const struct record *record)
{
	unsigned int named = (record->cqe[12] | record->cqe[13] << 8) % 4096;
	struct nvme_completion *cqe = malloc(sizeof(*cqe));
	struct polh_flight before;
	enum polh_verdict answer;
	struct model *tag;
	int index;

	memcpy(cqe, record->cqe, sizeof(*cqe));
	index = polh_flight_tag(cqe, nr_tags);
	MUST(index == (named < nr_tags ? (int)named : -1));
	if (index >= 0) {
		tag = &tags[index];
		before = tag->flight;
		answer = polh_flight_answer(&tag->flight, cqe, record->flags & FLAG_INVALIDATED,
					    record->rkey);
		MUST(answer == expected(tag, record));
		if (answer == POLH_ANSWER_COMPLETE || answer == POLH_ANSWER_KEY_LEFT) {
			tag->answered = true;
			memcpy(tag->cqe, record->cqe, sizeof(tag->cqe));
			tag->keyed = answer == POLH_ANSWER_KEY_LEFT;
			done(tag, POLH_WAIT_CHECK | (tag->keyed ? 0 : POLH_WAIT_INVALIDATE));
		} else {
			MUST(!memcmp(&before, &tag->flight, sizeof(before)));
		}
	}
	free(cqe);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct record record;
	unsigned int nr_tags;
	struct model *tags;

	if (!size)
		return -1;
	nr_tags = data[0] % TAGS_MAX + 1;
	tags = calloc(nr_tags, sizeof(*tags));
	for (data++, size--; size >= sizeof(record); size -= sizeof(record)) {
		memcpy(&record, data, sizeof(record));
		data += sizeof(record);
		switch (record.event) {
		case 0:
			submit(&tags[record.tag % nr_tags], &record);
			break;
		case 1:
			report(&tags[record.tag % nr_tags], &record);
			break;
		case 3:
			post(&tags[record.tag % nr_tags]);
			break;
		default:
			respond(tags, nr_tags, &record);
			break;
		}
	}
	free(tags);
	return 0;
}
