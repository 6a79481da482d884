// SPDX-License-Identifier: GPL-2.0-only
/*
 * Responses to commands in flight: only the command's own is taken, once, and whatever else comes
 * changes nothing. A completion is 16 bytes (Base Specification, "Common Completion Queue Entry"):
 * result at 0, SQHD at 8, SQID at 10, CID at 12, status and phase at 14.
 */
#include <pthread.h>

#include "bytes.h"
#include "tap.h"
#include "host/flight.h"

#define ALL	(POLH_WAIT_SEND | POLH_WAIT_RESPONSE | POLH_WAIT_CHECK | POLH_WAIT_INVALIDATE)
#define SMALL	(POLH_WAIT_RESPONSE | POLH_WAIT_CHECK)
#define KEY	0x11223344

static const struct nvme_completion *response(u16 cid)
{
	static struct nvme_completion cqe;

	put_le(&cqe, 0, 0x0102030405060708, 8);
	put_le(&cqe, 8, 0xfefd, 2);
	put_le(&cqe, 10, 0xfcfb, 2);
	put_le(&cqe, 12, cid, 2);
	put_le(&cqe, 14, 0xc0de, 2);
	return &cqe;
}

static struct polh_flight flight;

static void begin_unposted(u16 cid, int waiting)
{
	memset(&flight, 0xa5, sizeof(flight));
	flight.command_id = cid;
	flight.rkey = KEY;
	polh_flight_begin(&flight, waiting);
}

static void begin(u16 cid, int waiting)
{
	begin_unposted(cid, waiting);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_POST),
		 waiting ? POLH_FLIGHT_WAIT : POLH_FLIGHT_END);
}

/* Give the command an answer; a refused one must have left everything as it was. */
static enum polh_verdict answer(u16 cid, bool invalidated, u32 rkey)
{
	struct polh_flight before = flight;
	enum polh_verdict result = polh_flight_answer(&flight, response(cid), invalidated, rkey);

	if (result != POLH_ANSWER_COMPLETE && result != POLH_ANSWER_KEY_LEFT)
		CHECK_MEM(&flight, &before, sizeof(before));
	return result;
}

TEST(a_completion_is_sixteen_bytes)
{
	CHECK_EQ(sizeof(struct nvme_completion), 16);
}

TEST(an_identifier_is_a_tag_and_a_generation)
{
	unsigned int generation;

	for (generation = 0; generation <= 0xf000; generation += 0x1000) {
		CHECK_EQ(polh_flight_tag(response(generation), 32), 0);
		CHECK_EQ(polh_flight_tag(response(generation | 31), 32), 31);
		CHECK_EQ(polh_flight_tag(response(generation | 32), 32), -1);
		CHECK_EQ(polh_flight_tag(response(generation | 33), 32), -1);
		CHECK_EQ(polh_flight_tag(response(generation | 0xfff), 32), -1);
		CHECK_EQ(polh_flight_tag(response(generation | 0xfff), 4095), -1);
		CHECK_EQ(polh_flight_tag(response(generation | 0xfff), 4096), 0xfff);
		CHECK_EQ(polh_flight_tag(response(generation | 0xfff), 65536), 0xfff);
		CHECK_EQ(polh_flight_tag(response(generation), 1), 0);
		CHECK_EQ(polh_flight_tag(response(generation), 0), -1);
	}
}

TEST(what_a_response_says_is_kept)
{
	begin(0x5007, SMALL);
	CHECK_EQ(answer(0x5007, false, 0), POLH_ANSWER_COMPLETE);
	CHECK_EQ(get_le(&flight.status, 0, 2), 0xc0de);
	CHECK_EQ(get_le(&flight.result, 0, 8), 0x0102030405060708);
	CHECK_EQ(flight.command_id, 0x5007);
	CHECK_EQ(atomic_read(&flight.waiting), POLH_WAIT_CHECK);
}

TEST(a_command_is_answered_once)
{
	begin(0x5007, SMALL);
	CHECK_EQ(answer(0x5007, false, 0), POLH_ANSWER_COMPLETE);
	CHECK_EQ(answer(0x5007, false, 0), POLH_ANSWER_UNKNOWN);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_CHECK | POLH_WAIT_INVALIDATE),
		 POLH_FLIGHT_END);
	CHECK_EQ(answer(0x5007, false, 0), POLH_ANSWER_UNKNOWN);
	CHECK_EQ(answer(0x5007, true, KEY), POLH_ANSWER_UNKNOWN);
}

