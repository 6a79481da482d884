/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the command line tool share.
 *
 * A kind (struct kind) describes one sort of kernel object: its family, its commands and a table of
 * its attributes. The tables are the only place that knows attributes: arguments are encoded,
 * messages decoded, text and JSON printed from them. An object (struct object) is the first word of
 * a command line, a verb the second one.
 */
#ifndef POLLARD_TOOL_H
#define POLLARD_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <json-c/json.h>
#include <netlink/netlink.h>
#include <netlink/msg.h>
#include <netlink/attr.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/*
 * Exit status of the tool, and what the functions return that may already have told the user why.
 */
enum status {
	DONE,
	REFUSED,
	USAGE,
};

enum family {
	FAMILY_CORE,
	FAMILY_TARGET,
	FAMILY_HOST,
	FAMILIES,
};

enum attr_type {
	ATTR_NUMBER,	/* of the width given */
	ATTR_SIZE,	/* a number of bytes */
	ATTR_SWITCH,	/* u8, on or off */
	ATTR_CHOICE,	/* u32, one of words */
	ATTR_STRING,
	ATTR_NQN,	/* string */
	ATTR_ADDRESS,	/* string, numeric IPv4 or IPv6 */
	ATTR_UUID,	/* 16 bytes */
	ATTR_BYTES16,	/* 16 bytes, in hexadecimal digits */
	ATTR_GUID,	/* u64, in hexadecimal digits */
	ATTR_ERRNO,	/* u32, an errno; text says what it means */
	ATTR_NEST,	/* attributes of nest */
};

/**
 * struct attr - an attribute of a kind
 * @id: its number, POLLARD_*_A_*
 * @name: its name in the specification, in text, in JSON and, without @keyword, on the command line
 * @keyword: what it is called on the command line
 * @type: how to encode, decode and print it
 * @width: bytes of a number or size
 * @words: the values of a choice in order, ends with NULL; an empty word is not to be had
 * @nest: attributes inside, ends with one without a name
 * @many: may be there several times
 * @statistics: in text only with -s
 */
struct attr {
	uint16_t id;
	const char *name;
	const char *keyword;
	enum attr_type type;
	uint8_t width;
	const char *const *words;
	const struct attr *nest;
	bool many;
	bool statistics;
};

#define ATTR_U8(i, n)		{ .id = (i), .name = (n), .type = ATTR_NUMBER, .width = 1 }
#define ATTR_U16(i, n)		{ .id = (i), .name = (n), .type = ATTR_NUMBER, .width = 2 }
#define ATTR_U32(i, n)		{ .id = (i), .name = (n), .type = ATTR_NUMBER, .width = 4 }
#define ATTR_U64(i, n)		{ .id = (i), .name = (n), .type = ATTR_NUMBER, .width = 8 }
#define ATTR_SIZE32(i, n)	{ .id = (i), .name = (n), .type = ATTR_SIZE, .width = 4 }
#define ATTR_SIZE64(i, n)	{ .id = (i), .name = (n), .type = ATTR_SIZE, .width = 8 }
#define ATTR_OF(t, i, n)	{ .id = (i), .name = (n), .type = (t) }
#define ATTR_ONE_OF(i, n, w)	{ .id = (i), .name = (n), .type = ATTR_CHOICE, .words = (w) }
#define ATTR_COUNTERS(i, n, a)	{ .id = (i), .name = (n), .type = ATTR_NEST, .nest = (a), \
				  .statistics = true }
#define ATTR_END		{ .name = NULL }

#define KEY_MAX 3

/**
 * struct kind - a sort of kernel object
 * @name: what text and events call it
 * @side: printed first, where objects of this name are on both ends; or NULL
 * @family: who has it
 * @attrs: table of its attributes, ends with one without a name
 * @key: the attributes that tell one from another, 0 where there are no more
 * @get: command that gets one or dumps many
 * @dump_only: there is no getting one
 * @changed: command of the notification that one was made or has changed, or 0
 * @gone: command of the notification that one is gone, or 0
 * @settled: has an object that was just made come to rest? Returns 1 for yes, 0 for not yet and -1
 *	for having failed, with the reason in @why. May be NULL
 */
struct kind {
	const char *name;
	const char *side;
	enum family family;
	const struct attr *attrs;
	uint16_t key[KEY_MAX];
	uint8_t get;
	bool dump_only;
	uint8_t changed;
	uint8_t gone;
	int (*settled)(struct json_object *object, char *why, size_t size);
};

extern const struct kind kind_group, kind_device, kind_latency;
extern const struct kind kind_subsystem, kind_namespace, kind_host, kind_port, kind_port_link;
extern const struct kind kind_target_controller, kind_target_queue;
extern const struct kind kind_host_controller, kind_host_queue;

/* args.c: the words of a command line that are not used up yet */
struct args {
	char **word;
	int left;
};

struct verb;

const char *args_next(struct args *args);
int args_match(const char *word, const char *const *names);
enum status args_put(struct nl_msg *msg, const struct attr *attr, const char *text);
enum status args_put_positional(struct nl_msg *msg, const struct verb *verb, struct args *args,
				int *count);
