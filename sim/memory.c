/* SPDX-License-Identifier: Apache-2.0 */
#include <sim/memory.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The first page stays free, so that no buffer is at 0. */
enum { FIRST_PAGE = 1 };

struct page {
	uint32_t frame;
	uint32_t gpu;
};

struct sim_memory {
	uint32_t gpus;
	bool alike; /* all buffers, by placement */
	enum sim_placement placement;
	uint32_t next;                  /* GPU of the next interleaved page */
	uint32_t frames[SIM_MOST_GPUS]; /* given out so far */
	uint64_t pages, room;           /* pages[k] is page FIRST_PAGE + k */
	struct page *page;
	void **host; /* of each buffer */
	uint32_t buffers, host_room;
};

int sim_memory_create(struct sim_memory **memory, uint32_t gpus)
{
	struct sim_memory *m;

	if (!gpus || gpus > SIM_MOST_GPUS)
		return -GN_EINVAL;
	m = (struct sim_memory *)calloc(1, sizeof *m);
	if (!m)
		return -GN_ENOMEM;
	m->gpus = gpus;
	*memory = m;
	return 0;
}

void sim_memory_destroy(struct sim_memory *m)
{
	if (!m)
		return;
	for (uint32_t k = 0; k < m->buffers; k++)
		free(m->host[k]);
	free(m->host);
	free(m->page);
	free(m);
}

uint32_t sim_memory_gpus(const struct sim_memory *m)
{
	return m->gpus;
}

void sim_memory_place(struct sim_memory *m, enum sim_placement placement)
{
	m->alike = true;
	m->placement = placement;
}

static int more_pages(struct sim_memory *m, uint64_t count)
{
	const uint64_t need = m->pages + count;
	struct page *page;

	if (need <= m->room)
		return 0;
	page = (struct page *)realloc(m->page, 2 * need * sizeof *page);
	if (!page)
		return -GN_ENOMEM;
	m->page = page;
	m->room = 2 * need;
	return 0;
}

/* In large pages, if it has some: the host is spared hundreds of faults for each. */
static void *more_aligned(uint64_t bytes)
{
	const uint64_t large = UINT64_C(2) << 20;
	void *p;

	if (bytes < large)
		return aligned_alloc(SIM_PAGE_BYTES, bytes);
	p = aligned_alloc(large, (bytes + large - 1) / large * large);
	if (p)
		madvise(p, bytes / large * large, MADV_HUGEPAGE);
	return p;
}

static void *more_bytes(struct sim_memory *m, uint64_t bytes)
{
	void *p;

	if (m->buffers == m->host_room) {
		void **host = (void **)realloc(m->host, (2 * m->host_room + 8) * sizeof *host);

		if (!host)
			return NULL;
		m->host = host;
		m->host_room = 2 * m->host_room + 8;
	}
	p = more_aligned(bytes);
	if (!p)
		return NULL;
	memset(p, 0, bytes);
	m->host[m->buffers++] = p;
	return p;
}

static uint32_t place(struct sim_memory *m, enum sim_placement placement, uint32_t gpu, uint64_t k,
                      uint64_t pages)
{
	const uint64_t part = pages / m->gpus;
	uint32_t home = gpu;

	if (placement == SIM_INTERLEAVED) {
		home = m->next;
		m->next = (m->next + 1) % m->gpus;
	} else if (placement == SIM_DISTRIBUTED) {
		home = part && k / part < m->gpus ? (uint32_t)(k / part) : m->gpus - 1;
	}
	return home;
}

int sim_memory_alloc(struct sim_memory *m, uint64_t bytes, enum sim_placement placement, uint32_t gpu,
                     struct sim_buffer *b)
{
	const uint64_t pages = bytes / SIM_PAGE_BYTES + (bytes % SIM_PAGE_BYTES != 0);

	if (m->alike && placement != SIM_ON_ONE)
		placement = m->placement;
	if (!bytes || pages > UINT32_MAX || (placement == SIM_ON_ONE && gpu >= m->gpus))
		return -GN_EINVAL;
	if (more_pages(m, pages))
		return -GN_ENOMEM;
	b->host = more_bytes(m, pages * SIM_PAGE_BYTES);
	if (!b->host)
		return -GN_ENOMEM;
	b->address = (FIRST_PAGE + m->pages) * SIM_PAGE_BYTES;
	b->bytes = bytes;
	for (uint64_t k = 0; k < pages; k++) {
		struct page *p = &m->page[m->pages + k];

		p->gpu = place(m, placement, gpu, k, pages);
		p->frame = m->frames[p->gpu]++;
	}
	m->pages += pages;
	return 0;
}

static struct page *page_of(const struct sim_memory *m, uint64_t address)
{
	const uint64_t k = address / SIM_PAGE_BYTES - FIRST_PAGE;

	return k < m->pages ? &m->page[k] : NULL; /* page 0 wraps around */
}

uint32_t sim_memory_home(const struct sim_memory *m, uint64_t address)
{
	const struct page *p = page_of(m, address);

	return p ? p->gpu : UINT32_MAX;
}

uint32_t sim_memory_frame(const struct sim_memory *m, uint64_t address)
{
	const struct page *p = page_of(m, address);

	return p ? p->frame : UINT32_MAX;
}

uint64_t sim_memory_pages(const struct sim_memory *m)
{
	return FIRST_PAGE + m->pages;
}

int sim_memory_move(struct sim_memory *m, uint64_t address, uint32_t gpu)
{
	struct page *p = page_of(m, address);

	if (!p || gpu >= m->gpus)
		return -GN_EINVAL;
	if (p->gpu == gpu)
		return 0;
	p->gpu = gpu;
	p->frame = m->frames[gpu]++;
	return 0;
}
