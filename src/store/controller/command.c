/* SPDX-License-Identifier: Apache-2.0 */
#include <store/controller/command.h>

#include <string.h>

/* A range of bus addresses that the controller may access. */
struct window {
	uint64_t base, bytes;
};

static struct window buffers_of(const struct gn_nvmeq *q)
{
	struct window w = {(uint64_t)(uintptr_t)q->buffer, (uint64_t)q->depth * q->buffer_bytes};

	return w;
}

static struct window lists_of(const struct gn_nvmeq *q)
{
	struct window w = {q->prp_list_bus, (uint64_t)q->depth * (q->buffer_bytes / GN_NVME_PAGE) * 8};

	return w;
}

/* The part of the bytes left that lies in one page. */
static uint32_t page_part(uint32_t left)
{
	return left < GN_NVME_PAGE ? left : (uint32_t)GN_NVME_PAGE;
}

static int inside(struct window w, uint64_t address, uint64_t bytes)
{
	return address >= w.base && bytes <= w.bytes && address - w.base <= w.bytes - bytes;
}

uint32_t gn_command_segments(const struct gn_nvmeq *q)
{
	return q->buffer_bytes / GN_NVME_PAGE + 1;
}

/* Add a piece of memory to the segments; a piece directly behind the last segment extends it. */
static uint32_t add_segment(const struct gn_nvmeq *q, struct gn_request *r, uint64_t address, uint32_t bytes)
{
	struct iovec *last = r->segments ? &r->segment[r->segments - 1] : NULL;
	char *memory = (char *)(uintptr_t)address;

	if (!inside(buffers_of(q), address, bytes))
		return GN_NVME_DATA_TRANSFER_ERROR;
	if (last && (char *)last->iov_base + last->iov_len == memory) {
		last->iov_len += bytes;
		return GN_NVME_OK;
	}
	r->segment[r->segments].iov_base = memory;
	r->segment[r->segments++].iov_len = bytes;
	return GN_NVME_OK;
}

static uint32_t add_page(const struct gn_nvmeq *q, struct gn_request *r, uint64_t address, uint32_t left)
{
	if (address % GN_NVME_PAGE)
		return GN_NVME_INVALID_FIELD;
	return add_segment(q, r, address, page_part(left));
}

/*
 * Add the pages of a PRP list (Base Specification 2.0, 4.1.1). A list holds addresses of pages up to the end
 * of its own memory page. If more pages follow, its last entry is the address of the next list.
 */
static uint32_t walk_list(const struct gn_nvmeq *q, struct gn_request *r, uint64_t list, uint32_t left)
{
	uint32_t hops = 0;

	while (left) {
		uint64_t entry;
		uint32_t status;

		if (list % 8)
			return GN_NVME_INVALID_FIELD;
		if (!inside(lists_of(q), list, 8))
			return GN_NVME_DATA_TRANSFER_ERROR;
		memcpy(&entry, (const void *)(uintptr_t)list, sizeof entry);
		if (list % GN_NVME_PAGE == GN_NVME_PAGE - 8 && left > GN_NVME_PAGE) {
			/* Lists that point to each other's last entry would be an endless loop. */
			if (++hops > gn_command_segments(q))
				return GN_NVME_INVALID_FIELD;
			list = entry;
			continue;
		}
		status = add_page(q, r, entry, left);
		if (status)
			return status;
		left -= page_part(left);
		list += 8;
	}
	return GN_NVME_OK;
}

/* Add the memory of a command: the first page may begin at any offset, the others are whole. */
static uint32_t walk_pages(const struct gn_nvmeq *q, struct gn_request *r, const struct gn_nvme_command *c,
                           uint32_t bytes)
{
	uint32_t first = GN_NVME_PAGE - c->prp1 % GN_NVME_PAGE, left, status;

	if (c->prp1 % 4)
		return GN_NVME_INVALID_FIELD;
	if (first > bytes)
		first = bytes;
	status = add_segment(q, r, c->prp1, first);
	left = bytes - first;
	if (status || !left)
		return status;
	return left <= GN_NVME_PAGE ? add_page(q, r, c->prp2, left) : walk_list(q, r, c->prp2, left);
}

static void zero_segments(const struct gn_request *r)
{
	for (uint32_t k = r->first; k < r->segments; k++)
		memset(r->segment[k].iov_base, 0, r->segment[k].iov_len);
}

/*
 * The last block may reach past the end of the medium. Past the end a read gives zeros, and a write is
 * dropped.
 */
static void clip(const struct gn_namespace *ns, struct gn_request *r)
{
	uint64_t inside_bytes = ns->bytes - r->offset;

	if (inside_bytes >= r->bytes)
		return;
	if (r->opcode == GN_NVME_READ)
		zero_segments(r);
	gn_request_trim(r, (uint32_t)inside_bytes);
}

static uint32_t decode_transfer(const struct gn_nvmeq *q, const struct gn_namespace *ns,
                                const struct gn_nvme_command *c, struct gn_request *r)
{
	uint64_t blocks = ns->bytes / q->block_bytes + !!(ns->bytes % q->block_bytes);
	uint32_t count = (c->cdw12 & 0xffff) + 1, status;

	/*
	 * Not supported: force unit access, protection information, directives. Bit 31 only limits retries.
	 */
	if (c->cdw12 & 0x7fff0000 || (uint64_t)count * q->block_bytes > q->buffer_bytes)
		return GN_NVME_INVALID_FIELD;
	if (c->lba >= blocks || count > blocks - c->lba)
		return GN_NVME_LBA_OUT_OF_RANGE;
	if (c->opcode == GN_NVME_WRITE && ns->read_only)
		return GN_NVME_NAMESPACE_WRITE_PROTECTED;
	r->offset = c->lba * q->block_bytes;
	r->bytes = r->moved_bytes = count * q->block_bytes;
	status = walk_pages(q, r, c, r->bytes);
	if (!status)
		clip(ns, r);
	return status;
}

uint32_t gn_command_decode(const struct gn_nvmeq *q, const struct gn_namespace *ns,
                           const struct gn_nvme_command *c, struct gn_request *r)
{
	r->offset = 0;
	r->bytes = r->moved_bytes = 0;
	r->segments = r->first = 0;
	r->cid = c->cid;
	r->opcode = c->opcode;
	r->fault = r->tries = 0;
	r->status = GN_NVME_OK;
	if (c->opcode != GN_NVME_FLUSH && c->opcode != GN_NVME_READ && c->opcode != GN_NVME_WRITE)
		return GN_NVME_INVALID_OPCODE;
	if (c->nsid != q->nsid && !(c->opcode == GN_NVME_FLUSH && c->nsid == UINT32_MAX))
		return GN_NVME_INVALID_NAMESPACE;
	if (c->flags)
		return GN_NVME_INVALID_FIELD;
	return c->opcode == GN_NVME_FLUSH ? (uint32_t)GN_NVME_OK : decode_transfer(q, ns, c, r);
}
