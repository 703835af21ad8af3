/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi.c - the transport of nodes that are processes of an MPI program. It is a library of its own,
 * grapnel-mpi.
 *
 * It uses two-sided messages only: a packet is one message, and its class is the tag. A few receives of each
 * class are open. They are tested in the order in which they were posted, which is the order in which each
 * sender sent (MPI 3.1 section 3.5). The thread that called gn_net_run makes all calls, so
 * MPI_THREAD_FUNNELED is enough.
 */
#include <net/rule.h>
#include <net/transport.h>

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define OMPI_SKIP_MPICXX 1 /* use the C interface also if this is compiled as C++ */
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

enum { OPEN = GN_RULE_RECEIVES };

struct receive {
	struct gn_parcel parcel; /* first */
	MPI_Request request;
};

/*
 * The receives of a class. Those from `oldest` on are open, in the order of posting; the packets of the
 * others are being applied.
 */
struct arrivals {
	struct receive receive[OPEN];
	struct receive *open[OPEN];
	uint32_t oldest, count;
};

struct mpi {
	struct gn_transport transport; /* first */
	MPI_Comm comm;
	MPI_Request leaving;
	/* packets that were sent and released: of this node; of all, in the last two waves that ended */
	uint64_t own[2], all[2], before[2], sent, released;
	int leaves, ends_mpi;
	uint64_t timeout_ns;
	struct arrivals arrivals[GN_PACKET_CLASSES];
};

/* What nodes tell each other first. */
struct introduction {
	uint64_t session, host, heap_bytes, columns, data_bytes, route;
};

/* ---- failures ---- */

/* Check a return code of MPI. Returns 0, or -GN_EIO with MPI's message. */
static int check(struct gn_error *error, int code, const char *what)
{
	char words[MPI_MAX_ERROR_STRING] = "";
	int length;

	if (code == MPI_SUCCESS)
		return 0;
	MPI_Error_string(code, words, &length);
	return gn_error_set(error, -GN_EIO, "%s: %s", what, words);
}

/* check for an open transport, which keeps the first failure. */
static int check_open(struct mpi *m, int code, const char *what)
{
	return check(m->transport.error.code ? NULL : &m->transport.error, code, what);
}

/* ---- packets ---- */

GN__STATIC_ASSERT(sizeof(MPI_Request) <= sizeof(void *),
                  "a request fits where a parcel keeps what carries it");

/*
 * A synchronous send is over when the receiver has begun to receive the packet. So a node that is slow to
 * receive has at most the packets of its senders' pools to come; MPI does not take in more on its behalf.
 */
static int mpi_send(struct gn_transport *t, struct gn_parcel *parcel)
{
	struct mpi *m = (struct mpi *)t;
	MPI_Request request;
	const int rc = check_open(m,
	                          MPI_Issend(parcel->packet, (int)gn_packet_bytes(parcel->packet), MPI_BYTE,
	                                     (int)parcel->peer, (int)parcel->class_, m->comm, &request),
	                          "MPI_Issend");

	m->sent += !rc;
	if (!rc)
		memcpy(&parcel->carrier, &request, sizeof request);
	return rc;
}

