// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic netlink: one socket for requests, which also owns an open transaction, and one for
 * events, opened when somebody waits for them.
 *
 * Answers are read here rather than by libnl's callbacks: the extended acknowledgement is what
 * tells the user why something was refused, and it can sit in an error message as well as at the
 * end of a dump.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/family.h>
#include <netlink/genl/genl.h>

#include <linux/pollard.h>
#include <linux/pollard_host.h>
#include <linux/pollard_target.h>

#include "pollard.h"

#define MESSAGE_BUFFER	(64 * 1024)	/* bytes, the longest message of a dump */
#define EVENT_BUFFER	(1024 * 1024)	/* bytes of events that may wait for us */
#define ERRNO_MAX	4095		/* of the kernel */

static struct nl_sock *requests, *events;

static struct {
	const char *name;
	const char *module;
	const char *group;
	int id;			/* message type, 0 while it is not known */
	bool joined;
	bool load_tried;
} families[FAMILIES] = {
	[FAMILY_CORE] = { POLLARD_FAMILY_NAME, "pollard", POLLARD_MCGRP_EVENTS },
	[FAMILY_TARGET] = { POLLARD_TARGET_FAMILY_NAME, "pollard-target",
			    POLLARD_TARGET_MCGRP_EVENTS },
	[FAMILY_HOST] = { POLLARD_HOST_FAMILY_NAME, "pollard-host", POLLARD_HOST_MCGRP_EVENTS },
};

static struct nl_sock *open_socket(void)
{
	struct nl_sock *sock = nl_socket_alloc();

	if (!sock)
		return NULL;
	if (genl_connect(sock)) {
		nl_socket_free(sock);
		return NULL;
	}
	nl_socket_disable_seq_check(sock);
	nl_socket_set_msg_buf_size(sock, MESSAGE_BUFFER);
	return sock;
}

enum status gnl_open(void)
{
	int one = 1;

	if (requests)
		return DONE;
	requests = open_socket();
	if (!requests)
		return refuse("cannot open a netlink socket: %s", strerror(errno));
	setsockopt(nl_socket_get_fd(requests), SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(nl_socket_get_fd(requests), SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	return DONE;
}

void gnl_close(void)
{
	nl_socket_free(events);
	nl_socket_free(requests);
	events = NULL;
	requests = NULL;
}

/*
 * Is the family there? It is looked for in the list of all: of one that is asked for by its name
 * the kernel loads the module.
 */
bool gnl_has_family(enum family family)
{
	struct genl_family *found;
	struct nl_cache *cache;

	if (families[family].id)
		return true;
	if (genl_ctrl_alloc_cache(requests, &cache))
		return false;
	found = genl_ctrl_search_by_name(cache, families[family].name);
	if (found) {
		families[family].id = genl_family_get_id(found);
		genl_family_put(found);
	}
	nl_cache_free(cache);
	return found;
}

const char *gnl_module(enum family family)
{
	return families[family].module;
}

static void load_module(const char *module)
{
	pid_t pid = fork();
	int status, null;

	if (!pid) {
		null = open("/dev/null", O_WRONLY);
		if (null >= 0)
			dup2(null, STDERR_FILENO);
		execlp("modprobe", "modprobe", "-q", module, NULL);
		execl("/sbin/modprobe", "modprobe", "-q", module, NULL);
		_exit(127);
	}
	if (pid > 0)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
}

/* Refuse if the family is not there. */
enum status gnl_ask_family(enum family family)
{
	enum status status = gnl_open();

	if (status || gnl_has_family(family))
		return status;
	return refuse("the kernel module %s is not loaded", families[family].module);
}

/* Make sure the family is there; load its module once if it is not. */
enum status gnl_need_family(enum family family)
{
	enum status status = gnl_open();

	if (status)
		return status;
	if (options.no_load)
		return gnl_ask_family(family);
	if (gnl_has_family(family))
		return DONE;
	if (!families[family].load_tried) {
		families[family].load_tried = true;
		if (genl_ctrl_resolve(requests, families[family].name) < 0)
			load_module(families[family].module);
		if (gnl_has_family(family))
			return DONE;
	}
	return refuse("the kernel module %s is not loaded, and modprobe could not load it",
		      families[family].module);
}

/* A request; the family it is for need not be there before it is sent. */
struct nl_msg *gnl_message(uint8_t command)
{
	struct nl_msg *msg = nlmsg_alloc_size(MESSAGE_BUFFER);

	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, 0, 0, 0, command, 1))
		no_memory();
	return msg;
}

static void add_text(struct gnl_refusal *refusal, const char *before, const char *text,
		     const char *after)
{
	size_t len = strlen(refusal->text);

	snprintf(refusal->text + len, sizeof(refusal->text) - len, "%s%s%s", before, text, after);
}

