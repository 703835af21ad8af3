/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/array/begin.h - pages that are begun, and asked for later.
 */
#include <grapnel/array.h> /* declares these functions; before the guard, because it includes this file */
#ifndef GRAPNEL_ARRAY_BEGIN_H
#define GRAPNEL_ARRAY_BEGIN_H

#include <grapnel/detail/array/page.h>
#include <grapnel/detail/cache/ticket.h>

/* The ticket's page is pinned, or it was refused. Returns the code. */
SIMT_FN int gn__page_ticket_done(const struct gn_array *a, struct gn_page_ticket *t)
{
	t->page.hold.word = t->wait.word;
	t->page.hold.data = t->wait.data;
	return gn__page_done(a, t->index, t->wait.status, &t->page);
}

/* Pin the page if it is VALID. Returns 1 or 0. */
SIMT_FN int gn__page_ticket_hits(const struct gn_array *a, uint32_t mask, struct gn_page_ticket *t)
{
	struct gn_hold hold;

	if (!gn__page_pin_together(&a->pages, mask, t->wait.page, t->wait.intent != GN_READ, &hold))
		return 0;
	t->wait.word = hold.word;
	t->wait.data = hold.data;
	t->wait.state = GN__TICKET_HELD;
	t->wait.status.code = 0;
	return 1;
}

SIMT_FN int gn_page_begin(const struct gn_array *a, uint32_t mask, uint64_t index, uint32_t intent,
                          struct gn_page_ticket *ticket)
{
	const uint64_t page = gn__page_number(&a->pages, a->base + (index << a->element_log2));
	const int rc = gn__page_refused(a, index, intent);

	memset(ticket, 0, sizeof *ticket);
	if (rc)
		return rc;
	ticket->index = index;
	ticket->intent = intent;
	if (a->memory) {
		gn__page_memory(a, index, &ticket->page);
		return 0;
	}
	gn__page_extent(a, index, &ticket->page);
	if (intent == GN_OVERWRITE && ticket->page.count << a->element_log2 != 1ull << a->pages.page_log2)
		intent = GN_WRITE;
	ticket->wait = gn__ticket_init(a->pages.cache, page, intent);
	if (gn__page_ticket_hits(a, mask, ticket) ||
	    SIMT_COLD(gn__ticket_try)(a->pages.cache, mask, &ticket->wait) == -GN_EAGAIN)
		return 0;
	return gn__page_ticket_done(a, ticket);
}

SIMT_FN int gn_page_ready(const struct gn_array *a, uint32_t mask, struct gn_page_ticket *ticket,
                          struct gn_page *page)
{
	int rc = 0;

	if (!a->memory) {
		if (ticket->wait.state != GN__TICKET_HELD &&
		    (ticket->wait.state == GN__TICKET_COMES || !gn__page_ticket_hits(a, mask, ticket)) &&
		    SIMT_COLD(gn__ticket_poll)(a->pages.cache, mask, &ticket->wait) == -GN_EAGAIN)
			return -GN_EAGAIN;
		rc = gn__page_ticket_done(a, ticket);
	}
	*page = ticket->page;
	if (simt_unlikely(a->sample != 0) && !rc)
		SIMT_COLD(gn__page_note)(a, mask, ticket->index, ticket->intent);
	return rc;
}

SIMT_FN void gn_page_cancel(const struct gn_array *a, uint32_t mask, struct gn_page_ticket *ticket)
{
	if (!a->memory)
		SIMT_COLD(gn__ticket_cancel)(a->pages.cache, mask, &ticket->wait);
}

#endif