TEST(a_tag_without_a_command_is_not_answered)
{
	begin(0x5007, 0);
	CHECK_EQ(answer(0x5007, false, 0), POLH_ANSWER_UNKNOWN);
	begin(0x5007, POLH_WAIT_SEND | POLH_WAIT_CHECK | POLH_WAIT_INVALIDATE);
	CHECK_EQ(answer(0x5007, false, 0), POLH_ANSWER_UNKNOWN);
	CHECK_EQ(answer(0x5007, true, KEY), POLH_ANSWER_UNKNOWN);
}

TEST(another_generation_is_another_command)
{
	unsigned int cid;

	for (cid = 0; cid <= 0xffff; cid++) {
		begin(0x5007, ALL);
		CHECK_EQ(answer(cid, true, KEY),
			 cid == 0x5007 ? POLH_ANSWER_COMPLETE : POLH_ANSWER_UNKNOWN);
	}
}

TEST(only_the_commands_key_may_be_invalidated)
{
	static const u32 others[] = { 0, KEY - 1, KEY + 1, KEY ^ 0x80000000, 0xffffffff };
	unsigned int i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		begin(1, ALL);
		CHECK_EQ(answer(1, true, others[i]), POLH_ANSWER_FOREIGN_KEY);
		begin(1, SMALL);
		CHECK_EQ(answer(1, true, others[i]), POLH_ANSWER_FOREIGN_KEY);
	}
	/* A key that an earlier command of the tag had is not this one's. */
	begin(1, SMALL);
	CHECK_EQ(answer(1, true, KEY), POLH_ANSWER_FOREIGN_KEY);
	begin(1, ALL);
	CHECK_EQ(answer(1, true, KEY), POLH_ANSWER_COMPLETE);
	CHECK_EQ(atomic_read(&flight.waiting), ALL & ~POLH_WAIT_RESPONSE);
	/* Nor is a number a key where nothing was invalidated. */
	begin(1, ALL);
	CHECK_EQ(answer(1, false, KEY), POLH_ANSWER_KEY_LEFT);
	begin(1, SMALL);
	CHECK_EQ(answer(1, false, KEY), POLH_ANSWER_COMPLETE);
}

TEST(a_key_that_is_left_is_waited_for)
{
	begin(1, ALL);
	CHECK_EQ(answer(1, false, 0), POLH_ANSWER_KEY_LEFT);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_CHECK), POLH_FLIGHT_REVOKE);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_SEND), POLH_FLIGHT_WAIT);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_INVALIDATE), POLH_FLIGHT_END);
	CHECK_EQ(atomic_read(&flight.waiting), 0);
}

TEST(an_answer_before_the_post_waits_for_it)
{
	begin_unposted(1, SMALL);
	CHECK_EQ(answer(1, false, 0), POLH_ANSWER_COMPLETE);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_CHECK | POLH_WAIT_INVALIDATE),
		 POLH_FLIGHT_WAIT);
	CHECK_EQ(atomic_read(&flight.waiting), POLH_WAIT_POST);
	CHECK_EQ(answer(1, false, 0), POLH_ANSWER_UNKNOWN);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_POST), POLH_FLIGHT_END);
	CHECK_EQ(atomic_read(&flight.waiting), 0);
}

TEST(a_key_is_revoked_once_and_after_the_post)
{
	begin_unposted(1, ALL);
	CHECK_EQ(answer(1, false, 0), POLH_ANSWER_KEY_LEFT);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_CHECK), POLH_FLIGHT_WAIT);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_POST), POLH_FLIGHT_REVOKE);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_POST), POLH_FLIGHT_WAIT);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_CHECK), POLH_FLIGHT_WAIT);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_SEND), POLH_FLIGHT_WAIT);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_INVALIDATE), POLH_FLIGHT_END);

	/* Nothing is revoked before the answer, nor for one that left no key. */
	begin_unposted(1, ALL);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_SEND), POLH_FLIGHT_WAIT);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_POST), POLH_FLIGHT_WAIT);
	CHECK_EQ(answer(1, true, KEY), POLH_ANSWER_COMPLETE);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_CHECK | POLH_WAIT_INVALIDATE),
		 POLH_FLIGHT_END);
	begin_unposted(1, ALL);
	CHECK_EQ(answer(1, true, KEY), POLH_ANSWER_COMPLETE);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_CHECK | POLH_WAIT_INVALIDATE),
		 POLH_FLIGHT_WAIT);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_POST), POLH_FLIGHT_WAIT);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_SEND), POLH_FLIGHT_END);
}

