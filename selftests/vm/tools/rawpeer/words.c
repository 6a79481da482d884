// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of a script: words, key=value, variables, numbers. A number is a sum (or product...) of
 * terms, worked out from left to right: 0x10, 64k, $variable, REGION.rkey, CONN.u16@2.
 *
 * Every word has to be used by its command: one misspelt is an error, not a test that passes.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rawpeer.h"

#define VARIABLES_MAX	64

static struct {
	char name[NAME_SIZE];
	char text[LINE_SIZE];
} variables[VARIABLES_MAX];

char failure[512];

bool fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(failure, sizeof(failure), format, args);
	va_end(args);
	return false;
}

void put_le(uint8_t *at, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		at[i] = value >> (8 * i);
}

uint64_t get_le(const uint8_t *at, unsigned int bytes)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

bool variable_set(const char *name, const char *text)
{
	for (unsigned int i = 0; i < VARIABLES_MAX; i++) {
		if (variables[i].name[0] && strcmp(variables[i].name, name))
			continue;
		snprintf(variables[i].name, NAME_SIZE, "%s", name);
		snprintf(variables[i].text, LINE_SIZE, "%s", text);
		return true;
	}
	return fail("too many variables");
}

const char *variable(const char *name)
{
	for (unsigned int i = 0; i < VARIABLES_MAX; i++)
		if (!strcmp(variables[i].name, name))
			return variables[i].text;
	return NULL;
}

/* Copies a line, with the texts of the variables in it. */
static bool substitute(const char *line, char *out)
{
	const char *text;
	char name[NAME_SIZE];
	size_t len = 0, n;

	while (*line) {
		if (len + 1 >= LINE_SIZE)
			return fail("the line is too long");
		if (*line != '$' || !(isalnum(line[1]) || line[1] == '_')) {
			out[len++] = *line++;
			continue;
		}
		for (n = 0, line++; (isalnum(*line) || *line == '_') && n < NAME_SIZE - 1; n++)
			name[n] = *line++;
		name[n] = '\0';
		text = variable(name);
		if (!text)
			return fail("there is no variable %s", name);
		if (len + strlen(text) >= LINE_SIZE)
			return fail("the line is too long");
		len += sprintf(out + len, "%s", text);
	}
	out[len] = '\0';
	return true;
}

bool words_split(struct words *words, const char *line)
{
	bool quoted = false;
	char *at, *to;

	memset(words, 0, sizeof(*words));
	if (!substitute(line, words->text))
		return false;
	for (at = words->text; ;) {
		while (isspace(*at))
			at++;
		if (!*at)
			return true;
		if (words->count == WORDS_MAX)
			return fail("too many words");
		words->word[words->count++] = at;
		for (to = at; *at && (quoted || !isspace(*at)); at++) {
			if (*at == '"')
				quoted = !quoted;
			else
				*to++ = *at;
		}
		if (*at)
			at++;
		*to = '\0';
	}
}

bool words_all_used(const struct words *words)
{
	for (int i = 1; i < words->count; i++)
		if (!words->used[i])
			return fail("'%s' means nothing here", words->word[i]);
	return true;
}

const char *words_next(struct words *words)
{
	for (int i = 1; i < words->count; i++) {
		if (words->used[i] || strchr(words->word[i], '='))
			continue;
		words->used[i] = true;
		return words->word[i];
	}
	fail("%s: a word is missing", words->word[0]);
	return NULL;
}

bool words_flag(struct words *words, const char *name)
{
	for (int i = 1; i < words->count; i++) {
		if (strcmp(words->word[i], name))
			continue;
		words->used[i] = true;
		return true;
	}
	return false;
}

const char *words_text(struct words *words, const char *key)
{
	size_t len = strlen(key);

	for (int i = 1; i < words->count; i++) {
		if (words->used[i] || strncmp(words->word[i], key, len) ||
		    words->word[i][len] != '=')
			continue;
		words->used[i] = true;
		return words->word[i] + len + 1;
	}
	return NULL;
}

bool words_number(struct words *words, const char *key, uint64_t *value)
{
	const char *text = words_text(words, key);

	return !text || value_of(text, value);
}

bool hex_bytes(const char *text, uint8_t *data, size_t size, size_t *len)
{
	unsigned int byte;
	size_t n = 0;

	for (; *text; text += 2) {
		if (!isxdigit(text[0]) || !isxdigit(text[1]) || sscanf(text, "%2x", &byte) != 1)
			return fail("'%s' is not pairs of hexadecimal digits", text);
		if (n == size)
			return fail("too many bytes");
		data[n++] = byte;
	}
	*len = n;
	return true;
}

