// SPDX-License-Identifier: GPL-2.0-only
/* Requests to the initiator: which controller they are about, and what a refusal blames. */
#include "tap.h"
#include "attrs.h"
#include "core/attrs.h"
#include "host/netlink_parse.h"

#define CTRL	POLLARD_HOST_A_CONTROLLER_NAME
#define QUEUE	POLLARD_HOST_A_QUEUE_CONTROLLER

static char name[POLH_NAME_SIZE];

static int read_ctrl(void)
{
	int err = PARSE(polh_ctrl_policy);

	memset(name, 0xa5, sizeof(name));
	return err ?: polh_parse_ctrl_key(req.attrs, name, &req.extack);
}

static int read_queue(void)
{
	int err = PARSE(polh_queue_policy);

	memset(name, 0xa5, sizeof(name));
	return err ?: polh_parse_queue_key(req.attrs, name, &req.extack);
}

TEST(a_controller_is_named)
{
	CHECK_EQ(read_ctrl(), -EINVAL);
	CHECK_EQ(req.extack.miss_type, CTRL);
	CHECK(req.extack._msg);
	put_text(CTRL, "nvme0");
	CHECK_EQ(read_ctrl(), 0);
	CHECK_STR(name, "nvme0");
	put_number(POLLARD_HOST_A_CONTROLLER_INSTANCE, 0, 4);
	CHECK_EQ(read_ctrl(), -EINVAL);
}

TEST(a_dump_of_queues_is_of_one_controller_or_all)
{
	CHECK_EQ(read_queue(), 0);
	put_text(QUEUE, "nvme12");
	CHECK_EQ(read_queue(), 1);
	CHECK_STR(name, "nvme12");
	put_text(QUEUE, "");
	CHECK_EQ(read_queue(), 1);
	CHECK_STR(name, "");
}

TEST(names_of_controllers)
{
	char text[34];
	size_t len;

	for (len = 1; len < sizeof(text); len++) {
		memset(text, 'n', len);
		text[len] = '\0';
		put_text(CTRL, text);
		CHECK_EQ(read_ctrl(), len <= 31 ? 0 : -EINVAL);
		if (len <= 31)
			CHECK_STR(name, text);
		put_text(QUEUE, text);
		CHECK_EQ(read_queue(), len <= 31 ? 1 : -EINVAL);
		if (len <= 31)
			CHECK_STR(name, text);
	}
}

TEST(nothing_hides_behind_a_nul)
{
	put(CTRL, "nvme0\0x", 8);
	CHECK_EQ(read_ctrl(), -EINVAL);
	CHECK(blames(CTRL));
	put(QUEUE, "nvme0\0", 7);
	CHECK_EQ(read_queue(), -EINVAL);
	CHECK(blames(QUEUE));
	put(QUEUE, "nvme0", 5);
	CHECK_EQ(read_queue(), -EINVAL);
}

TEST(a_dump_of_controllers_takes_no_attribute)
{
	CHECK_EQ(PARSE(polh_ctrl_policy), 0);
	CHECK_EQ(pol_attrs_none(req.attrs, CTRL, &req.extack), 0);
	put_text(CTRL, "nvme0");
	CHECK_EQ(PARSE(polh_ctrl_policy), 0);
	CHECK_EQ(pol_attrs_none(req.attrs, CTRL, &req.extack), -EINVAL);
	CHECK(blames(CTRL));
}
