// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two things verbs do: change something (add, set, del) and show something. What is different
 * from object to object is in the tables of kinds and verbs. Words are judged before a module is
 * loaded for them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <linux/genetlink.h>
#include <netlink/genl/genl.h>

#include "pollard.h"

#define DUMP_TRIES 10	/* a dump that others disturb is taken again so many times */

static const struct kind *const kinds[] = {
	&kind_group, &kind_device, &kind_subsystem, &kind_namespace, &kind_host, &kind_port,
	&kind_port_link, &kind_target_controller, &kind_host_controller,
};

/* What kind of object an event is about; NULL when it is not known. */
const struct kind *request_event_kind(enum family family, uint8_t command, bool *gone)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct kind *kind = kinds[i];

		if (kind->family != family || (command != kind->changed && command != kind->gone))
			continue;
		*gone = command == kind->gone;
		return kind;
	}
	return NULL;
}

/* The object that a message is about. The caller owns the result. */
struct json_object *request_decode(const struct kind *kind, struct nlattr *head, int len)
{
	struct json_object *object, *decoded;

	decoded = attrs_decode(kind->attrs, head, len);
	if (!kind->side)
		return decoded;
	object = json_object_new_object();
	json_object_object_add(object, "side", json_object_new_string(kind->side));
	json_object_object_foreach(decoded, name, value)
		json_object_object_add(object, name, json_object_get(value));
	json_object_put(decoded);
	return object;
}

struct collection {
	const struct kind *kind;
	struct json_object *array;
};

static void collect(uint8_t command, struct nlattr *head, int len, void *arg)
{
	struct collection *collection = arg;

	(void)command;
	json_object_array_add(collection->array, request_decode(collection->kind, head, len));
}

/* Send a get or a dump and add what comes to the array. Frees the message. */
enum status request_fetch(const struct kind *kind, struct nl_msg *msg, struct json_object *array)
{
	struct collection collection = { kind, array };
	size_t had = json_object_array_length(array);
	struct gnl_refusal refusal;
	int tries, err;

	for (tries = 0; tries < DUMP_TRIES; tries++) {
		err = gnl_talk(kind->family, msg, kind->attrs, collect, &collection, &refusal);
		if (err != -EINTR)
			break;
		json_object_array_del_idx(array, had, json_object_array_length(array) - had);
		snprintf(refusal.text, sizeof(refusal.text),
			 "the list of %ss changes faster than it can be read", kind->name);
	}
	nlmsg_free(msg);
	return err ? refuse("%s", refusal.text) : DONE;
}

/*
 * Get the one object that key names, quietly. Returns NULL with *error set to an errno. The caller
 * owns the result.
 */
struct json_object *request_get(const struct kind *kind, struct json_object *key, int *error)
{
	struct nl_msg *msg = gnl_message(kind->get);
	struct collection collection = { kind, json_object_new_array() };
	struct json_object *object = NULL;
	struct gnl_refusal refusal;
	int i;

	*error = 0;
	for (i = 0; i < KEY_MAX && kind->key[i]; i++) {
		const struct attr *attr = attr_by_id(kind->attrs, kind->key[i]);
		struct json_object *value;

		if (json_object_object_get_ex(key, attr->name, &value))
			args_put(msg, attr, json_object_get_string(value));
	}
	if (gnl_talk(kind->family, msg, kind->attrs, collect, &collection, &refusal))
		*error = refusal.error;
	else
		object = json_object_get(json_object_array_get_idx(collection.array, 0));
	if (!object && !*error)
		*error = ENOENT;
	json_object_put(collection.array);
	nlmsg_free(msg);
	return object;
}

/* Does the request name one object, or ask for all those it fits to? */
static bool names_one(const struct kind *kind, struct nl_msg *msg)
{
	int i;

	for (i = 0; i < KEY_MAX && kind->key[i]; i++)
		if (!nlmsg_find_attr(nlmsg_hdr(msg), GENL_HDRLEN, kind->key[i]))
			return false;
	return !kind->dump_only;
}

