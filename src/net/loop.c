/* SPDX-License-Identifier: Apache-2.0 */
/* loop.c - the network thread of a node. */
#include <net/node.h>

#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int gn__network_fail(struct gn_net *net, uint32_t peer, const struct gn_error *error)
{
	if (!net->failed) {
		net->failure = *error;
		simt_store_release_dev_u32(&net->failed, 1);
	}
	return gn__net_fail(&net->host, error->code, peer, GN__MESSAGE_NONE);
}

static void rest(const struct gn_net *net, uint32_t idle)
{
	const struct timespec little = {0, GN_RULE_SLEEP_NS};

	if (idle < GN_RULE_LOOKS)
		return;
	if (net->now - net->moved_ns < GN_RULE_AWAKE_NS)
		sched_yield();
	else
		nanosleep(&little, NULL);
}

/* One look at everything. Returns how many messages moved. */
static uint32_t turn(struct gn_net *net, uint32_t idle)
{
	uint32_t moved;

	net->now = simt_clock_ns();
	if (simt_unlikely(net->transport->error.code))
		gn__network_fail(net, net->route.node, &net->transport->error);
	moved = gn__receive(net);
	moved += gn__drain(net);
	gn__quiet_go_on(net);
	gn__flush(net, 0, !moved && idle);
	net->moved_ns = moved ? net->now : net->moved_ns;
	gn__count(&net->statistics.turns, 1);
	gn__count(&net->statistics.idle_turns, !moved);
	return moved;
}

/* Everything that this node has sent has gone, and all nodes are at this point. */
static int may_leave(struct gn_net *net, uint64_t *deadline)
{
	if (!simt_load_acquire_dev_u32(&net->stop))
		return 0;
	if (!*deadline)
		*deadline = net->now + net->options.timeout_ns;
	if (!gn__tell_end(net))
		return net->now > *deadline;
	gn__flush(net, 1, 0);
	return net->now > *deadline || (gn__is_drained(net) && !gn__collect(net) && !net->oldest &&
	                                net->transport->ops->leave(net->transport));
}

/* What the system calls sched_getattr and sched_setattr take; not every C library has it. */
struct scheduling {
	uint32_t bytes, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t slice_ns, deadline, period;
};

/*
 * How long this thread may compute before others have a turn. Linux from 6.12 on lets a thread that wakes
 * interrupt one whose slice is longer; elsewhere nothing changes. Returns what it was, or 0 where it stays as
 * it is.
 */
static uint64_t set_slice(uint64_t ns)
{
	struct scheduling s;
	uint64_t before;

	memset(&s, 0, sizeof s);
	if (syscall(SYS_sched_getattr, 0, &s, sizeof s, 0) || s.policy != SCHED_OTHER)
		return 0;
	before = s.slice_ns;
	s.slice_ns = ns;
	return syscall(SYS_sched_setattr, 0, &s, 0) ? 0 : before;
}

int gn__network(struct gn_net *net)
{
	uint64_t deadline = 0, slice_ns;
	uint32_t idle = 0;

	net->now = simt_clock_ns();
	if (net->device)
		gn__device_start(net);
	/* threads that wait for messages may be more than there are processors */
	slice_ns = set_slice(GN_RULE_SLICE_NS);
	while (!may_leave(net, &deadline)) {
		idle = turn(net, idle) ? 0 : idle + 1;
		if (idle)
			gn__collect(net);
		rest(net, idle);
	}
	if (slice_ns)
		set_slice(slice_ns);
	if (net->device)
		gn__device_stop(net);
	return net->now > deadline ? -GN_ETIMEDOUT : 0;
}
