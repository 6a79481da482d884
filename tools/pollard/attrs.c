// SPDX-License-Identifier: GPL-2.0-only
/*
 * From netlink attributes to JSON, by the table of the kind.
 *
 * The result owns nothing of the message. Members come in the order of the table, whatever the
 * order in the message. Attributes that the table does not know are skipped and those that the
 * message lacks are left out, so the tool gets along with older and newer modules.
 */
#include <stdio.h>
#include <string.h>

#include "pollard.h"

const struct attr *attr_by_id(const struct attr *attrs, uint16_t id)
{
	for (; attrs->name; attrs++)
		if (attrs->id == id)
			return attrs;
	return NULL;
}

const struct attr *attr_by_name(const struct attr *attrs, const char *name)
{
	for (; attrs->name; attrs++)
		if (!strcmp(attrs->name, name))
			return attrs;
	return NULL;
}

/* An unsigned number of whatever width the kernel gave it. */
static uint64_t decode_number(struct nlattr *nla)
{
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	switch (nla_len(nla)) {
	case sizeof(uint8_t):
		return *(uint8_t *)nla_data(nla);
	case sizeof(u16):
		memcpy(&u16, nla_data(nla), sizeof(u16));
		return u16;
	case sizeof(u32):
		memcpy(&u32, nla_data(nla), sizeof(u32));
		return u32;
	case sizeof(u64):
		memcpy(&u64, nla_data(nla), sizeof(u64));
		return u64;
	default:
		return 0;
	}
}

static struct json_object *decode_choice(const char *const *words, uint64_t value)
{
	uint64_t i;

	for (i = 0; words[i] && i < value; i++)
		;
	if (words[i] && words[i][0])
		return json_object_new_string(words[i]);
	return json_object_new_uint64(value);
}

static struct json_object *decode_bytes(struct nlattr *nla, bool uuid)
{
	const uint8_t *bytes = nla_data(nla);
	char text[2 * 16 + 4 + 1];
	size_t at = 0;
	int i;

	if (nla_len(nla) != 16)
		return NULL;
	for (i = 0; i < 16; i++) {
		if (uuid && (i == 4 || i == 6 || i == 8 || i == 10))
			text[at++] = '-';
		at += snprintf(text + at, sizeof(text) - at, "%02x", bytes[i]);
	}
	return json_object_new_string(text);
}

static struct json_object *decode_guid(uint64_t guid)
{
	char text[4 * 4 + 3 + 1];

	snprintf(text, sizeof(text), "%04x:%04x:%04x:%04x", (unsigned int)(guid >> 48 & 0xffff),
		 (unsigned int)(guid >> 32 & 0xffff), (unsigned int)(guid >> 16 & 0xffff),
		 (unsigned int)(guid & 0xffff));
	return json_object_new_string(text);
}

static struct json_object *decode_one(const struct attr *attr, struct nlattr *nla)
{
	const char *text = nla_data(nla);

	switch (attr->type) {
	case ATTR_NUMBER:
	case ATTR_SIZE:
	case ATTR_ERRNO:
		return json_object_new_uint64(decode_number(nla));
	case ATTR_SWITCH:
		return json_object_new_boolean(decode_number(nla) != 0);
	case ATTR_CHOICE:
		return decode_choice(attr->words, decode_number(nla));
	case ATTR_STRING:
	case ATTR_NQN:
	case ATTR_ADDRESS:
		return json_object_new_string_len(text, strnlen(text, nla_len(nla)));
	case ATTR_UUID:
		return decode_bytes(nla, true);
	case ATTR_BYTES16:
		return decode_bytes(nla, false);
	case ATTR_GUID:
		return decode_guid(decode_number(nla));
	case ATTR_NEST:
		return attrs_decode(attr->nest, nla_data(nla), nla_len(nla));
	}
	return NULL;
}

struct json_object *attrs_decode(const struct attr *attrs, struct nlattr *head, int len)
{
	struct json_object *object = json_object_new_object();
	struct json_object *value, *array;
	struct nlattr *nla;
	int rest;

	for (; attrs->name; attrs++) {
		array = NULL;
		nla_for_each_attr(nla, head, len, rest) {
			if (nla_type(nla) != attrs->id)
				continue;
			value = decode_one(attrs, nla);
			if (!value)
				continue;
			if (!attrs->many) {
				json_object_object_add(object, attrs->name, value);
				break;
			}
			if (!array) {
				array = json_object_new_array();
				json_object_object_add(object, attrs->name, array);
			}
			json_object_array_add(array, value);
		}
	}
	return object;
}