static int mpi_sent(struct gn_transport *t, struct gn_parcel *parcel)
{
	MPI_Request request;
	int done = 0;
	int rc;

	memcpy(&request, &parcel->carrier, sizeof request);
	rc = check_open((struct mpi *)t, MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test of a send");
	memcpy(&parcel->carrier, &request, sizeof request);
	return rc || done; /* a request that failed is also over */
}

static int receive_post(struct mpi *m, struct arrivals *a, struct receive *r, uint32_t class_)
{
	const int rc = check_open(m,
	                          MPI_Irecv(r->parcel.packet, GN_PACKET_BYTES, MPI_BYTE, MPI_ANY_SOURCE,
	                                    (int)class_, m->comm, &r->request),
	                          "MPI_Irecv");

	if (!rc)
		a->open[(a->oldest + a->count++) % OPEN] = r;
	return rc;
}

static struct gn_parcel *mpi_receive(struct gn_transport *t, uint32_t class_)
{
	struct mpi *m = (struct mpi *)t;
	struct arrivals *a = &m->arrivals[class_];
	struct receive *r = a->open[a->oldest];
	MPI_Status status;
	int done = 0, bytes = 0, rc;

	if (!a->count)
		return NULL;
	rc = check_open(m, MPI_Test(&r->request, &done, &status), "MPI_Test of a receive");
	if (!rc && !done)
		return NULL;
	a->oldest = (a->oldest + 1) % OPEN;
	a->count--;
	if (rc || check_open(m, MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count"))
		return NULL;
	r->parcel.class_ = class_;
	r->parcel.peer = (uint32_t)status.MPI_SOURCE;
	r->parcel.bytes = (uint64_t)bytes;
	return &r->parcel;
}

static void mpi_release(struct gn_transport *t, struct gn_parcel *parcel)
{
	struct mpi *m = (struct mpi *)t;

	m->released++;
	receive_post(m, &m->arrivals[parcel->class_], (struct receive *)parcel, parcel->class_);
}

/* ---- the end ---- */

/* Begin a wave: add up the counts of all nodes, each as it is when the node has nothing to send. */
static int wave_begins(struct mpi *m)
{
	m->own[0] = m->sent;
	m->own[1] = m->released;
	memcpy(m->before, m->all, sizeof m->before);
	return check_open(m, MPI_Iallreduce(m->own, m->all, 2, MPI_UINT64_T, MPI_SUM, m->comm, &m->leaving),
	                  "MPI_Iallreduce");
}

/*
 * A packet that is sent may not have been released, and then its receiver may send others, also for a node
 * that has nothing to send. Nothing is under way any more when as many packets were sent by the end of a wave
 * as were released by the end of the wave before (Mattern, Algorithms for distributed termination detection,
 * Distributed Computing 2, 1987, section 4: the four counter method). All nodes see the same sums.
 */
static int mpi_leave(struct gn_transport *t)
{
	struct mpi *m = (struct mpi *)t;
	int done = 0;

	if (!m->leaves && !t->error.code) {
		m->leaves = t->keeps = 1;
		m->all[0] = m->all[1] = UINT64_MAX; /* there was no wave before the first */
		wave_begins(m);
	}
	if (t->error.code ||
	    check_open(m, MPI_Test(&m->leaving, &done, MPI_STATUS_IGNORE), "MPI_Test of a sum") || !done)
		return 0;
	if (m->all[0] != m->before[1]) {
		wave_begins(m);
		return 0;
	}
	t->keeps = 0;
	return 1;
}

static void arrivals_close(struct arrivals *a)
{
	for (; a->count; a->count--, a->oldest = (a->oldest + 1) % OPEN) {
		MPI_Cancel(&a->open[a->oldest]->request);
		MPI_Wait(&a->open[a->oldest]->request, MPI_STATUS_IGNORE);
	}
	for (uint32_t k = 0; k < OPEN; k++)
		free(a->receive[k].parcel.packet);
}

static void mpi_close(struct gn_transport *t)
{
	struct mpi *m = (struct mpi *)t;

	/*
	 * A node is missing: MPI would wait for it, and may still write to the buffers of open receives. So
	 * nothing is freed.
	 */
	if (t->keeps)
		return;
	for (uint32_t k = 0; k < GN_PACKET_CLASSES; k++)
		arrivals_close(&m->arrivals[k]);
	MPI_Comm_free(&m->comm);
	if (m->ends_mpi)
		MPI_Finalize();
	free(m);
}

/* ---- the beginning ---- */

/* Initialise MPI, unless the program has. @ours  receives 1 if MPI is initialised here */
static int begin(int *ours, struct gn_error *error)
{
	static int was_ours;
	int begun = 0, over = 0, level = MPI_THREAD_SINGLE, is_main = 1, rc;

	MPI_Initialized(&begun);
	MPI_Finalized(&over);
	if (over || was_ours)
		return gn_error_set(error, -GN_ENOTSUP,
		                    "gn_net_run cannot initialise MPI a second time in one process; to call "
		                    "gn_net_run several times, call MPI_Init_thread with MPI_THREAD_FUNNELED "
		                    "before the first call and MPI_Finalize after the last");
	*ours = was_ours = !begun;
	if (*ours) {
		rc =
		    check(error, MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread");
		if (rc)
			return rc;
	} else {
		MPI_Query_thread(&level);
		MPI_Is_thread_main(&is_main);
	}
	if (level < MPI_THREAD_FUNNELED)
		return gn_error_set(error, -GN_ENOTSUP,
		                    "MPI was initialised with MPI_THREAD_SINGLE; initialise it with "
		                    "MPI_Init_thread and MPI_THREAD_FUNNELED");
	if (!is_main)
		return gn_error_set(error, -GN_EINVAL,
		                    "gn_net_run was called by another thread than the one that initialised "
		                    "MPI; call it from that thread");
	return 0;
}

/* Wait for a collective request of all nodes. */
static int together(MPI_Request *request, const char *what, uint64_t timeout_ns, struct gn_error *error)
{
	const uint64_t deadline = simt_clock_ns() + timeout_ns;
	int done = 0, rc = 0;

	while (!rc && !done) {
		rc = check(error, MPI_Test(request, &done, MPI_STATUS_IGNORE), what);
		if (!rc && !done && simt_clock_ns() > deadline)
			rc =
			    gn_error_set(error, -GN_ETIMEDOUT,
			                 "not all nodes called gn_net_run within %llu ms; every process must "
			                 "call it",
			                 (unsigned long long)(timeout_ns / 1000000));
		simt_relax();
	}
	return rc;
}

/* Make a communicator of the transport's own, which returns errors also if the program's do not. */
static int duplicate(struct mpi *m, struct gn_error *error)
{
	MPI_Errhandler before;
	MPI_Request request;
	int rc;

	MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	rc = check(error, MPI_Comm_idup(MPI_COMM_WORLD, &m->comm, &request), "MPI_Comm_idup");
	if (!rc)
		rc = together(&request, "MPI_Comm_idup", m->timeout_ns, error);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
	MPI_Errhandler_free(&before);
	return rc ? rc
	          : check(error, MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN),
	                  "MPI_Comm_set_errhandler");
}

static uint64_t host_number(void)
{
	char name[MPI_MAX_PROCESSOR_NAME] = "";
	uint64_t number = 14695981039346656037ull;
	int length = 0;

	MPI_Get_processor_name(name, &length);
	for (int k = 0; k < length; k++)
		number = (number ^ (unsigned char)name[k]) * 1099511628211ull; /* FNV-1a */
	return number;
}

/* Check the introductions of all nodes. All nodes come to the same result. */
static int agree(struct gn_transport *t, const struct introduction *of, struct gn_error *error)
{
	t->session = (uint32_t)of[0].session;
	for (uint32_t k = 0; k < t->nodes; k++) {
		t->same_host += of[k].host == of[t->node].host;
		if (of[k].heap_bytes != of[0].heap_bytes || of[k].columns != of[0].columns)
			return gn_error_set(
			    error, -GN_EINVAL,
			    "node %u has a heap of %llu bytes and %llu columns, but node 0 has a heap of "
			    "%llu bytes and %llu columns; give all nodes the same options",
			    k, (unsigned long long)of[k].heap_bytes, (unsigned long long)of[k].columns,
			    (unsigned long long)of[0].heap_bytes, (unsigned long long)of[0].columns);
		if (of[k].route != of[0].route)
			return gn_error_set(
			    error, -GN_EINVAL,
			    "node %u has another value of route than node 0; give all nodes the same options",
			    k);
		if (of[k].data_bytes != of[0].data_bytes)
			return gn_error_set(error, -GN_EINVAL,
			                    "node %u has %llu bytes of symmetric data, but node 0 has %llu "
			                    "bytes; run the same program on all nodes",
			                    k, (unsigned long long)of[k].data_bytes,
			                    (unsigned long long)of[0].data_bytes);
	}
	return 0;
}

static int mpi_gather(struct gn_transport *t, const void *own, void *all, uint32_t bytes,
                      struct gn_error *error)
{
	struct mpi *m = (struct mpi *)t;
	char *said = (char *)malloc((t->nodes + 1ull) * bytes), *heard = said + bytes;
	MPI_Request request;
	int rc;

	if (!said)
		return gn_error_set(error, -GN_ENOMEM, "out of host memory for the answers of %u nodes",
		                    t->nodes);
	memcpy(said, own, bytes);
	rc = check(error,
	           MPI_Iallgather(said, (int)bytes, MPI_BYTE, heard, (int)bytes, MPI_BYTE, m->comm, &request),
	           "MPI_Iallgather");
	if (!rc)
		rc = together(&request, "MPI_Iallgather", m->timeout_ns, error);
	if (rc)
		return rc; /* MPI may still read and write the memory */
	memcpy(all, heard, (uint64_t)t->nodes * bytes);
	free(said);
	return 0;
}

static const struct gn_transport_ops mpi_ops = {mpi_send,  mpi_sent,  mpi_receive, mpi_release,
                                                mpi_leave, mpi_close, mpi_gather};

static int introduce(struct mpi *m, const struct gn_net_options *options, struct gn_error *error)
{
	const uint64_t drawn = simt_clock_ns() | 1;
	struct introduction own = {
	    drawn, host_number(), options->heap_bytes, options->columns, options->data_bytes, options->route};
	struct introduction *all;
	int rank, size, rc;

	MPI_Comm_rank(m->comm, &rank);
	MPI_Comm_size(m->comm, &size);
	m->transport.node = (uint32_t)rank;
	m->transport.nodes = (uint32_t)size;
	all = (struct introduction *)calloc((size_t)size, sizeof *all);
	rc = all ? mpi_gather(&m->transport, &own, all, sizeof own, error)
	         : gn_error_set(error, -GN_ENOMEM, "out of host memory for the options of %d nodes", size);
	if (!rc)
		rc = agree(&m->transport, all, error);
	free(all);
	return rc;
}

static int arrivals_open(struct mpi *m, uint32_t class_, struct gn_error *error)
{
	struct arrivals *a = &m->arrivals[class_];

	for (uint32_t k = 0; k < OPEN; k++) {
		struct receive *r = &a->receive[k];

		if (posix_memalign((void **)&r->parcel.packet, 4096, sizeof *r->parcel.packet))
			return gn_error_set(error, -GN_ENOMEM, "out of host memory for incoming packets");
		if (receive_post(m, a, r, class_))
			return gn_error_set(error, m->transport.error.code, "%s", m->transport.error.text);
	}
	return 0;
}

int gn_mpi_open(struct gn_transport **transport, const struct gn_net_options *options, struct gn_error *error)
{
	struct mpi *m = (struct mpi *)calloc(1, sizeof *m);
	int rc = m ? begin(&m->ends_mpi, error)
	           : gn_error_set(error, -GN_ENOMEM, "out of host memory for the MPI transport");

	if (rc) {
		free(m);
		return rc;
	}
	m->transport.ops = &mpi_ops;
	m->transport.name = "mpi";
	m->transport.copies = 1;
	m->transport.keeps = 1;
	m->timeout_ns = options->timeout_ns;
	rc = duplicate(m, error);
	if (!rc)
		rc = introduce(m, options, error);
	for (uint32_t k = 0; !rc && k < GN_PACKET_CLASSES; k++)
		rc = arrivals_open(m, k, error);
	*transport = &m->transport;
	return rc; /* after a failure MPI may still use memory of m */
}

/* A launcher may drop what it has not read of this process's pipe when the process aborts: wait for a second
 * at most. */
static void wait_until_read(int fd)
{
	const uint64_t deadline = simt_clock_ns() + 1000000000;
	struct stat facts;
	int unread = 0;

	if (fstat(fd, &facts) || !S_ISFIFO(facts.st_mode))
		return;
	while (!ioctl(fd, FIONREAD, &unread) && unread && simt_clock_ns() < deadline)
		usleep(1000);
}

void gn_mpi_abort(int status)
{
	int begun = 0, over = 0;

	wait_until_read(STDERR_FILENO);
	MPI_Initialized(&begun);
	MPI_Finalized(&over);
	if (begun && !over)
		MPI_Abort(MPI_COMM_WORLD, status);
	_exit(status);
}
