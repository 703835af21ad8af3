/* SPDX-License-Identifier: Apache-2.0 */
#include <store/rdma/lend.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { ENTRIES = 8192 };

static int refuse(const struct gn_lender *l, const char *what, struct gn_error *error)
{
	return gn_error_set(error, -GN_EIO, "the RDMA device %s gives no %s: %s",
	                    ibv_get_device_name(l->verbs->device), what, strerror(errno));
}

static int register_region(struct gn_lender *l, unsigned k, struct gn_export *x, struct gn_error *error)
{
	const int access = x->read_only
	                       ? IBV_ACCESS_REMOTE_READ
	                       : IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE;

	l->region[k] = ibv_reg_mr(l->pd, x->region.memory, x->bytes, access);
	return l->region[k]
	           ? 0
	           : gn_error_set(error, -GN_ENOMEM,
	                          "%s: %llu bytes cannot be registered with the RDMA device %s: %s; raise "
	                          "ulimit -l (root has no such limit), or export less",
	                          x->name, (unsigned long long)x->bytes,
	                          ibv_get_device_name(l->verbs->device), strerror(errno));
}

static int make_cq(struct gn_lender *l, struct gn_error *error)
{
	struct ibv_device_attr attributes;
	int entries = ENTRIES;

	if (!ibv_query_device(l->verbs, &attributes) && attributes.max_cqe < entries)
		entries = attributes.max_cqe;
	l->channel = ibv_create_comp_channel(l->verbs);
	if (!l->channel)
		return refuse(l, "completion channel", error);
	fcntl(l->channel->fd, F_SETFL, fcntl(l->channel->fd, F_GETFL) | O_NONBLOCK);
	l->cq = ibv_create_cq(l->verbs, entries, NULL, l->channel, 0);
	return !l->cq || ibv_req_notify_cq(l->cq, 0) ? refuse(l, "completion queue", error) : 0;
}

int gn_lender_open(struct gn_lender *lender, struct ibv_context *verbs, struct gn_export *export_,
                   unsigned count, char *notes, size_t bytes, struct gn_error *error)
{
	int rc;

	memset(lender, 0, sizeof *lender);
	lender->verbs = verbs;
	lender->pd = ibv_alloc_pd(verbs);
	rc = lender->pd ? make_cq(lender, error) : refuse(lender, "protection domain", error);
	if (!rc) {
		lender->notes = ibv_reg_mr(lender->pd, notes, bytes, IBV_ACCESS_LOCAL_WRITE);
		rc = lender->notes ? 0 : refuse(lender, "registered memory", error);
	}
	for (unsigned k = 0; k < count && !rc; k++)
		rc = register_region(lender, k, &export_[k], error);
	if (rc)
		gn_lender_close(lender);
	return rc;
}

void gn_lender_close(struct gn_lender *lender)
{
	for (unsigned k = 0; k < GN_SERVER_EXPORTS; k++)
		if (lender->region[k])
			ibv_dereg_mr(lender->region[k]);
	if (lender->notes)
		ibv_dereg_mr(lender->notes);
	if (lender->cq)
		ibv_destroy_cq(lender->cq);
	if (lender->channel)
		ibv_destroy_comp_channel(lender->channel);
	if (lender->pd)
		ibv_dealloc_pd(lender->pd);
	memset(lender, 0, sizeof *lender);
}
