/* SPDX-License-Identifier: Apache-2.0 */
#include <store/rdma/direct_mlx5.h>

#include <string.h>

#include <infiniband/mlx5dv.h>

#include <simt/machine.h>

enum { PAGE = 4096, DOORBELL_BYTES = 8, RECORDS_BYTES = 8 };

/* direct.h writes and reads these by their numbers. */
GN__STATIC_ASSERT((int)GN_MLX5_RDMA_READ == (int)MLX5_OPCODE_RDMA_READ, "opcode of a read");
GN__STATIC_ASSERT((int)GN_MLX5_RDMA_WRITE == (int)MLX5_OPCODE_RDMA_WRITE, "opcode of a write");
GN__STATIC_ASSERT(MLX5_WQE_CTRL_CQ_UPDATE == 8 && offsetof(struct mlx5_wqe_ctrl_seg, fm_ce_se) == 11,
                  "an entry asks for a completion by byte 11");
GN__STATIC_ASSERT(sizeof(struct mlx5_cqe64) == GN_MLX5_ENTRY && offsetof(struct mlx5_cqe64, op_own) == 63,
                  "opcode and owner are the last byte of a completion");
GN__STATIC_ASSERT(offsetof(struct mlx5_err_cqe, syndrome) == 55, "the syndrome is byte 55");
GN__STATIC_ASSERT(MLX5_CQE_REQ == 0 && MLX5_CQE_INVALID == 15, "opcodes of completions");

static int refuse(const char *what, struct gn_error *error)
{
	return gn_error_set(error, -GN_ENOTSUP,
	                    "rdma: kernels cannot post to this device: %s; let threads of the host post",
	                    what);
}

/* ---- what the machine reaches ---- */

/* Let the machine reach these bytes. Returns the address for it, or NULL. */
static char *reach(struct gn_direct_queue *q, void *memory, size_t bytes, int registers,
                   struct gn_error *error)
{
	const uintptr_t first = (uintptr_t)memory & ~(uintptr_t)(PAGE - 1);
	const size_t whole = ((uintptr_t)memory + bytes - first + PAGE - 1) & ~(size_t)(PAGE - 1);
	struct gn_direct_map *m = q->map;

	for (unsigned k = 0; k < q->maps; k++, m++)
		if ((uintptr_t)m->memory <= first && first + whole <= (uintptr_t)m->memory + m->bytes)
			return (char *)m->device + ((uintptr_t)memory - (uintptr_t)m->memory);
	m->memory = (void *)first;
	m->bytes = whole;
	if (registers ? simt__register_registers(q->machine, m->memory, whole, &m->device, error)
	              : simt_register(q->machine, m->memory, whole, &m->device, error))
		return NULL;
	q->maps++;
	return (char *)m->device + ((uintptr_t)memory - first);
}

static int reach_rings(struct gn_direct_queue *q, const struct mlx5dv_qp *qp, const struct mlx5dv_cq *cq,
                       struct gn_error *error)
{
	struct gn_direct *d = &q->view;
	char *records, *doorbell, *cq_record;

	d->sq = (uint8_t *)reach(q, qp->sq.buf, (size_t)qp->sq.wqe_cnt * GN_MLX5_ENTRY, 0, error);
	d->cq = d->sq ? (uint8_t *)reach(q, cq->buf, (size_t)cq->cqe_cnt * GN_MLX5_ENTRY, 0, error) : NULL;
	records = d->cq ? reach(q, qp->dbrec, RECORDS_BYTES, 0, error) : NULL;
	cq_record = records ? reach(q, cq->dbrec, RECORDS_BYTES, 0, error) : NULL;
	doorbell = cq_record ? reach(q, qp->bf.reg, DOORBELL_BYTES, 1, error) : NULL;
	if (!doorbell)
		return -GN_ENOMEM;
	d->sq_record = (uint32_t *)(void *)records + MLX5_SND_DBR;
	d->cq_record = (uint32_t *)(void *)cq_record;
	d->doorbell = (uint64_t *)(void *)doorbell;
	return 0;
}

/* ---- open, close ---- */

static uint32_t log2_of(uint32_t power)
{
	uint32_t n = 0;

	while (1u << n < power)
		n++;
	return n;
}

static int check_rings(const struct mlx5dv_qp *qp, const struct mlx5dv_cq *cq, struct gn_error *error)
{
	if (qp->sq.stride != GN_MLX5_ENTRY || cq->cqe_size != GN_MLX5_ENTRY)
		return refuse("its entries do not have 64 bytes", error);
	if (!qp->sq.wqe_cnt || qp->sq.wqe_cnt & (qp->sq.wqe_cnt - 1) || cq->cqe_cnt & (cq->cqe_cnt - 1) ||
	    cq->cqe_cnt < qp->sq.wqe_cnt)
		return refuse("its completion queue has not a place for each entry", error);
	return 0;
}

static int make_state(struct gn_direct_queue *q, struct gn_error *error)
{
	struct gn_direct *d = &q->view;

	d->state = (struct gn_direct_state *)simt_alloc(q->machine, sizeof *d->state, SIMT_DEVICE, error);
	d->place = (struct gn_direct_place *)simt_alloc(q->machine, sizeof *d->place << d->sq_log2,
	                                                SIMT_DEVICE, error);
	return d->state && d->place ? 0 : gn_error_set(error, -GN_ENOMEM, "rdma: out of device memory");
}

int gn_direct_open(struct gn_direct_queue *queue, struct simt_machine *machine, struct ibv_qp *qp,
                   struct ibv_cq *cq, struct gn_error *error)
{
	struct mlx5dv_obj object;
	struct mlx5dv_qp rings;
	struct mlx5dv_cq completions;
	int rc;

	memset(queue, 0, sizeof *queue);
	memset(&object, 0, sizeof object);
	memset(&rings, 0, sizeof rings);
	memset(&completions, 0, sizeof completions);
	queue->machine = machine;
	if (!mlx5dv_is_supported(qp->context->device))
		return refuse("it is not one of mlx5", error);
	object.qp.in = qp;
	object.qp.out = &rings;
	object.cq.in = cq;
	object.cq.out = &completions;
	if (mlx5dv_init_obj(&object, MLX5DV_OBJ_QP | MLX5DV_OBJ_CQ))
		return refuse("it does not tell where its rings are", error);
	rc = check_rings(&rings, &completions, error);
	if (rc)
		return rc;
	queue->view.qpn = qp->qp_num;
	queue->view.sq_log2 = log2_of(rings.sq.wqe_cnt);
	queue->view.cq_log2 = log2_of(completions.cqe_cnt);
	rc = make_state(queue, error);
	return rc ? rc : reach_rings(queue, &rings, &completions, error);
}

void gn_direct_close(struct gn_direct_queue *queue)
{
	for (unsigned k = 0; k < queue->maps; k++)
		simt_unregister(queue->machine, queue->map[k].memory, queue->map[k].bytes);
	simt_free(queue->machine, queue->view.state);
	simt_free(queue->machine, queue->view.place);
	memset(queue, 0, sizeof *queue);
}