static enum status show_kind(const struct verb *verb, const struct kind *kind,
			     const uint16_t *keyed, struct args *args, struct json_object *array)
{
	struct nl_msg *msg = gnl_message(kind->get);
	enum status status;
	int given = 0;

	if (!verb->other)
		status = args_put_positional(msg, verb, args, &given);
	else
		status = DONE;
	if (!status)
		status = args_put_keyed(msg, kind, keyed, verb, args);
	if (status) {
		nlmsg_free(msg);
		return status;
	}
	if (!names_one(kind, msg))
		nlmsg_hdr(msg)->nlmsg_flags |= NLM_F_DUMP;
	/* What is looked for on both ends is not looked for by loading a module. */
	status = verb->other ? gnl_ask_family(kind->family) : gnl_need_family(kind->family);
	if (status) {
		nlmsg_free(msg);
		return status;
	}
	return request_fetch(kind, msg, array);
}

/* The objects are on both ends: those of the end that the keyword belongs to, or all there are. */
static enum status show_both(const struct verb *verb, struct args *args,
			     struct json_object *array)
{
	const struct kind *kind[] = { verb->kind, verb->other };
	const uint16_t *keyed[] = { verb->keyed, verb->other_keyed };
	enum status status = gnl_open();
	int i, shown = 0;

	if (args->left) {
		for (i = 0; i < 2; i++) {
			if (args_find_keyword(kind[i], keyed[i], *args->word))
				return show_kind(verb, kind[i], keyed[i], args, array);
		}
		return usage_error(verb, "do not know what to do with '%s'", *args->word);
	}
	for (i = 0; i < 2 && !status; i++) {
		if (!gnl_has_family(kind[i]->family))
			continue;
		shown++;
		status = show_kind(verb, kind[i], keyed[i], args, array);
	}
	if (!status && !shown)
		return refuse("neither kernel module is loaded, %s nor %s",
			      gnl_module(kind[0]->family), gnl_module(kind[1]->family));
	return status;
}

/* Add the objects that the words ask for to the array. */
enum status request_collect(const struct verb *verb, struct args *args, struct json_object *array)
{
	if (verb->other)
		return show_both(verb, args, array);
	return show_kind(verb, verb->kind, verb->keyed, args, array);
}

enum status request_show(const struct verb *verb, struct args *args)
{
	struct json_object *array = json_object_new_array();
	enum status status = request_collect(verb, args, array);

	if (!status)
		print_list(verb->kind, verb->other, array);
	json_object_put(array);
	return status;
}

/* The object's key as the request gives it, for whoever waits. */
static struct json_object *key_of(const struct kind *kind, struct nl_msg *msg)
{
	struct genlmsghdr *genl = genlmsg_hdr(nlmsg_hdr(msg));
	struct json_object *all, *key;
	int i;

	all = attrs_decode(kind->attrs, genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0));
	key = json_object_new_object();
	for (i = 0; i < KEY_MAX && kind->key[i]; i++) {
		const char *name = attr_by_id(kind->attrs, kind->key[i])->name;
		struct json_object *value;

		if (json_object_object_get_ex(all, name, &value))
			json_object_object_add(key, name, json_object_get(value));
	}
	json_object_put(all);
	return key;
}

static enum status send_change(const struct verb *verb, struct nl_msg *msg)
{
	bool wait = !options.no_wait && (verb->wait_gone || verb->wait_settled);
	struct collection collection = { verb->kind, json_object_new_array() };
	struct json_object *key = key_of(verb->kind, msg);
	enum status status = DONE;

	if (wait)
		status = wait_prepare(verb->kind->family);
	if (!status)
		status = batch_begin(verb->kind->family);
	if (status)
		nlmsg_free(msg);
	else
		status = gnl_do(verb->kind->family, msg, verb->kind->attrs, collect, &collection);
	if (!status && json_object_array_length(collection.array))
		print_reply(collection.array);
	if (!status && wait) {
		wait_add(verb->kind, key, verb->wait_gone);
		if (!batch_running())
			status = wait_all();
	}
	json_object_put(key);
	json_object_put(collection.array);
	return status;
}

enum status request_change(const struct verb *verb, struct args *args)
{
	enum status status;
	struct nl_msg *msg;
	int given;

	msg = gnl_message(verb->command);
	status = args_put_positional(msg, verb, args, &given);
	if (!status && verb->some && !args->left)
		status = usage_error(verb, "it is not said what to change");
	if (!status)
		status = args_put_keyed(msg, verb->kind, verb->keyed, verb, args);
	if (!status && verb->check)
		status = verb->check(verb, msg);
	if (!status)
		status = gnl_need_family(verb->kind->family);
	if (status) {
		nlmsg_free(msg);
		return status;
	}
	return send_change(verb, msg);
}
