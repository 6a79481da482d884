// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of attributes: what goes into a message as text comes out of it the same, what is
 * printed from it, and that no message, however broken, is read beyond its end.
 */
#include <stdlib.h>

#include <netlink/genl/genl.h>
#include <linux/pollard.h>
#include <linux/pollard_host.h>
#include <linux/pollard_target.h>

#include "pollard.h"
#include "tap.h"

static const struct kind *const kinds[] = {
	&kind_group, &kind_device, &kind_latency, &kind_subsystem, &kind_namespace, &kind_host,
	&kind_port, &kind_port_link, &kind_target_controller, &kind_target_queue,
	&kind_host_controller, &kind_host_queue,
};

static char printed[65536];

#define PRINTED(call) ({						\
	FILE *before = stdout;						\
									\
	memset(printed, 0, sizeof(printed));				\
	stdout = fmemopen(printed, sizeof(printed) - 1, "w");		\
	call;								\
	fclose(stdout);							\
	stdout = before;						\
	printed;							\
})

/* A value for an attribute that can be given, as text and as it shall come out in JSON. */
static const char *sample(const struct attr *attr, const char **json)
{
	static char text[64];

	switch (attr->type) {
	case ATTR_NUMBER:
		*json = attr->width == 8 ? "18446744073709551615" :
			attr->width == 4 ? "4294967295" : attr->width == 2 ? "65535" : "255";
		return *json;
	case ATTR_SIZE:
		*json = "65536";
		return "64K";
	case ATTR_SWITCH:
		*json = "true";
		return "on";
	case ATTR_CHOICE:
		snprintf(text, sizeof(text), "\"%s\"", attr->words[1]);
		*json = text;
		return attr->words[1];
	case ATTR_ADDRESS:
		*json = "\"fe80::1%eth0\"";
		return "fe80::1%eth0";
	case ATTR_UUID:
		*json = "\"9a3c2f60-6b1d-4a57-8c1e-0f2d5b7a9c11\"";
		return "9a3c2f60-6b1d-4a57-8c1e-0f2d5b7a9c11";
	case ATTR_BYTES16:
		*json = "\"0123456789abcdef0123456789abcdef\"";
		return "0123456789ABCDEF0123456789abcdef";
	case ATTR_STRING:
	case ATTR_NQN:
		*json = "\"some text\"";
		return "some text";
	default:
		return NULL;
	}
}

static struct json_object *decode(const struct kind *kind, struct nl_msg *msg)
{
	struct genlmsghdr *genl = genlmsg_hdr(nlmsg_hdr(msg));

	return attrs_decode(kind->attrs, genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0));
}

TEST(attributes_come_out_as_they_go_in)
{
	const char *text, *json = NULL;
	const struct attr *attr;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (attr = kinds[i]->attrs; attr->name; attr++) {
			struct nl_msg *msg = gnl_message(kinds[i]->get);
			struct json_object *object, *value = NULL;

			text = sample(attr, &json);
			if (text) {
				CHECK_EQ(args_put(msg, attr, text), DONE);
				object = decode(kinds[i], msg);
				CHECK(json_object_object_get_ex(object, attr->name, &value));
				CHECK_STR(json_object_to_json_string_ext(value,
						JSON_C_TO_STRING_NOSLASHESCAPE),
					  json);
				CHECK_EQ(json_object_object_length(object), 1);
				json_object_put(object);
			}
			nlmsg_free(msg);
		}
	}
}

TEST(no_table_has_a_number_or_a_name_twice)
{
	const struct attr *a, *b;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		for (a = kinds[i]->attrs; a->name; a++)
			for (b = a + 1; b->name; b++) {
				CHECK(a->id != b->id);
				CHECK(strcmp(a->name, b->name));
			}
}

TEST(choices_that_are_not_known_are_numbers)
{
	struct nl_msg *msg = gnl_message(0);
	struct json_object *object;

	nla_put_u32(msg, POLLARD_TARGET_A_PORT_STATE, 77);
	nla_put_u32(msg, POLLARD_TARGET_A_PORT_ADRFAM, 0);
	nla_put_u32(msg, 999, 0);
	object = decode(&kind_port, msg);
	CHECK_STR(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN),
		  "{\"adrfam\":0,\"state\":77}");
	json_object_put(object);
	nlmsg_free(msg);
}