/* " must be 1 to 65519", out of the policy that the kernel says was violated */
static void add_range(struct gnl_refusal *refusal, struct nlattr *policy)
{
	struct nlattr *min = nla_find(nla_data(policy), nla_len(policy),
				      NL_POLICY_TYPE_ATTR_MIN_VALUE_U);
	struct nlattr *max = nla_find(nla_data(policy), nla_len(policy),
				      NL_POLICY_TYPE_ATTR_MAX_VALUE_U);
	char range[64];

	if (!min || !max || nla_len(min) != sizeof(uint64_t) || nla_len(max) != sizeof(uint64_t))
		return;
	snprintf(range, sizeof(range), "%llu to %llu", (unsigned long long)nla_get_u64(min),
		 (unsigned long long)nla_get_u64(max));
	add_text(refusal, ", must be ", range, "");
}

/* Name the attribute of the request that is to blame, or the one that is missing. */
static void add_attribute(struct gnl_refusal *refusal, struct nl_msg *msg, const struct attr *attrs,
			  struct nlattr *offset, struct nlattr *missing, struct nlattr *policy)
{
	const struct attr *attr = NULL;
	struct nlmsghdr *request = nlmsg_hdr(msg);
	uint32_t at;

	if (offset && nla_len(offset) == sizeof(at)) {
		at = nla_get_u32(offset);
		if (at >= NLMSG_HDRLEN && at <= request->nlmsg_len - sizeof(struct nlattr))
			attr = attr_by_id(attrs, nla_type((struct nlattr *)((char *)request + at)));
	}
	if (attr) {
		add_text(refusal, " (", attr->name, "");
		if (policy)
			add_range(refusal, policy);
		add_text(refusal, ")", "", "");
	}
	if (missing && nla_len(missing) == sizeof(uint32_t)) {
		attr = attr_by_id(attrs, nla_get_u32(missing));
		if (attr)
			add_text(refusal, " (", attr->name, " is missing)");
	}
}

/* From an error number and the attributes of an extended acknowledgement to a sentence. */
static void read_refusal(struct gnl_refusal *refusal, int error, struct nlattr *head, int len,
			 struct nl_msg *msg, const struct attr *attrs)
{
	struct nlattr *text = nla_find(head, len, NLMSGERR_ATTR_MSG);

	refusal->error = error;
	refusal->text[0] = '\0';
	if (text) {
		char *sentence = strndup(nla_data(text), nla_len(text));

		if (sentence) {
			sentence[strcspn(sentence, "\n")] = '\0';
			add_text(refusal, print_escaped(sentence), "", "");
		}
		free(sentence);
	}
	if (!refusal->text[0])
		add_text(refusal, strerror(error), "", "");
	add_attribute(refusal, msg, attrs, nla_find(head, len, NLMSGERR_ATTR_OFFS),
		      nla_find(head, len, NLMSGERR_ATTR_MISS_TYPE),
		      nla_find(head, len, NLMSGERR_ATTR_POLICY));
}

/* The verdict of an error or done message: 0, or -errno with the refusal filled in. */
static int read_verdict(struct nlmsghdr *hdr, struct nl_msg *msg, const struct attr *attrs,
			struct gnl_refusal *refusal)
{
	struct nlmsgerr *err = nlmsg_data(hdr);
	size_t len = nlmsg_datalen(hdr);
	size_t used = sizeof(int);
	int error = 0;

	if (len >= sizeof(int))
		error = *(int *)nlmsg_data(hdr);
	if (error >= 0)
		return 0;
	if (error < -ERRNO_MAX)
		error = -EPROTO;
	if (hdr->nlmsg_type == NLMSG_ERROR) {
		used = sizeof(*err);
		if (!(hdr->nlmsg_flags & NLM_F_CAPPED) && len >= used)
			used = sizeof(int) + NLMSG_ALIGN(err->msg.nlmsg_len);
	}
	if (!(hdr->nlmsg_flags & NLM_F_ACK_TLVS) || used > len)
		used = len;
	read_refusal(refusal, -error, (struct nlattr *)((char *)nlmsg_data(hdr) + used),
		     len - used, msg, attrs);
	return error;
}

static int fail_locally(struct gnl_refusal *refusal, int error, const char *doing, const char *why)
{
	refusal->error = error;
	snprintf(refusal->text, sizeof(refusal->text), "%s: %s", doing, why);
	return -error;
}

/*
 * Send a request to a family that is there and read its answer to the end; reply() is called for
 * each message of it. Does not free the message, which can be sent again. Returns 0, or -errno with
 * the refusal filled in; -EINTR when a dump was disturbed by a change and has to be taken again.
 */
