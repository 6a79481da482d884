// SPDX-License-Identifier: GPL-2.0-only
/*
 * pollard monitor: what changes, as it happens, until interrupted.
 *
 * Follows the modules that are loaded, also when they come and go meanwhile; loads none.
 */
#include <errno.h>
#include <string.h>

#include "pollard.h"

#define WANTED_MAX 16

struct wanted {
	const char *word[WANTED_MAX];	/* kinds, as the user abbreviates them */
	int count;			/* 0: all */
};

static const char *const kind_names[] = {
	"subsystem", "namespace", "host", "port", "port-subsystem", "group", "device", "controller",
	NULL
};

static bool is_wanted(const struct wanted *wanted, const char *name)
{
	int i;

	for (i = 0; i < wanted->count; i++)
		if (!strcmp(wanted->word[i], name))
			return true;
	return !wanted->count;
}

static bool on_event(enum family family, uint8_t command, struct nlattr *head, int len, void *arg)
{
	const struct kind *kind;
	struct json_object *object;
	bool gone;

	kind = request_event_kind(family, command, &gone);
	if (!kind || !is_wanted(arg, kind->name))
		return true;
	object = request_decode(kind, head, len);
	print_event(kind, gone, object);
	json_object_put(object);
	return true;
}

static enum status monitor(const struct verb *verb, struct args *args)
{
	struct wanted wanted = { .count = 0 };
	enum status status;
	int found, err;

	while (args->left) {
		const char *word = args_next(args);

		found = args_match(word, kind_names);
		if (found < 0 || wanted.count == WANTED_MAX)
			return usage_error(verb, "there are no events of '%s'", word);
		wanted.word[wanted.count++] = kind_names[found];
	}
	status = gnl_open();
	if (status)
		return status;
	gnl_events_watch_families();
	for (;;) {
		err = gnl_events_next(on_event, &wanted, -1);
		if (err == -ENOBUFS)
			refuse("events were lost");
		else if (err)
			return refuse("cannot receive events: %s", strerror(-err));
	}
}

static const struct verb verbs[] = {
	{
		.name = "monitor", .run = monitor,
		.usage = "[OBJECT]...",
	},
	{ }
};

const struct object object_monitor = {
	.name = "monitor",
	.about = "what changes, as it happens",
	.verbs = verbs,
	.verbless = true,
};