TEST(text_has_a_line_per_object)
{
	struct json_object *array = json_object_new_array();
	struct nl_msg *msg = gnl_message(0);
	struct nlattr *nest;

	nla_put_string(msg, POLLARD_TARGET_A_NAMESPACE_SUBSYSTEM, "nqn.x");
	nest = nla_nest_start(msg, POLLARD_TARGET_A_NAMESPACE_COUNTERS);
	nla_put_u64(msg, POLLARD_TARGET_A_NAMESPACE_COUNTERS_READS, 7);
	nla_put_u64(msg, POLLARD_TARGET_A_NAMESPACE_COUNTERS_ERRORS, 0);
	nla_nest_end(msg, nest);
	nla_put_u32(msg, POLLARD_TARGET_A_NAMESPACE_NSID, 1);
	nla_put_string(msg, POLLARD_TARGET_A_NAMESPACE_DEVICE, "/dev/a disk");
	nla_put_u64(msg, POLLARD_TARGET_A_NAMESPACE_SIZE_BYTES, 64 << 20);
	nla_put_u8(msg, POLLARD_TARGET_A_NAMESPACE_ENABLED, 1);
	json_object_array_add(array, decode(&kind_namespace, msg));
	nlmsg_free(msg);

	options = (struct options) { .json = false };
	CHECK_STR(PRINTED(print_list(&kind_namespace, NULL, array)),
		  "namespace nqn.x nsid 1 device \"/dev/a disk\" size-bytes 64M enabled on\n");
	options.statistics = true;
	CHECK_STR(PRINTED(print_list(&kind_namespace, NULL, array)),
		  "namespace nqn.x nsid 1 device \"/dev/a disk\" size-bytes 64M enabled on\n"
		  "\tcounters reads 7 errors 0\n");
	options = (struct options) { .json = true };
	CHECK_STR(PRINTED(print_list(&kind_namespace, NULL, array)),
		  "[{\"subsystem\":\"nqn.x\",\"nsid\":1,\"device\":\"/dev/a disk\","
		  "\"size-bytes\":67108864,\"enabled\":true,"
		  "\"counters\":{\"reads\":7,\"errors\":0}}]\n");
	CHECK_STR(PRINTED(print_event(&kind_namespace, true, json_object_array_get_idx(array, 0))),
		  "{\"event\":\"gone\",\"object\":\"namespace\",\"data\":{\"subsystem\":\"nqn.x\","
		  "\"nsid\":1,\"device\":\"/dev/a disk\",\"size-bytes\":67108864,\"enabled\":true,"
		  "\"counters\":{\"reads\":7,\"errors\":0}}}\n");
	json_object_put(array);
}

TEST(attributes_that_are_there_several_times)
{
	struct json_object *array = json_object_new_array();
	struct nl_msg *msg = gnl_message(0);
	struct nlattr *nest;
	uint32_t i;

	for (i = 1; i <= 2; i++) {
		nest = nla_nest_start(msg, POLLARD_A_DEVICE_PORT);
		nla_put_u32(msg, POLLARD_A_DEVICE_PORT_NUMBER, i);
		nla_put_u32(msg, POLLARD_A_DEVICE_PORT_STATE, POLLARD_PORT_STATE_ACTIVE);
		nla_nest_end(msg, nest);
	}
	nest = nla_nest_start(msg, POLLARD_A_DEVICE_LIMITS);
	nla_put_u32(msg, POLLARD_A_DEVICE_LIMITS_MAX_QP, 100);
	nla_nest_end(msg, nest);
	nla_put_string(msg, POLLARD_A_DEVICE_NAME, "rxe0");
	nla_put_u64(msg, POLLARD_A_DEVICE_NODE_GUID, 0x0011223344556677ull);
	json_object_array_add(array, decode(&kind_device, msg));
	nlmsg_free(msg);

	options = (struct options) { .json = false };
	CHECK_STR(PRINTED(print_list(&kind_device, NULL, array)),
		  "device rxe0 node-guid 0011:2233:4455:6677\n"
		  "\tlimits max-qp 100\n"
		  "\tport 1 state active\n"
		  "\tport 2 state active\n");
	json_object_put(array);
}

