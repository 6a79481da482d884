// SPDX-License-Identifier: GPL-2.0-only
/* Requests to the core: what attributes ask for, what is a default, and what a refusal blames. */
#include "tap.h"
#include "attrs.h"
#include "core/attrs.h"
#include "core/mode.h"
#include "core/netlink_parse.h"

#define A(name)		POLLARD_A_GROUP_##name
#define UNTOUCHED	0xa5a5a5a5

static u32 id, cpu, spin_us;

static int read_new(void)
{
	int err = PARSE(pol_group_new_policy);

	id = cpu = spin_us = UNTOUCHED;
	return err ?: pol_parse_group_new(req.attrs, &id, &cpu, &spin_us, &req.extack);
}

/* The group spins as long as @now when it is to be changed. */
static int read_set(u32 now)
{
	int err;

	put_number(A(ID), 7, 4);
	err = PARSE(pol_group_set_policy);
	spin_us = now;
	return err ?: pol_parse_spin(req.attrs, &spin_us, &req.extack);
}

TEST(a_new_group_has_a_number_and_a_cpu)
{
	CHECK_EQ(read_new(), -EINVAL);
	CHECK_EQ(req.extack.miss_type, A(ID));
	put_number(A(ID), 3, 4);
	CHECK_EQ(read_new(), -EINVAL);
	CHECK_EQ(req.extack.miss_type, A(CPU));
	put_number(A(CPU), 3, 4);
	CHECK_EQ(read_new(), -EINVAL);
	CHECK_EQ(req.extack.miss_type, A(ID));
	put_number(A(ID), 3, 4);
	put_number(A(CPU), 5, 4);
	CHECK_EQ(read_new(), 0);
	CHECK_EQ(id, 3);
	CHECK_EQ(cpu, 5);
	CHECK_EQ(spin_us, POL_GROUP_SPIN_ADAPTIVE);
}

TEST(numbers_fit)
{
	static const struct {
		u32 id, cpu;
		bool taken;
	} numbers[] = {
		{ 0, 0, true }, { 65535, 0, true }, { 65536, 0, false }, { 0xffffffff, 0, false },
		{ 0, 0x7ffffffe, true }, { 0, 0x7fffffff, true }, { 0, 0x80000000, false },
		{ 0, 0xffffffff, false },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		put_number(A(ID), numbers[i].id, 4);
		put_number(A(CPU), numbers[i].cpu, 4);
		CHECK_EQ(read_new(), numbers[i].taken ? 0 : -EINVAL);
		if (!numbers[i].taken)
			CHECK(numbers[i].id || blames(A(CPU)));
	}
}

TEST(a_key_is_required)
{
	CHECK_EQ(PARSE(pol_group_key_policy), 0);
	CHECK_EQ(pol_parse_group_key(req.attrs, &id, &req.extack), -EINVAL);
	CHECK_EQ(req.extack.miss_type, A(ID));
	CHECK(req.extack._msg);
	put_number(A(ID), 65535, 4);
	CHECK_EQ(PARSE(pol_group_key_policy), 0);
	CHECK_EQ(pol_parse_group_key(req.attrs, &id, &req.extack), 0);
	CHECK_EQ(id, 65535);
	put_number(A(CPU), 0, 4);
	CHECK_EQ(PARSE(pol_group_key_policy), -EINVAL);
}

TEST(a_mode_is_a_spin_time)
{
	static const struct {
		u32 now, mode, spin_us;
	} modes[] = {
		{ 70, POLLARD_MODE_EVENT, 0 }, { 70, POLLARD_MODE_BUSY, 0xffffffff },
		{ 70, POLLARD_MODE_ADAPTIVE, 50 }, { 0, POLLARD_MODE_ADAPTIVE, 50 },
		{ 0xffffffff, POLLARD_MODE_ADAPTIVE, 50 }, { 0xffffffff, POLLARD_MODE_EVENT, 0 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		put_number(A(MODE), modes[i].mode, 4);
		CHECK_EQ(read_set(modes[i].now), 0);
		CHECK_EQ(spin_us, modes[i].spin_us);
		CHECK_EQ(pol_mode_number(spin_us), modes[i].mode);
	}
	put_number(A(MODE), POLLARD_MODE_BUSY + 1, 4);
	CHECK_EQ(read_set(70), -EINVAL);
}

TEST(what_is_not_given_stays)
{
	static const u32 times[] = { 0, 1, 70, 1000000, 0xffffffff };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		CHECK_EQ(read_set(times[i]), 0);
		CHECK_EQ(spin_us, times[i]);
	}
}