int gnl_talk(enum family family, struct nl_msg *msg, const struct attr *attrs, gnl_reply_fn reply,
	    void *arg, struct gnl_refusal *refusal)
{
	static const char reading[] = "cannot read the kernel's answer";
	struct nlmsghdr *hdr = nlmsg_hdr(msg);
	bool disturbed = false;
	struct sockaddr_nl from;
	unsigned char *buffer;
	uint32_t seq;
	int len, err;

	hdr->nlmsg_type = families[family].id;
	hdr->nlmsg_seq = NL_AUTO_SEQ;
	err = nl_send_auto(requests, msg);
	if (err < 0)
		return fail_locally(refusal, EIO, "cannot send a netlink request",
				    nl_geterror(err));
	seq = hdr->nlmsg_seq;

	for (;;) {
		len = nl_recv(requests, &from, &buffer, NULL);
		if (len <= 0)
			return fail_locally(refusal, EIO, reading,
					    len ? nl_geterror(len) : "nothing there");
		for (hdr = (struct nlmsghdr *)buffer; nlmsg_ok(hdr, len);
		     hdr = nlmsg_next(hdr, &len)) {
			if (hdr->nlmsg_seq != seq)
				continue;
			disturbed |= hdr->nlmsg_flags & NLM_F_DUMP_INTR;
			if (hdr->nlmsg_type == NLMSG_ERROR || hdr->nlmsg_type == NLMSG_DONE) {
				err = read_verdict(hdr, msg, attrs, refusal);
				free(buffer);
				if (!err && disturbed)
					return fail_locally(refusal, EINTR, reading,
							    "there are changes all the time");
				return err;
			}
			if (reply && genlmsg_valid_hdr(hdr, 0))
				reply(genlmsg_hdr(hdr)->cmd, genlmsg_attrdata(genlmsg_hdr(hdr), 0),
				      genlmsg_attrlen(genlmsg_hdr(hdr), 0), arg);
		}
		free(buffer);
	}
}

/* Send a request that is not a dump, tell the user if it is refused, free the message. */
enum status gnl_do(enum family family, struct nl_msg *msg, const struct attr *attrs,
		  gnl_reply_fn reply, void *arg)
{
	struct gnl_refusal refusal;
	int err = gnl_talk(family, msg, attrs, reply, arg, &refusal);

	nlmsg_free(msg);
	return err ? refuse("%s", refusal.text) : DONE;
}

static enum status open_events(void)
{
	if (events)
		return DONE;
	events = open_socket();
	if (!events)
		return refuse("cannot open a netlink socket: %s", strerror(errno));
	nl_socket_set_buffer_size(events, EVENT_BUFFER, 0);
	nl_socket_set_nonblocking(events);
	return DONE;
}

/* Events of the family are kept for gnl_events_next() from now on. */
enum status gnl_events_join(enum family family)
{
	enum status status = open_events();
	int group, err;

	if (status || families[family].joined)
		return status;
	group = genl_ctrl_resolve_grp(requests, families[family].name, families[family].group);
	err = group < 0 ? group : nl_socket_add_membership(events, group);
	if (err < 0)
		return refuse("cannot receive events of %s: %s", families[family].name,
			      nl_geterror(err));
	families[family].joined = true;
	return DONE;
}

/* Join every family that is there, and forget those that have gone. */
static void follow_families(void)
{
	int family;

	for (family = 0; family < FAMILIES; family++) {
		families[family].id = 0;
		if (!gnl_has_family(family))
			families[family].joined = false;
		else if (!families[family].joined)
			gnl_events_join(family);
	}
}

/* For whoever listens without end: families may come and go meanwhile. */
void gnl_events_watch_families(void)
{
	int group = genl_ctrl_resolve_grp(requests, "nlctrl", "notify");

	if (open_events() == DONE && group >= 0)
		nl_socket_add_membership(events, group);
	follow_families();
}

static bool deliver(struct nlmsghdr *hdr, gnl_event_fn event, void *arg)
{
	struct genlmsghdr *genl;
	int family;

	if (!genlmsg_valid_hdr(hdr, 0))
		return true;
	if (hdr->nlmsg_type == GENL_ID_CTRL) {
		follow_families();
		return true;
	}
	genl = genlmsg_hdr(hdr);
	for (family = 0; family < FAMILIES; family++)
		if (families[family].id == hdr->nlmsg_type)
			return event(family, genl->cmd, genlmsg_attrdata(genl, 0),
				     genlmsg_attrlen(genl, 0), arg);
	return true;
}

/*
 * Wait until events come, timeout_ms at most (-1: for ever), and hand them to event() until it
 * returns false. Returns 0, -ETIME, or -ENOBUFS when events were lost.
 */
int gnl_events_next(gnl_event_fn event, void *arg, int timeout_ms)
{
	struct pollfd pfd = { .fd = nl_socket_get_fd(events), .events = POLLIN };
	struct sockaddr_nl from;
	unsigned char *buffer;
	struct nlmsghdr *hdr;
	bool more = true;
	int len;

	len = poll(&pfd, 1, timeout_ms);
	if (!len)
		return -ETIME;
	if (len < 0)
		return errno == EINTR ? 0 : -errno;
	errno = 0;
	len = nl_recv(events, &from, &buffer, NULL);
	if (len == -NLE_AGAIN || len == 0)
		return 0;
	if (len < 0)
		return -ENOBUFS;
	for (hdr = (struct nlmsghdr *)buffer; more && nlmsg_ok(hdr, len);
	     hdr = nlmsg_next(hdr, &len))
		more = deliver(hdr, event, arg);
	free(buffer);
	return 0;
}