bool words_patch(struct words *words, uint8_t *data, size_t size)
{
	uint64_t offset;
	char *hex;
	size_t len;

	for (int i = 1; i < words->count; i++) {
		if (words->word[i][0] != '@')
			continue;
		hex = strchr(words->word[i], '=');
		if (!hex)
			return fail("%s: @OFFSET=HEX", words->word[i]);
		*hex++ = '\0';
		if (!value_of(words->word[i] + 1, &offset))
			return false;
		if (offset > size || !hex_bytes(hex, data + offset, size - offset, &len))
			return fail("@%s does not fit", words->word[i] + 1);
		words->used[i] = true;
	}
	return true;
}

/* "u16@2": 2 bytes at 2 of what an object holds */
static bool value_of_bytes(const char *field, const uint8_t *data, size_t size, uint64_t *value)
{
	unsigned int bits;
	char *end;
	uint64_t offset;

	bits = strtoul(field + 1, &end, 10);
	if (field[0] != 'u' || *end != '@' || bits % 8 || bits > 64)
		return fail("there is no field %s", field);
	offset = strtoul(end + 1, &end, 0);
	if (*end || offset + bits / 8 > size)
		return fail("%s lies outside", field);
	*value = get_le(data + offset, bits / 8);
	return true;
}

static bool value_of_region(const struct region *region, const char *field, uint64_t *value)
{
	if (!strcmp(field, "addr"))
		*value = (uintptr_t)region->data;
	else if (!strcmp(field, "rkey"))
		*value = region->rkey;
	else if (!strcmp(field, "size"))
		*value = region->size;
	else
		return value_of_bytes(field, region->data, region->size, value);
	return true;
}

/* Fields of the connection, and of the capsule or response that came last. */
static bool value_of_conn(const struct conn *conn, const char *field, uint64_t *value)
{
	static const struct {
		const char *name;
		unsigned int offset, bytes;
	} fields[] = {
		{ "opcode", 0, 1 }, { "ccid", 2, 2 }, { "fctype", 4, 1 }, { "nsid", 4, 4 },
		{ "raddr", 24, 8 }, { "rlen", 32, 3 }, { "rkey", 35, 4 }, { "rtype", 39, 1 },
		{ "cdw10", 40, 4 }, { "cdw11", 44, 4 }, { "cdw12", 48, 4 },
		{ "dw0", 0, 4 }, { "result", 0, 8 }, { "sqhd", 8, 2 }, { "status", 14, 2 },
	};
	const struct message *message = conn->current;

	if (!strcmp(field, "cid")) {
		*value = conn->cid;
		return true;
	}
	if (!strcmp(field, "qid")) {
		*value = conn->qid;
		return true;
	}
	if (!strcmp(field, "qpn")) {
		*value = conn->qpn;
		return true;
	}
	if (!strncmp(field, "private.", 8))
		return value_of_bytes(field + 8, conn->private_data, conn->private_len, value);
	if (!message)
		return fail("%s: nothing has come", conn->name);
	for (unsigned int i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (strcmp(field, fields[i].name))
			continue;
		if (fields[i].offset + fields[i].bytes > message->len)
			return fail("%s.%s: it is only %u bytes", conn->name, field, message->len);
		*value = get_le(message->data + fields[i].offset, fields[i].bytes);
		return true;
	}
	return value_of_bytes(field, message->data, message->len, value);
}

static bool value_of_term(const char *text, uint64_t *value)
{
	char name[NAME_SIZE];
	const char *dot = strchr(text, '.');
	struct region *region;
	struct conn *conn;
	char *end;

	if (isdigit(*text)) {
		*value = strtoull(text, &end, 0);
		if (*end == 'k' || *end == 'm')
			*value <<= *end++ == 'k' ? 10 : 20;
		return !*end || fail("'%s' is not a number", text);
	}
	if (!dot || dot - text >= NAME_SIZE)
		return fail("'%s' is not a number", text);
	snprintf(name, sizeof(name), "%.*s", (int)(dot - text), text);
	region = region_find(name);
	if (region)
		return value_of_region(region, dot + 1, value);
	conn = conn_find(name);
	return conn && value_of_conn(conn, dot + 1, value);
}

bool value_of(const char *text, uint64_t *value)
{
	char term[LINE_SIZE], op = '+';
	uint64_t one;
	size_t len;

	*value = 0;
	for (;;) {
		len = strcspn(text, "+-*/%");
		snprintf(term, sizeof(term), "%.*s", (int)len, text);
		if (!value_of_term(term, &one))
			return false;
		if ((op == '/' || op == '%') && !one)
			return fail("division by 0");
		switch (op) {
		case '+': *value += one; break;
		case '-': *value -= one; break;
		case '*': *value *= one; break;
		case '/': *value /= one; break;
		case '%': *value %= one; break;
		}
		if (!text[len])
			return true;
		op = text[len];
		text += len + 1;
	}
}
