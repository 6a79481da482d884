// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: kind of object, options (a byte each), then what the kernel said of one: attributes.
 */
#include "fuzz.h"
#include "fuzz_cli_env.h"

#define PRINTED(call) do {			\
	cli_catch();				\
	call;					\
	cli_judge(options.json, true);		\
} while (0)

static const struct kind *const kinds[] = {
	&kind_group, &kind_device, &kind_latency, &kind_subsystem, &kind_namespace, &kind_host,
	&kind_port, &kind_port_link, &kind_target_controller, &kind_target_queue,
	&kind_host_controller, &kind_host_queue,
};

static const struct column columns[] = {
	{ "group", "group", false }, { "hostnqn", "host", false }, { "p50-ns", "p50 us", true },
	{ "device", "device", false }, { "port", "port", false }, { }
};

static void fuzz_kind(const struct kind *kind, struct nlattr *head, int len, bool gone)
{
	struct json_object *object = request_decode(kind, head, len);
	struct json_object *array = json_object_new_array();
	char why[64] = "";

	json_object_array_add(array, object);
	if (kind->settled && kind->settled(object, why, sizeof(why)) < 0)
		PRINTED(refuse("%s", why));
	PRINTED(print_list(kind, &kind_host_controller, array));
	PRINTED(print_table(columns, array));
	PRINTED(print_reply(array));
	PRINTED(print_event(kind, gone, object));
	json_object_put(array);
}

int fuzz_poll(struct pollfd *fds, nfds_t nr, int timeout_ms)
{
	(void)fds;
	(void)nr;
	(void)timeout_ms;
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nlattr *head;
	size_t len;

	if (size < 2)
		return -1;
	options = (struct options) {
		.json = data[1] & 1, .pretty = data[1] & 2, .statistics = data[1] & 4,
	};
	len = size - 2;
	head = memcpy(malloc(len ? len : 1), data + 2, len);
	fuzz_kind(kinds[data[0] % ARRAY_SIZE(kinds)], head, len, data[1] & 8);
	free(head);
	return 0;
}
