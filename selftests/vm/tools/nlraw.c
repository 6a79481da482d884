// SPDX-License-Identifier: GPL-2.0-only
/*
 * nlraw [OPTION]... FAMILY: send generic netlink requests that no decent tool would send. Reads one
 * request a line from standard input, sends them on one socket, and prints one line for each:
 *
 *	COMMAND[d] [ATTRIBUTE=TYPE:VALUE]...	(numbers; d asks for a dump)
 *		types: u8 u16 u32 u64, s (a string with its NUL), r (without), x (hexadecimal bytes)
 *	-> ok [messages N] | ERRNO-NAME ["text"] [attr N] [missing N]
 *
 * With -v the attributes of every message that comes are printed, too (top level, " N=hex").
 *
 *	-n	keep no capability but CAP_NET_ADMIN
 *	-u	keep none at all, be user 1000
 *	-f N	no input: send N requests made up at random (seed -s S), say how many were accepted
 */
#include <errno.h>
#include <linux/capability.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ATTR_ALIGN(len)	(((len) + 3) & ~3)

static char message[64 * 1024];
static char answer[256 * 1024];
static struct nlmsghdr *const header = (void *)message;
static int sock;
static bool verbose;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void begin(int type, int flags, int command)
{
	struct genlmsghdr *genl = (void *)(message + NLMSG_HDRLEN);

	memset(message, 0, NLMSG_HDRLEN + GENL_HDRLEN);
	header->nlmsg_type = type;
	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	header->nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN;
	genl->cmd = command;
	genl->version = 1;
}

static void put(int type, const void *value, size_t len)
{
	struct nlattr *attr = (void *)(message + header->nlmsg_len);

	if (header->nlmsg_len + NLA_HDRLEN + len + 8 > sizeof(message))
		return;
	memset(attr, 0, NLA_HDRLEN + ATTR_ALIGN(len));
	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	memcpy((char *)attr + NLA_HDRLEN, value, len);
	header->nlmsg_len += NLA_HDRLEN + ATTR_ALIGN(len);
}

static struct nlattr *find(void *from, int len, int type)
{
	struct nlattr *attr = from;

	while (len >= NLA_HDRLEN && attr->nla_len >= NLA_HDRLEN && attr->nla_len <= len) {
		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return attr;
		len -= ATTR_ALIGN(attr->nla_len);
		attr = (void *)((char *)attr + ATTR_ALIGN(attr->nla_len));
	}
	return NULL;
}

static void print_message(struct nlmsghdr *msg)
{
	char *at = (char *)msg + NLMSG_HDRLEN + GENL_HDRLEN, *end = (char *)msg + msg->nlmsg_len;

	printf("message %d", ((struct genlmsghdr *)NLMSG_DATA(msg))->cmd);
	while (end - at >= NLA_HDRLEN) {
		struct nlattr *attr = (void *)at;
		int i;

		printf(" %d=", attr->nla_type & NLA_TYPE_MASK);
		for (i = NLA_HDRLEN; i < attr->nla_len; i++)
			printf("%02x", (unsigned char)at[i]);
		at += ATTR_ALIGN(attr->nla_len);
	}
	printf("\n");
}

/* The verdict of an acknowledgement or the end of a dump. */
static void print_verdict(struct nlmsghdr *msg, int error, int messages)
{
	int used = sizeof(int), len = msg->nlmsg_len - NLMSG_HDRLEN;
	struct nlattr *text, *offset, *missing;
	char *data = NLMSG_DATA(msg);

	if (!error) {
		printf(messages ? "ok messages %d\n" : "ok\n", messages);
		return;
	}
	if (msg->nlmsg_type == NLMSG_ERROR) {
		struct nlmsgerr *err = NLMSG_DATA(msg);

		used = sizeof(*err);
		if (!(msg->nlmsg_flags & NLM_F_CAPPED))
			used += NLMSG_ALIGN(err->msg.nlmsg_len) - NLMSG_HDRLEN;
	}
	printf("%s", strerrorname_np(-error));
	if (msg->nlmsg_flags & NLM_F_ACK_TLVS) {
		text = find(data + used, len - used, NLMSGERR_ATTR_MSG);
		offset = find(data + used, len - used, NLMSGERR_ATTR_OFFS);
		missing = find(data + used, len - used, NLMSGERR_ATTR_MISS_TYPE);
		if (text)
			printf(" \"%s\"", (char *)text + NLA_HDRLEN);
		if (offset) {
			uint32_t at = *(uint32_t *)((char *)offset + NLA_HDRLEN);

			printf(" attr %d", ((struct nlattr *)(message + at))->nla_type);
		}
		if (missing)
			printf(" missing %u", *(uint32_t *)((char *)missing + NLA_HDRLEN));
	}
	printf("\n");
}

/* Send the message and read to its end. Returns 0 or -errno. */
static int talk(bool quiet)
{
	static unsigned int seq;
	int messages = 0;

	header->nlmsg_seq = ++seq;
	if (send(sock, message, header->nlmsg_len, 0) < 0)
		die("send");
	for (;;) {
		int len = recv(sock, answer, sizeof(answer), 0);
		struct nlmsghdr *msg = (void *)answer;

		if (len < 0)
			die("recv");
		for (; NLMSG_OK(msg, (unsigned int)len); msg = NLMSG_NEXT(msg, len)) {
			int error = *(int *)NLMSG_DATA(msg);

			if (msg->nlmsg_seq != seq)
				continue;
			if (msg->nlmsg_type == NLMSG_ERROR || msg->nlmsg_type == NLMSG_DONE) {
				if (!quiet)
					print_verdict(msg, error, messages);
				return error;
			}
			messages++;
			if (verbose && !quiet)
				print_message(msg);
		}
	}
}

