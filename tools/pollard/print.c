// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything the tool shows is a JSON value first; here it becomes text or JSON.
 *
 * Text has one line for an object: its kind, what identifies it, then pairs of name and value.
 * Nested objects follow on lines of their own, behind a tab. Names are those of the JSON members.
 * Strings may come from a peer: what could be taken for a control sequence is escaped.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "pollard.h"

/* The text without anything that is not printable ASCII, in a buffer that the next call reuses. */
const char *print_escaped(const char *text)
{
	static char escaped[4096];
	size_t at = 0;

	for (; *text && at < sizeof(escaped) - 5; text++) {
		unsigned char c = *text;

		if (c >= ' ' && c <= '~')
			escaped[at++] = c;
		else
			at += sprintf(escaped + at, "\\x%02x", c);
	}
	escaped[at] = '\0';
	return escaped;
}

static void print_size(uint64_t bytes)
{
	static const char letters[] = "KMGT";
	int i;

	for (i = -1; i < 3 && bytes && bytes % 1024 == 0; i++)
		bytes /= 1024;
	printf("%llu", (unsigned long long)bytes);
	if (i >= 0)
		putchar(letters[i]);
}

static void print_value(const struct attr *attr, struct json_object *value)
{
	const char *text;

	switch (json_object_get_type(value)) {
	case json_type_boolean:
		fputs(json_object_get_boolean(value) ? "on" : "off", stdout);
		break;
	case json_type_int:
		if (attr && attr->type == ATTR_SIZE)
			print_size(json_object_get_uint64(value));
		else if (attr && attr->type == ATTR_ERRNO)
			printf("\"%s\"", strerror(json_object_get_int(value)));
		else
			printf("%llu", (unsigned long long)json_object_get_uint64(value));
		break;
	default:
		text = print_escaped(json_object_get_string(value));
		printf(!*text || strchr(text, ' ') ? "\"%s\"" : "%s", text);
	}
}

static const struct attr *attr_of(const struct attr *attrs, const char *name)
{
	return attrs ? attr_by_name(attrs, name) : NULL;
}

/* Pairs of name and value, the first one without its name if it names the object. */
static void print_pairs(const struct attr *attrs, struct json_object *object, bool headed)
{
	json_object_object_foreach(object, name, value) {
		if (json_object_is_type(value, json_type_array) ||
		    json_object_is_type(value, json_type_object))
			continue;
		if (!headed)
			printf(" %s", name);
		putchar(' ');
		print_value(attr_of(attrs, name), value);
		headed = false;
	}
}

static void print_nested(const struct attr *attr, const char *name, struct json_object *value,
			 bool headed)
{
	printf("\t%s", name);
	if (json_object_is_type(value, json_type_object)) {
		print_pairs(attr ? attr->nest : NULL, value, headed);
	} else {
		putchar(' ');
		print_value(attr, value);
	}
	putchar('\n');
}

static void print_line(const char *kind, const struct attr *attrs, struct json_object *object)
{
	printf("%s", kind);
	print_pairs(attrs, object, true);
	putchar('\n');
}

static void print_object(const char *kind, const struct attr *attrs, struct json_object *object)
{
	size_t i;

	print_line(kind, attrs, object);
	json_object_object_foreach(object, name, value) {
		const struct attr *attr = attr_of(attrs, name);

		if (attr && attr->statistics && !options.statistics)
			continue;
		if (json_object_is_type(value, json_type_object))
			print_nested(attr, name, value, false);
		if (!json_object_is_type(value, json_type_array))
			continue;
		for (i = 0; i < json_object_array_length(value); i++)
			print_nested(attr, name, json_object_array_get_idx(value, i), true);
	}
}

/* The next character of UTF-8; a byte that is no part of one is U+FFFD. */
static uint32_t next_character(const char **text)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	const unsigned char *byte = (const unsigned char *)*text;
	uint32_t character = *byte;
	int more, i;

	++*text;
	if (character < 0x80)
		return character;
	for (more = 1; more < 4 && character & 0x40 >> more; more++)
		;
	if (more == 4 || !(character & 0x40))
		return 0xfffd;
	character &= 0x3f >> more;
	for (i = 1; i <= more; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0xfffd;
		character = character << 6 | (byte[i] & 0x3f);
	}
	if (character < least[more] || character > 0x10ffff || character >> 11 == 0xd800 >> 11)
		return 0xfffd;
	*text += more;
	return character;
}

