/* SPDX-License-Identifier: Apache-2.0 */
/* loop.c - the network thread of a node. */
#include <net/node.h>

#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int gn__network_late(struct gn_net *net, uint32_t peer, const struct gn_error *error)
{
	if (!net->failed) {
		net->failure = *error;
		simt_store_release_dev_u32(&net->failed, 1);
	}
	return gn__net_fail(&net->host, error->code, peer, GN__MESSAGE_NONE);
}

int gn__network_fail(struct gn_net *net, uint32_t peer, const struct gn_error *error)
{
	gn__network_late(net, peer, error);
	if (!net->fault->ended)
		simt_store_release_sys_u32(&net->fault->ended, (uint32_t)error->code); /* R6 */
	return error->code;
}

static void rest(const struct gn_net *net, uint32_t idle)
{
	const struct timespec little = {0, GN_RULE_SLEEP_NS};

	if (idle < GN_RULE_LOOKS)
		return;
	if (net->now - net->moved_ns < GN_RULE_AWAKE_NS)
		simt_relax();
	else
		nanosleep(&little, NULL);
}

/* One round of all work. Returns the number of messages that moved. */
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

/* Has all that this node has sent left, and are all nodes at this point? */
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

/* The argument of the system calls sched_getattr and sched_setattr; not every C library declares it. */
struct scheduling {
	uint32_t bytes, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t slice_ns, deadline, period;
};

/*
 * Set the scheduler slice of this thread: how long it may run before other threads have a turn. From
 * Linux 6.12 on a thread that wakes interrupts a thread with a longer slice; other systems change nothing.
 * Returns the slice before, or 0 if it was not changed.
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
	simt_store_release_dev_u32(&net->begun, 1);
	/* there may be more threads that wait for messages than processors */
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