TEST(what_was_not_waited_for_ends_nothing)
{
	begin(1, 0);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_SEND), POLH_FLIGHT_WAIT);
	CHECK_EQ(polh_flight_done(&flight, ALL | POLH_WAIT_POST), POLH_FLIGHT_WAIT);
	begin(1, SMALL);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_SEND), POLH_FLIGHT_WAIT);
	CHECK_EQ(polh_flight_done(&flight, POLH_WAIT_INVALIDATE), POLH_FLIGHT_WAIT);
	CHECK_EQ(polh_flight_done(&flight, SMALL), POLH_FLIGHT_END);
	CHECK_EQ(polh_flight_done(&flight, SMALL), POLH_FLIGHT_WAIT);
}

TEST(a_command_ends_with_the_last_of_all_in_any_order)
{
	static const int orders[6][3] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};
	static const int parts[3] = {
		POLH_WAIT_SEND, POLH_WAIT_RESPONSE | POLH_WAIT_CHECK | POLH_WAIT_INVALIDATE,
		POLH_WAIT_POST,
	};
	unsigned int i, step;

	for (i = 0; i < 6; i++) {
		begin_unposted(1, ALL);
		for (step = 0; step < 3; step++)
			CHECK_EQ(polh_flight_done(&flight, parts[orders[i][step]]),
				 step == 2 ? POLH_FLIGHT_END : POLH_FLIGHT_WAIT);
		CHECK_EQ(atomic_read(&flight.waiting), 0);
	}
}

#define ROUNDS	2000

static pthread_barrier_t barrier;

/* Whoever gets there with a duplicate: how many were taken. */
static void *answer_often(void *arg)
{
	const struct nvme_completion *cqe = response(0x5007);
	unsigned int round, *taken = arg;

	for (round = 0; round < ROUNDS; round++) {
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			polh_flight_begin(&flight, SMALL);
		pthread_barrier_wait(&barrier);
		if (polh_flight_answer(&flight, cqe, false, 0) == POLH_ANSWER_COMPLETE)
			++*taken;
	}
	return NULL;
}

TEST(of_two_answers_at_once_one_is_taken)
{
	unsigned int taken[2] = { 0, 0 };
	pthread_t other;

	begin(0x5007, SMALL);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&other, NULL, answer_often, &taken[0]);
	answer_often(&taken[1]);
	pthread_join(other, NULL);
	CHECK_EQ(taken[0] + taken[1], ROUNDS);
}

/* The submitter and the reaper at once: how often each was told to revoke, and to end. */
struct ender {
	int what[2];
	unsigned int revoked;
	unsigned int ended;
};

static void *end_often(void *arg)
{
	unsigned int round, i;
	struct ender *ender = arg;

	for (round = 0; round < ROUNDS; round++) {
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			polh_flight_begin(&flight, POLH_WAIT_CHECK | POLH_WAIT_INVALIDATE);
		pthread_barrier_wait(&barrier);
		for (i = 0; i < 2; i++) {
			switch (polh_flight_done(&flight, ender->what[i])) {
			case POLH_FLIGHT_WAIT:
				break;
			case POLH_FLIGHT_REVOKE:
				ender->revoked++;
				if (polh_flight_done(&flight, POLH_WAIT_INVALIDATE) ==
				    POLH_FLIGHT_END)
					ender->ended++;
				break;
			case POLH_FLIGHT_END:
				ender->ended++;
				break;
			}
		}
	}
	return NULL;
}

TEST(of_submitter_and_reaper_one_revokes_and_one_ends)
{
	struct ender submitter = { .what = { POLH_WAIT_POST, POLH_WAIT_SEND } };
	struct ender reaper = { .what = { POLH_WAIT_CHECK, POLH_WAIT_SEND } };
	pthread_t other;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&other, NULL, end_often, &submitter);
	end_often(&reaper);
	pthread_join(other, NULL);
	CHECK_EQ(submitter.revoked + reaper.revoked, ROUNDS);
	CHECK_EQ(submitter.ended + reaper.ended, ROUNDS);
}
