/* SPDX-License-Identifier: Apache-2.0 */
/* The connections of a server: which are accepted, and how they end. */
#include <store/rdma/lend.h>

#include <stdio.h>
#include <string.h>

enum { BLOCK = 512 };

static void refuse(struct rdma_cm_id *id, const char *text)
{
	uint8_t data[GN_HELLO_REFUSAL_BYTES];

	gn_hello_put_refusal(data, text);
	rdma_reject(id, data, sizeof data);
	rdma_destroy_id(id);
}

static int find_export(const struct gn_server *s, const char *name)
{
	for (unsigned k = 0; k < s->exports; k++)
		if (!strcmp(s->export_[k].name, name))
			return (int)k;
	return -1;
}

static void refuse_name(const struct gn_server *s, struct rdma_cm_id *id, const char *name)
{
	char text[GN_HELLO_TEXT + 1];
	size_t used = (size_t)snprintf(text, sizeof text, "it has no region %s; it has: ", name);

	for (unsigned k = 0; k < s->exports && used < sizeof text; k++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", k ? ", " : "",
		                         s->export_[k].name);
	refuse(id, text);
}

/* A device that came after the server was started has no regions registered: those take long. */
static struct gn_lender *find_lender(struct gn_server *s, const struct ibv_context *verbs)
{
	for (unsigned k = 0; k < s->lenders; k++)
		if (s->lender[k].verbs == verbs)
			return &s->lender[k];
	return NULL;
}

/* A free place, or that of the connection which this one replaces. */
static struct gn_connection *find_place(struct gn_server *s, const struct gn_hello_request *request)
{
	struct gn_connection *place = NULL;

	for (unsigned k = 0; k < GN_SERVER_CONNECTIONS; k++) {
		struct gn_connection *c = &s->connection[k];

		if (c->id && c->session == request->session && c->index == request->index) {
			gn_server_drop(s, c);
			return c;
		}
		if (!c->id && !place)
			place = c;
	}
	return place;
}

/* A connection may have so many completions in the queue at once: notes that arrive, and what is being sent.
 */
static int completions(unsigned flags)
{
	return flags & GN_HELLO_CONTROL ? GN_LEND_NOTES + 1 : 1;
}

static int has_room(const struct gn_server *s, const struct gn_lender *l, unsigned flags)
{
	int used = completions(flags);

	for (unsigned k = 0; k < GN_SERVER_CONNECTIONS; k++)
		if (s->connection[k].id && s->connection[k].lender == l)
			used += completions(s->connection[k].flags);
	return used <= l->cq->cqe;
}

static int make_queue_pair(struct gn_server *s, struct gn_connection *c)
{
	const uint32_t notes = c->flags & GN_HELLO_CONTROL ? (uint32_t)GN_LEND_NOTES : 1;
	struct ibv_qp_init_attr a;

	memset(&a, 0, sizeof a);
	a.send_cq = a.recv_cq = c->lender->cq;
	a.cap.max_send_wr = a.cap.max_recv_wr = notes;
	a.cap.max_send_sge = a.cap.max_recv_sge = 1;
	a.qp_type = IBV_QPT_RC;
	if (rdma_create_qp(c->id, c->lender->pd, &a))
		return -GN_EIO;
	return c->flags & GN_HELLO_CONTROL ? gn_server_post_receives(s, c) : 0;
}

static int answer(struct gn_server *s, struct gn_connection *c)
{
	const struct gn_export *x = &s->export_[c->export_];
	uint8_t data[GN_HELLO_ANSWER_BYTES];
	struct gn_hello_answer a;
	struct rdma_conn_param param;

	memset(&a, 0, sizeof a);
	a.address = (uint64_t)(uintptr_t)x->region.memory;
	a.bytes = x->bytes;
	a.instance = x->instance;
	a.key = c->lender->region[c->export_]->rkey;
	a.block = BLOCK;
	a.flags = (uint16_t)((x->read_only ? GN_HELLO_READ_ONLY : 0) | (x->path ? GN_HELLO_FILE : 0));
	gn_hello_put_answer(data, &a);
	memset(&param, 0, sizeof param);
	param.private_data = data;
	param.private_data_len = sizeof data;
	param.responder_resources = RDMA_MAX_RESP_RES;
	param.initiator_depth = RDMA_MAX_INIT_DEPTH;
	param.rnr_retry_count = 7;
	return rdma_accept(c->id, &param) ? -GN_EIO : 0;
}

static void take(struct gn_server *s, struct gn_connection *c, struct rdma_cm_id *id,
                 const struct gn_hello_request *request, struct gn_lender *lender, unsigned export_)
{
	c->id = id;
	c->lender = lender;
	c->export_ = export_;
	c->session = request->session;
	c->index = request->index;
	c->flags = request->flags;
	c->flush = GN_FLUSH_NONE;
	c->established = c->dead = 0;
	c->sending = 0;
	id->context = c;
	if (!make_queue_pair(s, c) && !answer(s, c))
		return;
	if (id->qp)
		rdma_destroy_qp(id);
	c->id = NULL;
	c->generation++;
	refuse(id, "its RDMA device gives no more queue pairs");
}

void gn_server_request(struct gn_server *s, struct rdma_cm_id *id, const struct gn_hello_request *request,
                       int hello)
{
	struct gn_lender *lender = find_lender(s, id->verbs);
	struct gn_connection *place;
	int export_;

	if (hello) {
		refuse(id, "it speaks another version of Grapnel; run the same version on both sides");
		return;
	}
	if (s->ending) {
		refuse(id, "it is ending");
		return;
	}
	export_ = find_export(s, request->name);
	if (export_ < 0) {
		refuse_name(s, id, request->name);
		return;
	}
	place = lender ? find_place(s, request) : NULL;
	if (place && has_room(s, lender, request->flags))
		take(s, place, id, request, lender, (unsigned)export_);
	else
		refuse(id,
		       lender
		           ? "it has no room for more connections"
		           : "it does not lend through this RDMA device; see what it said when it started");
}

void gn_server_drop(struct gn_server *s, struct gn_connection *c)
{
	(void)s;
	rdma_disconnect(c->id);
	rdma_destroy_qp(c->id);
	rdma_destroy_id(c->id);
	c->id = NULL;
	c->flush = GN_FLUSH_NONE;
	c->generation++;
}
