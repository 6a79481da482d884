// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: the kernel's verdicts (a byte, a bit each), the words of a command line, each up to its
 * NUL, an empty one, and what is in the file of -b and on standard input. There is no netlink: what
 * would be sent is looked at here.
 */
#include <errno.h>
#include <getopt.h>
#include <linux/genetlink.h>
#include <netlink/genl/genl.h>

#include "fuzz.h"
#include "fuzz_cli_env.h"

#define WORDS	24

static uint8_t verdicts;

/* gnl.c of this target */

enum status gnl_open(void)
{
	return DONE;
}

void gnl_close(void)
{
}

bool gnl_has_family(enum family family)
{
	return family != FAMILY_HOST;
}

enum status gnl_ask_family(enum family family)
{
	return gnl_has_family(family) ? DONE : refuse("no module");
}

enum status gnl_need_family(enum family family)
{
	return gnl_ask_family(family);
}

const char *gnl_module(enum family family)
{
	(void)family;
	return "module";
}

struct nl_msg *gnl_message(uint8_t command)
{
	struct nl_msg *msg = nlmsg_alloc_size(65536);

	genlmsg_put(msg, 0, 1, 0, 0, 0, command, 1);
	return msg;
}

static void check_attribute(const struct attr *attr, struct nlattr *nla)
{
	const char *text = nla_data(nla);
	int len = nla_len(nla);
	uint32_t i, choice;

	switch (attr->type) {
	case ATTR_NUMBER:
	case ATTR_SIZE:
		MUST(len == attr->width);
		break;
	case ATTR_SWITCH:
		MUST(len == 1 && (uint8_t)text[0] <= 1);
		break;
	case ATTR_CHOICE:
		MUST(len == sizeof(choice));
		choice = nla_get_u32(nla);
		for (i = 0; i <= choice; i++)
			MUST(attr->words[i]);
		MUST(attr->words[choice][0]);
		break;
	case ATTR_STRING:
	case ATTR_NQN:
	case ATTR_ADDRESS:
		MUST(len >= 2 && strnlen(text, len) == (size_t)len - 1);
		MUST(attr->type != ATTR_NQN || len <= 224);
		break;
	case ATTR_UUID:
	case ATTR_BYTES16:
		MUST(len == 16);
		break;
	default:
		MUST(!"an attribute that can be given");
	}
}

/* A request is well formed whatever the words were, and says nothing twice. */
int gnl_talk(enum family family, struct nl_msg *msg, const struct attr *attrs, gnl_reply_fn reply,
	    void *arg, struct gnl_refusal *refusal)
{
	struct genlmsghdr *genl = genlmsg_hdr(nlmsg_hdr(msg));
	int left = genlmsg_attrlen(genl, 0);
	struct nlattr *nla;
	uint64_t seen = 0;

	(void)reply;
	(void)arg;
	MUST(gnl_has_family(family));
	for (nla = genlmsg_attrdata(genl, 0); nla_ok(nla, left); nla = nla_next(nla, &left)) {
		const struct attr *attr = attr_by_id(attrs, nla_type(nla));

		MUST(attr && attr->id < 64 && !(seen & 1ULL << attr->id));
		seen |= 1ULL << attr->id;
		check_attribute(attr, nla);
	}
	MUST(!left);
	verdicts = verdicts >> 1 | verdicts << 7;
	if (!(verdicts & 1))
		return 0;
	*refusal = (struct gnl_refusal) { .error = ENOENT, .text = "refused" };
	return -ENOENT;
}

enum status gnl_do(enum family family, struct nl_msg *msg, const struct attr *attrs,
		  gnl_reply_fn reply, void *arg)
{
	struct gnl_refusal refusal;
	int error = gnl_talk(family, msg, attrs, reply, arg, &refusal);

	nlmsg_free(msg);
	return error ? refuse("%s", refusal.text) : DONE;
}

enum status gnl_events_join(enum family family)
{
	(void)family;
	return DONE;
}

void gnl_events_watch_families(void)
{
}

int gnl_events_next(gnl_event_fn event, void *arg, int timeout_ms)
{
	(void)event;
	(void)arg;
	return timeout_ms < 0 ? -EIO : -ENOBUFS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words[WORDS + 2] = { strdup("pollard") };
	FILE *real_stdin = stdin;
	int count = 1, status;
	size_t len;

	if (!size || memchr(data, '\0', size) == NULL) {
		free(words[0]);
		return -1;
	}
	verdicts = *data++;
	size--;
	while (size && count <= WORDS) {
		len = strnlen((const char *)data, size);
		if (len)
			words[count++] = strndup((const char *)data, len);
		len += len < size;
		data += len;
		size -= len;
		if (len <= 1)
			break;
	}
	cli_file = data;
	cli_file_size = size;
	stdin = fuzz_fopen("-", "r") ?: real_stdin;
	options = (struct options) { .no_load = true };
	optind = 0;

	cli_catch();
	status = tool_main(count, words);
	MUST(status == DONE || status == REFUSED || status == USAGE);
	MUST(!batch_running());
	set_place(NULL, 0);
	cli_release();

	if (stdin != real_stdin)
		fclose(stdin);
	stdin = real_stdin;
	/* getopt changes the order. */
	while (count--)
		free(words[count]);
	return 0;
}
