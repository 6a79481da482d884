// SPDX-License-Identifier: GPL-2.0-only
/*
 * From words of the command line to netlink attributes.
 *
 * What can be told to be wrong without asking the kernel is a usage error; everything else is left
 * to the kernel, which has the last word on ranges and combinations.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/pollard_target.h>

#include "pollard.h"

const char *args_next(struct args *args)
{
	if (!args->left)
		return NULL;
	args->left--;
	return *args->word++;
}

/* Index of the name that word is, or is the only abbreviation of; -1 for none, -2 for several. */
int args_match(const char *word, const char *const *names)
{
	size_t len = strlen(word);
	int found = -1;
	int i;

	if (!len)
		return -1;
	for (i = 0; names[i]; i++) {
		if (!strcmp(names[i], word))
			return i;
		if (!strncmp(names[i], word, len))
			found = found == -1 ? i : -2;
	}
	return found;
}

static const char *keyword_of(const struct attr *attr)
{
	return attr->keyword ? attr->keyword : attr->name;
}

static bool parse_number(const char *text, uint64_t *value, char **end)
{
	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*value = strtoull(text, end, text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10);
	return !errno;
}

/* 512, 64K, 64M, 1G, 2T, also with iB behind the letter */
static bool parse_size(const char *text, uint64_t *value)
{
	static const char letters[] = "KMGT";
	const char *letter;
	unsigned int shift;
	char *end;

	if (!parse_number(text, value, &end))
		return false;
	if (!*end)
		return true;
	letter = strchr(letters, toupper((unsigned char)*end));
	if (!letter || (end[1] && strcmp(end + 1, "iB")))
		return false;
	shift = 10 * (letter - letters + 1);
	if (*value > UINT64_MAX >> shift)
		return false;
	*value <<= shift;
	return true;
}

/* 32 hexadecimal digits; a UUID has its four dashes, other identifiers none */
static bool parse_bytes16(const char *text, uint8_t *bytes, bool uuid)
{
	unsigned int i;

	for (i = 0; i < 16; i++) {
		char digits[3] = "";

		if (uuid && (i == 4 || i == 6 || i == 8 || i == 10) && *text++ != '-')
			return false;
		if (!isxdigit((unsigned char)text[0]) || !isxdigit((unsigned char)text[1]))
			return false;
		memcpy(digits, text, 2);
		bytes[i] = strtoul(digits, NULL, 16);
		text += 2;
	}
	return !*text;
}

static bool is_address(const char *text)
{
	char host[INET6_ADDRSTRLEN];
	struct in6_addr addr;
	size_t len = strcspn(text, "%");

	if (inet_pton(AF_INET, text, &addr) == 1)
		return true;
	if (len >= sizeof(host) || (text[len] && !text[len + 1]))
		return false;
	memcpy(host, text, len);
	host[len] = '\0';
	return inet_pton(AF_INET6, host, &addr) == 1;
}

static int put_number(struct nl_msg *msg, const struct attr *attr, uint64_t value)
{
	switch (attr->width) {
	case 1:
		return nla_put_u8(msg, attr->id, value);
	case 2:
		return nla_put_u16(msg, attr->id, value);
	case 4:
		return nla_put_u32(msg, attr->id, value);
	default:
		return nla_put_u64(msg, attr->id, value);
	}
}

static bool fits(uint64_t value, unsigned int width)
{
	return width >= 8 || value >> (8 * width) == 0;
}

static enum status put_choice(struct nl_msg *msg, const struct attr *attr, const char *text)
{
	int choice = args_match(text, attr->words);
	char list[256] = "";
	int i;

	if (choice >= 0)
		return nla_put_u32(msg, attr->id, choice) ? USAGE : DONE;
	for (i = 0; attr->words[i]; i++) {
		if (!attr->words[i][0])
			continue;
		if (list[0])
			strncat(list, ", ", sizeof(list) - strlen(list) - 1);
		strncat(list, attr->words[i], sizeof(list) - strlen(list) - 1);
	}
	return usage_error(NULL, "%s: '%s' is none of %s", keyword_of(attr), text, list);
}

/* Put one attribute, given as text, into the message. */
enum status args_put(struct nl_msg *msg, const struct attr *attr, const char *text)
{
	const char *what = keyword_of(attr);
	uint8_t bytes[16];
	uint64_t value;
	int err = 0;
	char *end;