/* In ASCII, whatever a peer has called itself: fit for parsers and for terminals. */
void print_json(struct json_object *value)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;
	const char *text;

	flags |= options.pretty ? JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED :
		JSON_C_TO_STRING_PLAIN;
	text = json_object_to_json_string_ext(value, flags);
	while (*text) {
		uint32_t c = next_character(&text);

		if ((c >= ' ' && c <= '~') || c == '\n')
			putchar(c);
		else if (c < 0x10000)
			printf("\\u%04x", c);
		else
			printf("\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + (c & 0x3ff));
	}
	putchar('\n');
}

static const struct kind *kind_of(const struct kind *kind, const struct kind *other,
				  struct json_object *object)
{
	struct json_object *side;

	if (other && json_object_object_get_ex(object, "side", &side) &&
	    !strcmp(json_object_get_string(side), other->side))
		return other;
	return kind;
}

/* What show prints: objects of a kind, mixed with those of the other end if there is an other. */
void print_list(const struct kind *kind, const struct kind *other, struct json_object *array)
{
	struct json_object *object;
	size_t i;

	if (options.json) {
		print_json(array);
		return;
	}
	for (i = 0; i < json_object_array_length(array); i++) {
		object = json_object_array_get_idx(array, i);
		print_object(kind->name, kind_of(kind, other, object)->attrs, object);
	}
}

static void print_cell(const struct column *column, struct json_object *object, char *cell,
		       size_t size)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, column->key, &value))
		snprintf(cell, size, "-");
	else if (column->nanoseconds)
		snprintf(cell, size, "%.1f", json_object_get_uint64(value) / 1000.0);
	else
		snprintf(cell, size, "%s", print_escaped(json_object_get_string(value)));
}

static void print_row(const struct column *columns, const int *width, struct json_object *object)
{
	char cell[128];
	int i;

	for (i = 0; columns[i].key; i++) {
		if (object)
			print_cell(&columns[i], object, cell, sizeof(cell));
		else
			snprintf(cell, sizeof(cell), "%s", columns[i].title);
		printf("%s%*s", i ? "  " : "", width[i], cell);
	}
	putchar('\n');
}

/* A list of which all members are figures to be compared with each other. */
void print_table(const struct column *columns, struct json_object *array)
{
	size_t row, rows = json_object_array_length(array);
	int width[32];
	char cell[128];
	int i;

	if (options.json) {
		print_json(array);
		return;
	}
	for (i = 0; columns[i].key; i++) {
		width[i] = strlen(columns[i].title);
		for (row = 0; row < rows; row++) {
			print_cell(&columns[i], json_object_array_get_idx(array, row), cell,
				   sizeof(cell));
			if ((int)strlen(cell) > width[i])
				width[i] = strlen(cell);
		}
	}
	print_row(columns, width, NULL);
	for (row = 0; row < rows; row++)
		print_row(columns, width, json_object_array_get_idx(array, row));
}

/* What the kernel answered to a change: what it has chosen, without what the user had given. */
void print_reply(struct json_object *array)
{
	struct json_object *object = json_object_array_get_idx(array, 0);

	if (options.json) {
		print_json(array);
		return;
	}
	json_object_object_foreach(object, name, value) {
		if (!json_object_is_type(value, json_type_int))
			continue;
		printf("%s ", name);
		print_value(NULL, value);
		putchar('\n');
	}
}

/* One event, on a line of its own; in text without what is nested. */
void print_event(const struct kind *kind, bool gone, struct json_object *object)
{
	const char *what = gone ? "gone" : "change";
	struct json_object *event;

	if (options.json) {
		event = json_object_new_object();
		json_object_object_add(event, "event", json_object_new_string(what));
		json_object_object_add(event, "object", json_object_new_string(kind->name));
		json_object_object_add(event, "data", json_object_get(object));
		print_json(event);
		json_object_put(event);
	} else {
		printf("%s ", what);
		print_line(kind->name, kind->attrs, object);
	}
	fflush(stdout);
}