TEST(a_spin_time_goes_with_mode_adaptive)
{
	static const struct {
		u32 now, mode, spin_us;		/* mode 9: not given */
		bool taken;
	} times[] = {
		{ 70, 9, 0, false }, { 70, 9, 1, true }, { 70, 9, 1000000, true },
		{ 70, 9, 1000001, false }, { 70, 9, 0xffffffff, false },
		{ 0, 9, 20, false }, { 0xffffffff, 9, 20, false },
		{ 0, POLLARD_MODE_ADAPTIVE, 20, true },
		{ 0xffffffff, POLLARD_MODE_ADAPTIVE, 20, true },
		{ 70, POLLARD_MODE_EVENT, 20, false }, { 70, POLLARD_MODE_BUSY, 20, false },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		put_number(A(SPIN_US), times[i].spin_us, 4);
		if (times[i].mode != 9)
			put_number(A(MODE), times[i].mode, 4);
		CHECK_EQ(read_set(times[i].now), times[i].taken ? 0 : -EINVAL);
		if (times[i].taken)
			CHECK_EQ(spin_us, times[i].spin_us);
		else if (times[i].spin_us == 20)
			CHECK(blames(A(SPIN_US)) && spin_us == times[i].now);
	}
	put_number(A(ID), 3, 4);
	put_number(A(CPU), 5, 4);
	put_number(A(MODE), POLLARD_MODE_EVENT, 4);
	put_number(A(SPIN_US), 20, 4);
	CHECK_EQ(read_new(), -EINVAL);
	CHECK(blames(A(SPIN_US)));
}

TEST(a_dump_takes_no_attribute)
{
	CHECK_EQ(PARSE(pol_group_key_policy), 0);
	CHECK_EQ(pol_attrs_none(req.attrs, A(ID), &req.extack), 0);
	put_number(A(ID), 0, 4);
	CHECK_EQ(PARSE(pol_group_key_policy), 0);
	CHECK_EQ(pol_attrs_none(req.attrs, A(ID), &req.extack), -EINVAL);
	CHECK(blames(A(ID)));
	/* No more is looked at than there is. */
	CHECK_EQ(pol_attrs_none(req.attrs, A(ID) - 1, &req.extack), 0);
}

static int read_device(char *name)
{
	int err = PARSE(pol_device_policy);

	return err ?: pol_parse_device_key(req.attrs, name, &req.extack);
}

TEST(names_of_devices)
{
	char name[66], got[64];
	size_t len;

	CHECK_EQ(read_device(got), -EINVAL);
	CHECK_EQ(req.extack.miss_type, POLLARD_A_DEVICE_NAME);
	for (len = 1; len < sizeof(name); len++) {
		memset(name, 'x', len);
		name[len] = '\0';
		put_text(POLLARD_A_DEVICE_NAME, name);
		memset(got, 0xa5, sizeof(got));
		CHECK_EQ(read_device(got), len <= 63 ? 0 : -EINVAL);
		if (len <= 63)
			CHECK_STR(got, name);
	}
	put(POLLARD_A_DEVICE_NAME, "rxe0\0x", 7);
	CHECK_EQ(read_device(got), -EINVAL);
	CHECK(blames(POLLARD_A_DEVICE_NAME));
	put(POLLARD_A_DEVICE_NAME, "rxe0", 4);
	CHECK_EQ(read_device(got), -EINVAL);
}

TEST(latency_of_one_group)
{
	put_number(POLLARD_A_LATENCY_GROUP, 0xffffffff, 4);
	CHECK_EQ(PARSE(pol_latency_policy), 0);
	put_number(POLLARD_A_LATENCY_GROUP, 1, 2);
	CHECK_EQ(PARSE(pol_latency_policy), -EINVAL);
	put_number(POLLARD_A_LATENCY_SIDE, 1, 4);
	CHECK_EQ(PARSE(pol_latency_policy), -EINVAL);
}