enum status args_put_keyed(struct nl_msg *msg, const struct kind *kind, const uint16_t *keyed,
			   const struct verb *verb, struct args *args);
const struct attr *args_find_keyword(const struct kind *kind, const uint16_t *keyed,
				     const char *word);

/**
 * struct verb - the second word of a command line and what it takes
 * @name: the word
 * @run: does it
 * @kind: what it is done to
 * @other: the same sort of object on the other end of the fabric, for show; or NULL
 * @command: netlink command of what is not show
 * @positional: attributes given by place, 0 where there are no more
 * @required: how many of them must be given
 * @keyed: attributes given as KEYWORD VALUE, ends with 0; or NULL
 * @other_keyed: the same for @other
 * @some: at least one of @keyed must be given
 * @check: refuses combinations of attributes that never make sense, with a usage error; or NULL
 * @wait_gone: the object is gone only when a notification says so
 * @wait_settled: the object comes to rest some time after the command
 * @usage: what follows the verb
 */
struct verb {
	const char *name;
	enum status (*run)(const struct verb *verb, struct args *args);
	const struct kind *kind;
	const struct kind *other;
	uint8_t command;
	uint16_t positional[KEY_MAX];
	int required;
	const uint16_t *keyed;
	const uint16_t *other_keyed;
	bool some;
	enum status (*check)(const struct verb *verb, struct nl_msg *msg);
	bool wait_gone;
	bool wait_settled;
	const char *usage;
};

/**
 * struct object - the first word of a command line
 * @name: the word
 * @alias: another word for it that is no abbreviation, or NULL
 * @about: half a line of help
 * @verbs: ends with one without a name; without a word for it the first one is done
 * @verbless: there is but one verb, its name is never given
 */
struct object {
	const char *name;
	const char *alias;
	const char *about;
	const struct verb *verbs;
	bool verbless;
};

extern const struct object object_subsystem, object_namespace, object_host, object_port;
extern const struct object object_group, object_device, object_latency;
extern const struct object object_controller, object_queue, object_monitor;

/* main.c */
struct options {
	bool json;
	bool pretty;
	bool statistics;
	bool no_wait;
	bool no_load;
};

extern struct options options;
enum status dispatch(struct args *args);
void set_place(const char *file, unsigned int line);
void no_memory(void) __attribute__((noreturn));
enum status refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
enum status usage_error(const struct verb *verb, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* batch.c */
enum status batch_run(const char *path);
bool batch_running(void);
enum status batch_begin(enum family family);

/* attrs.c */
const struct attr *attr_by_id(const struct attr *attrs, uint16_t id);
const struct attr *attr_by_name(const struct attr *attrs, const char *name);
struct json_object *attrs_decode(const struct attr *attrs, struct nlattr *head, int len);

/* gnl.c: generic netlink */
struct gnl_refusal {
	int error;		/* errno */
	char text[512];		/* a sentence for the user, without a full stop */
};

typedef void (*gnl_reply_fn)(uint8_t command, struct nlattr *head, int len, void *arg);
typedef bool (*gnl_event_fn)(enum family family, uint8_t command, struct nlattr *head, int len,
			    void *arg);

enum status gnl_open(void);
void gnl_close(void);
bool gnl_has_family(enum family family);
enum status gnl_ask_family(enum family family);
enum status gnl_need_family(enum family family);
const char *gnl_module(enum family family);
struct nl_msg *gnl_message(uint8_t command);
int gnl_talk(enum family family, struct nl_msg *msg, const struct attr *attrs, gnl_reply_fn reply,
	    void *arg, struct gnl_refusal *refusal);
enum status gnl_do(enum family family, struct nl_msg *msg, const struct attr *attrs,
		  gnl_reply_fn reply, void *arg);
enum status gnl_events_join(enum family family);
void gnl_events_watch_families(void);
int gnl_events_next(gnl_event_fn event, void *arg, int timeout_ms);

/* request.c: what most verbs do */
enum status request_fetch(const struct kind *kind, struct nl_msg *msg, struct json_object *array);
struct json_object *request_get(const struct kind *kind, struct json_object *key, int *error);
enum status request_show(const struct verb *verb, struct args *args);
enum status request_collect(const struct verb *verb, struct args *args, struct json_object *array);
enum status request_change(const struct verb *verb, struct args *args);
struct json_object *request_decode(const struct kind *kind, struct nlattr *head, int len);
const struct kind *request_event_kind(enum family family, uint8_t command, bool *gone);

/* wait.c: the end of what a request only starts */
enum status wait_prepare(enum family family);
void wait_add(const struct kind *kind, struct json_object *key, bool gone);
void wait_drop(void);
enum status wait_all(void);

/* print.c */
struct column {
	const char *key;
	const char *title;
	bool nanoseconds;	/* printed as microseconds */
};

void print_reply(struct json_object *array);
void print_list(const struct kind *kind, const struct kind *other, struct json_object *array);
void print_table(const struct column *columns, struct json_object *array);
void print_event(const struct kind *kind, bool gone, struct json_object *object);
void print_json(struct json_object *value);
const char *print_escaped(const char *text);

#endif
