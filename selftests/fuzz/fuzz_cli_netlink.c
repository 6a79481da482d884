// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: which command line (a byte), options (a byte), then datagrams: length (2 bytes) and bytes,
 * which is what sockets receive. A datagram lies on the heap in exactly its length.
 */
#include <errno.h>
#include <getopt.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/family.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "fuzz.h"
#include "fuzz_cli_env.h"

#define NQN	"nqn.2026-01.org.example:x"

static const char *const lines[][10] = {
	{ "group", "show" },
	{ "device", "show" },
	{ "subsystem", "show" },
	{ "namespace", "show" },
	{ "controller", "show" },
	{ "queue", "show" },
	{ "latency", "show" },
	{ "monitor" },
	{ "subsystem", "add", NQN, "serial", "1" },
	{ "subsystem", "del", NQN },
	{ "namespace", "add", NQN, "ram", "1M", "nsid", "1" },
	{ "port", "add", "1", "traddr", "127.0.0.1" },
	{ "port", "del", "1" },
	{ "-b", "file" },
};

static const char batch[] =
	"subsystem add " NQN "\n"
	"namespace add " NQN " ram 1M\n"
	"port add 1 traddr ::1\n"
	"port show\n";

static const uint8_t *input;
static size_t input_size;

/* libnl of this target: one family after the other, and datagrams out of the input. */

int genl_connect(struct nl_sock *sock)
{
	(void)sock;
	return 0;
}

static unsigned int family_id(const char *name)
{
	return 0x20 + (name[strlen("pollard")] == '-') + !!strstr(name, "host");
}

int genl_ctrl_resolve(struct nl_sock *sock, const char *name)
{
	(void)sock;
	return family_id(name);
}

int genl_ctrl_alloc_cache(struct nl_sock *sock, struct nl_cache **cache)
{
	(void)sock;
	*cache = NULL;
	return 0;
}

struct genl_family *genl_ctrl_search_by_name(struct nl_cache *cache, const char *name)
{
	(void)cache;
	return (struct genl_family *)name;
}

unsigned int genl_family_get_id(struct genl_family *family)
{
	return family_id((const char *)family);
}

void genl_family_put(struct genl_family *family)
{
	(void)family;
}

void nl_cache_free(struct nl_cache *cache)
{
	(void)cache;
}

int genl_ctrl_resolve_grp(struct nl_sock *sock, const char *family, const char *group)
{
	(void)sock;
	(void)family;
	(void)group;
	return 1;
}

int nl_socket_add_membership(struct nl_sock *sock, int group)
{
	(void)sock;
	(void)group;
	return 0;
}

int nl_send_auto(struct nl_sock *sock, struct nl_msg *msg)
{
	(void)sock;
	nlmsg_hdr(msg)->nlmsg_seq = 1;
	return nlmsg_hdr(msg)->nlmsg_len;
}

int nl_recv(struct nl_sock *sock, struct sockaddr_nl *from, unsigned char **buffer,
	    struct ucred **creds)
{
	size_t len;

	(void)sock;
	(void)from;
	(void)creds;
	if (input_size < 3)
		return 0;
	len = input[0] | input[1] << 8;
	input += 2;
	input_size -= 2;
	if (!len)
		return -NLE_NOMEM;
	if (len > input_size)
		len = input_size;
	*buffer = memcpy(malloc(len), input, len);
	input += len;
	input_size -= len;
	return len;
}

int fuzz_poll(struct pollfd *fds, nfds_t nr, int timeout_ms)
{
	(void)fds;
	MUST(nr == 1);
	if (input_size >= 3)
		return 1;
	if (timeout_ms >= 0)
		return 0;
	errno = EIO;
	return -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words[12] = { "pollard" };
	const char *const *line;
	int count = 1;

	if (size < 2)
		return -1;
	line = lines[data[0] % ARRAY_SIZE(lines)];
	options = (struct options) {
		.json = data[1] & 1, .pretty = data[1] & 2, .statistics = data[1] & 4,
		.no_wait = data[1] & 8, .no_load = true,
	};
	while (*line)
		words[count++] = (char *)*line++;
	words[count] = NULL;
	input = data + 2;
	input_size = size - 2;
	cli_file = (const uint8_t *)batch;
	cli_file_size = sizeof(batch) - 1;
	optind = 0;

	cli_catch();
	tool_main(count, words);
	set_place(NULL, 0);
	cli_judge(options.json, true);
	return 0;
}