	switch (attr->type) {
	case ATTR_NUMBER:
		if (!parse_number(text, &value, &end) || *end)
			return usage_error(NULL, "%s: '%s' is not a number", what, text);
		if (!fits(value, attr->width))
			return usage_error(NULL, "%s: %s is too large", what, text);
		err = put_number(msg, attr, value);
		break;
	case ATTR_SIZE:
		if (!parse_size(text, &value))
			return usage_error(NULL, "%s: '%s' is not a size in bytes, K, M, G or T",
					   what, text);
		if (!fits(value, attr->width))
			return usage_error(NULL, "%s: %s is too large", what, text);
		err = put_number(msg, attr, value);
		break;
	case ATTR_SWITCH:
		if (strcmp(text, "on") && strcmp(text, "off"))
			return usage_error(NULL, "%s: '%s' is neither on nor off", what, text);
		err = nla_put_u8(msg, attr->id, !strcmp(text, "on"));
		break;
	case ATTR_CHOICE:
		return put_choice(msg, attr, text);
	case ATTR_NQN:
		if (!*text || strlen(text) > POLLARD_TARGET_NQN_MAX_LEN)
			return usage_error(NULL, "%s: an NQN has 1 to %d bytes", what,
					   POLLARD_TARGET_NQN_MAX_LEN);
		err = nla_put_string(msg, attr->id, text);
		break;
	case ATTR_ADDRESS:
		if (!is_address(text))
			return usage_error(NULL, "%s: '%s' is not an IPv4 or IPv6 address",
					   what, text);
		err = nla_put_string(msg, attr->id, text);
		break;
	case ATTR_STRING:
		if (!*text)
			return usage_error(NULL, "%s: is empty", what);
		err = nla_put_string(msg, attr->id, text);
		break;
	case ATTR_UUID:
	case ATTR_BYTES16:
		if (!parse_bytes16(text, bytes, attr->type == ATTR_UUID))
			return usage_error(NULL, "%s: '%s' is not %s", what, text,
					   attr->type == ATTR_UUID ? "a UUID"
								   : "32 hexadecimal digits");
		err = nla_put(msg, attr->id, sizeof(bytes), bytes);
		break;
	case ATTR_GUID:
	case ATTR_ERRNO:
	case ATTR_NEST:
		return usage_error(NULL, "%s: cannot be given", what);
	}
	return err ? usage_error(NULL, "%s: is too long", what) : DONE;
}

/*
 * Put the words that are known by their place. The keyword may stand before all but the first
 * (`namespace del NQN nsid 1`). *count tells how many there were.
 */
enum status args_put_positional(struct nl_msg *msg, const struct verb *verb, struct args *args,
				int *count)
{
	const struct attr *attr;
	enum status status;

	for (*count = 0; *count < KEY_MAX && verb->positional[*count] && args->left; ++*count) {
		attr = attr_by_id(verb->kind->attrs, verb->positional[*count]);
		if (*count >= verb->required &&
		    args_find_keyword(verb->kind, verb->keyed, *args->word))
			break;
		if (*count && args->left > 1 && !strcmp(*args->word, attr->name))
			args_next(args);
		status = args_put(msg, attr, args_next(args));
		if (status)
			return status;
	}
	if (*count < verb->required) {
		attr = attr_by_id(verb->kind->attrs, verb->positional[*count]);
		return usage_error(verb, "the %s is missing", attr->name);
	}
	return DONE;
}

/* The attribute that a keyword, or the only abbreviation of one, stands for; NULL for none. */
const struct attr *args_find_keyword(const struct kind *kind, const uint16_t *keyed,
				     const char *word)
{
	const char *names[32];
	int i, found;

	for (i = 0; keyed && keyed[i]; i++)
		names[i] = keyword_of(attr_by_id(kind->attrs, keyed[i]));
	names[i] = NULL;
	found = args_match(word, names);
	return found < 0 ? NULL : attr_by_id(kind->attrs, keyed[found]);
}

/* Put all that is left, as KEYWORD VALUE. */
enum status args_put_keyed(struct nl_msg *msg, const struct kind *kind, const uint16_t *keyed,
			   const struct verb *verb, struct args *args)
{
	uint64_t seen = 0;

	while (args->left) {
		const char *word = args_next(args);
		const struct attr *attr = args_find_keyword(kind, keyed, word);
		enum status status;

		if (!attr)
			return usage_error(verb, "do not know what to do with '%s'", word);
		if (!args->left)
			return usage_error(verb, "the value of %s is missing", keyword_of(attr));
		if (seen & 1ull << attr->id)
			return usage_error(verb, "%s is given twice", keyword_of(attr));
		seen |= 1ull << attr->id;
		status = args_put(msg, attr, args_next(args));
		if (status)
			return status;
	}
	return DONE;
}
