// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deleting marks and returns, and a new port starts to listen by itself: the end of what a request
 * starts is an event. Events are subscribed to before the request is sent, so none is missed; where
 * the kernel dropped some, the objects themselves are asked.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pollard.h"

#define WAIT_SECONDS	60	/* far longer than the kernel allows itself, disks excepted */

static struct pending {
	const struct kind *kind;
	struct json_object *key;
	bool gone;		/* wait for its end, else for it to come to rest */
	bool failed;
} *pending;
static unsigned int nr_pending, pending_room;

enum status wait_prepare(enum family family)
{
	enum status status = gnl_need_family(family);

	return status ? status : gnl_events_join(family);
}

void wait_add(const struct kind *kind, struct json_object *key, bool gone)
{
	if (nr_pending == pending_room) {
		pending_room = pending_room ? 2 * pending_room : 64;
		pending = realloc(pending, pending_room * sizeof(*pending));
		if (!pending)
			no_memory();
	}
	pending[nr_pending++] = (struct pending) { kind, json_object_get(key), gone, false };
}

static void forget(unsigned int i)
{
	json_object_put(pending[i].key);
	pending[i] = pending[--nr_pending];
}

/* What was to be waited for did not take place. */
void wait_drop(void)
{
	while (nr_pending)
		forget(nr_pending - 1);
}

static void describe(const struct pending *wait, char *text, size_t size)
{
	size_t len = snprintf(text, size, "%s", wait->kind->name);

	json_object_object_foreach(wait->key, name, value) {
		(void)name;
		if (len < size)
			len += snprintf(text + len, size - len, " %s",
					json_object_get_string(value));
	}
}

/* Has this object come to rest? Tells the user if it failed. */
static bool settled(struct pending *wait, struct json_object *object)
{
	char why[256] = "", what[512];
	int verdict = wait->kind->settled(object, why, sizeof(why));

	if (verdict < 0) {
		describe(wait, what, sizeof(what));
		refuse("%s %s", what, why);
		wait->failed = true;
	}
	return verdict != 0;
}

static bool same(struct json_object *key, struct json_object *object)
{
	json_object_object_foreach(key, name, value) {
		struct json_object *other;

		if (!json_object_object_get_ex(object, name, &other) ||
		    !json_object_equal(value, other))
			return false;
	}
	return true;
}

static bool on_event(enum family family, uint8_t command, struct nlattr *head, int len, void *arg)
{
	enum status *status = arg;
	struct json_object *object;
	const struct kind *kind;
	unsigned int i;
	bool gone;

	kind = request_event_kind(family, command, &gone);
	if (!kind)
		return true;
	object = request_decode(kind, head, len);
	for (i = nr_pending; i-- > 0;) {
		struct pending *wait = &pending[i];

		if (wait->kind != kind || wait->gone != gone || !same(wait->key, object))
			continue;
		if (!gone && !settled(wait, object))
			continue;
		if (wait->failed)
			*status = REFUSED;
		forget(i);
	}
	json_object_put(object);
	return true;
}

/* Ask for each object what has become of it. */
static void look(bool gone_too, enum status *status)
{
	struct json_object *object;
	unsigned int i;
	int error;

	for (i = nr_pending; i-- > 0;) {
		struct pending *wait = &pending[i];

		if (wait->gone && !gone_too)
			continue;
		object = request_get(wait->kind, wait->key, &error);
		if ((!object && error == ENOENT) ||
		    (object && !wait->gone && settled(wait, object))) {
			if (wait->failed)
				*status = REFUSED;
			forget(i);
		}
		json_object_put(object);
	}
}

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}

/* Wait for the end of everything that was added. */
enum status wait_all(void)
{
	long long left, deadline = now_ms() + WAIT_SECONDS * 1000;
	enum status status = DONE;
	char what[512];

	look(false, &status);
	while (nr_pending) {
		left = deadline - now_ms();
		if (left <= 0) {
			describe(&pending[0], what, sizeof(what));
			status = refuse("%s is still not %s after %d seconds; the kernel goes on",
					what, pending[0].gone ? "gone" : "ready", WAIT_SECONDS);
			wait_drop();
		} else if (gnl_events_next(on_event, &status, left) == -ENOBUFS) {
			look(true, &status);
		}
	}
	return status;
}