static int resolve(const char *family)
{
	struct nlmsghdr *msg = (void *)answer;
	struct nlattr *id;

	begin(GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY);
	put(CTRL_ATTR_FAMILY_NAME, family, strlen(family) + 1);
	header->nlmsg_flags &= ~NLM_F_ACK;
	if (send(sock, message, header->nlmsg_len, 0) < 0 ||
	    recv(sock, answer, sizeof(answer), 0) < 0)
		die("getfamily");
	id = find(answer + NLMSG_HDRLEN + GENL_HDRLEN,
		  msg->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN, CTRL_ATTR_FAMILY_ID);
	if (msg->nlmsg_type == NLMSG_ERROR || !id) {
		fprintf(stderr, "nlraw: no family %s\n", family);
		exit(2);
	}
	return *(uint16_t *)((char *)id + NLA_HDRLEN);
}

static void put_word(char *word)
{
	char *type = strchr(word, '='), *value = type ? strchr(type, ':') : NULL;
	unsigned char bytes[8192];
	unsigned long long number;
	size_t len = 0;
	int attr;

	if (!value) {
		fprintf(stderr, "nlraw: what is %s?\n", word);
		exit(2);
	}
	*type++ = *value++ = '\0';
	attr = atoi(word);
	number = strtoull(value, NULL, 0);
	if (*type == 'u')
		put(attr, &number, atoi(type + 1) / 8);
	else if (*type == 's')
		put(attr, value, strlen(value) + 1);
	else if (*type == 'r')
		put(attr, value, strlen(value));
	else
		for (; len < sizeof(bytes) && sscanf(value, "%2hhx", &bytes[len]) == 1; value += 2)
			len++;
	if (*type == 'x')
		put(attr, bytes, len);
}

static void interpret(int family)
{
	char line[32768], *word;

	while (fgets(line, sizeof(line), stdin)) {
		word = strtok(line, " \n");
		if (!word)
			continue;
		begin(family, strchr(word, 'd') ? NLM_F_DUMP : 0, atoi(word));
		while ((word = strtok(NULL, " \n")))
			put_word(word);
		talk(false);
		fflush(stdout);
	}
}

/* Values with a chance to be right in some places and wrong in others. */
static void put_random(int attr)
{
	static const char *const strings[] = {
		"", "nqn.", "nqn.a", "nqn.b", "nqn.c", "x", "127.0.0.1", "10.77.0.1", "::1",
		"fe80::1", "fe80::1%lo", "0.0.0.0", "255.255.255.255", "/dev/null", "/",
		"/dev/ram0", " ", "\n",
		"nqn.2014-08.org.nvmexpress.discovery", "1.2.3.4.5", "rxe0",
	};
	static const unsigned long long numbers[] = {
		0, 1, 2, 3, 4, 5, 128, 255, 256, 511, 512, 513, 1024, 1025, 4096, 4097, 8192, 65519,
		65535, 65536, 1 << 20, 0x7fffffff, 0xffffffff, 0xffffffffffffffff,
	};
	static const int sizes[] = { 1, 2, 4, 8 };
	char bytes[300];
	size_t i, len;

	switch (random() % 4) {
	case 0:
		len = random() % sizeof(bytes);
		for (i = 0; i < len; i++)
			bytes[i] = random() % 3 ? 'n' : random();
		put(attr, bytes, len);
		break;
	case 1:
		put(attr, &numbers[random() % (sizeof(numbers) / sizeof(*numbers))],
		    sizes[random() % 4]);
		break;
	default:
		i = random() % (sizeof(strings) / sizeof(*strings));
		put(attr, strings[i], strlen(strings[i]) + random() % 2);
	}
}

static void fuzz(int family, unsigned long count)
{
	unsigned long accepted = 0;
	int attrs;

	for (; count; count--) {
		begin(family, random() % 4 ? 0 : NLM_F_DUMP, random() % 40);
		for (attrs = random() % 8; attrs; attrs--)
			put_random(random() % 20);
		if (!(random() % 16))
			header->nlmsg_len -= random() % 4;
		accepted += !talk(true);
	}
	printf("accepted %lu\n", accepted);
}

static void keep_capabilities(uint32_t kept)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { .effective = kept, .permitted = kept } };

	if (syscall(SYS_capset, &head, data))
		die("capset");
}

int main(int argc, char **argv)
{
	struct timeval patience = { .tv_sec = 30 };
	unsigned long count = 0;
	int opt, one = 1, family;

	while ((opt = getopt(argc, argv, "f:nus:v")) != -1) {
		switch (opt) {
		case 'f':
			count = strtoul(optarg, NULL, 0);
			break;
		case 'n':
			keep_capabilities(1 << CAP_NET_ADMIN);
			break;
		case 'u':
			if (setgid(1000) || setuid(1000))
				die("setuid");
			break;
		case 's':
			srandom(atoi(optarg));
			break;
		case 'v':
			verbose = true;
			break;
		default:
			return 2;
		}
	}
	if (optind + 1 != argc) {
		fprintf(stderr, "usage: nlraw [-n|-u] [-v] [-f N [-s S]] FAMILY\n");
		return 2;
	}
	sock = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	if (sock < 0)
		die("socket");
	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(sock, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	family = resolve(argv[optind]);
	if (count)
		fuzz(family, count);
	else
		interpret(family);
	return 0;
}