TEST(what_a_peer_says_cannot_steer_the_terminal)
{
	struct json_object *array = json_object_new_array();
	struct nl_msg *msg = gnl_message(0);

	nla_put_string(msg, POLLARD_TARGET_A_CONTROLLER_SUBSYSTEM, "nqn.x");
	nla_put_string(msg, POLLARD_TARGET_A_CONTROLLER_HOSTNQN, "nqn.\033[2J\r\n\xff");
	json_object_array_add(array, decode(&kind_target_controller, msg));
	nlmsg_free(msg);

	options = (struct options) { .json = false };
	CHECK_STR(PRINTED(print_list(&kind_target_controller, &kind_host_controller, array)),
		  "controller nqn.x hostnqn nqn.\\x1b[2J\\x0d\\x0a\\xff\n");
	json_object_put(array);
}

/* U+FFFD for what is no UTF-8: stray and missing bytes, surrogates, too large, overlong. */
TEST(json_is_ascii_whatever_a_peer_is_called)
{
	static const struct {
		const char *name;
		const char *json;
	} samples[] = {
		{ "gr\xc3\xbc\xc3\x9f", "gr\\u00fc\\u00df" },
		{ "\xe2\x82\xac\xf0\x9f\x98\x80", "\\u20ac\\ud83d\\ude00" },
		{ "\xf4\x8f\xbf\xbf\xef\xbf\xbf", "\\udbff\\udfff\\uffff" },
		{ "\x7f\xc2\x9b\033", "\\u007f\\u009b\\u001b" },
		{ "\xff" "a\x80" "b\xc3", "\\ufffda\\ufffdb\\ufffd" },
		{ "\xe2\x82" "a", "\\ufffd\\ufffda" },
		{ "\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd" },
		{ "\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd" },
		{ "\xc0\xaf\xe0\x9f\xbf", "\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd" },
	};
	struct json_object *name;
	char line[128];
	size_t i;

	options = (struct options) { .json = true };
	for (i = 0; i < ARRAY_SIZE(samples); i++) {
		name = json_object_new_string(samples[i].name);
		snprintf(line, sizeof(line), "\"%s\"\n", samples[i].json);
		CHECK_STR(PRINTED(print_json(name)), line);
		json_object_put(name);
	}
}

TEST(figures_are_a_table)
{
	static const struct column columns[] = {
		{ "stage", "stage", false }, { "p50-ns", "p50 us", true }, { "none", "n", false },
		{ }
	};
	struct json_object *array = json_object_new_array();
	struct nl_msg *msg = gnl_message(0);

	nla_put_u32(msg, POLLARD_A_LATENCY_STAGE, POLLARD_STAGE_BACKEND);
	nla_put_u64(msg, POLLARD_A_LATENCY_P50_NS, 1234567);
	json_object_array_add(array, decode(&kind_latency, msg));
	nlmsg_free(msg);

	options = (struct options) { .json = false };
	CHECK_STR(PRINTED(print_table(columns, array)),
		  "  stage  p50 us  n\n"
		  "backend  1234.6  -\n");
	json_object_put(array);
}

/* Numbers of attributes are kept small, so that most of the rubbish is looked into. */
TEST(rubbish_is_not_read_beyond_its_end)
{
	unsigned int round, i;
	size_t kind;

	srandom(1);
	for (round = 0; round < 20000; round++) {
		size_t len = random() % 128;
		uint8_t *bytes = malloc(len ? len : 1);
		struct json_object *object;

		for (i = 0; i < len; i++)
			bytes[i] = i % 2 ? random() % 2 * (random() % 3) : random() % 24;
		for (kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
			object = attrs_decode(kinds[kind]->attrs, (struct nlattr *)bytes, len);
			json_object_put(object);
		}
		free(bytes);
	}
}
