/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 10_begin.c - how does a thread that knows its next pages go on while they come?
 *
 * One thread goes through pages in an order of its own, and begins each some pages before it needs it. It
 * counts the pages for which it waits: nearly all with one page on its way, fewer with eight.
 *
 *     cc -O2 10_begin.c $(pkg-config --cflags --libs grapnel) -o 10_begin
 *     ./10_begin [cpu|cuda]
 *
 * Expected output:
 *     1 begun ahead: 512 pages, 0 wrong, waited for ...
 *     8 begun ahead: 512 pages, 0 wrong, waited for ...
 */
#include <stdio.h>
#include <stdlib.h>

#include <grapnel/grapnel.h>

enum { PAGE = 4096, WORDS = PAGE / 8, PAGES = 2048, VISITED = 512, MOST = 8 };

struct walk_args {
	struct gn_array words;
	uint32_t ahead;
	uint32_t *right, *wrong, *waited;
};

/* The n-th page of the walk. */
SIMT_FN uint64_t visited(uint64_t n)
{
	return n * 1237 % PAGES;
}

/* The page of a ticket, and whether its first word is right. */
SIMT_FN void use(const struct walk_args *a, struct gn_page_ticket *ticket)
{
	struct gn_page page;
	int code = gn_page_ready(&a->words, 1, ticket, &page);

	*a->waited += code == -GN_EAGAIN;
	while (code == -GN_EAGAIN) { /* work that needs no page could be done here */
		simt_relax();
		code = gn_page_ready(&a->words, 1, ticket, &page);
	}
	if (code) {
		*a->wrong += 1;
		return;
	}
	*a->right += *(const uint64_t *)page.data == page.first * 3;
	*a->wrong += *(const uint64_t *)page.data != page.first * 3;
	gn_array_release(&a->words, 1, &page);
}

SIMT_FN void walk(const struct walk_args *a)
{
	struct gn_page_ticket ticket[MOST];
	uint64_t begun = 0, n;

	for (n = 0; n < VISITED && !*a->wrong; n++) {
		while (begun < n + a->ahead && !gn_page_begin(&a->words, 1, visited(begun) * WORDS, GN_READ,
		                                              &ticket[begun % a->ahead]))
			begun++;
		if (begun > n)
			use(a, &ticket[n % a->ahead]);
		else /* there is no ticket */
			*a->wrong += 1;
	}
	for (; n < begun; n++) /* begun, and not needed any more */
		gn_page_cancel(&a->words, 1, &ticket[n % a->ahead]);
}
SIMT_KERNEL(walk, struct walk_args)

static struct gn_error error;

static void must(int code)
{
	if (!code)
		return;
	fprintf(stderr, "10_begin: %s: %s\n", gn_error_name(code), error.text);
	exit(1);
}

/* Walk with so many pages begun, from a cold cache. */
static void walk_with(const char *machine, uint32_t ahead)
{
	struct gn_options options = {0};
	struct simt_grid one_thread = {1, 1, 0};
	struct gn_data words;
	struct walk_args args;
	uint64_t *content = (uint64_t *)malloc((size_t)PAGES * PAGE);

	options.machine = machine;
	options.element_bytes = sizeof(uint64_t);
	options.cache.bytes = 1 << 20;
	options.cache.page_bytes = PAGE;
	must(content ? gn_open(&words, "memq:8M", &options, &error)
	             : gn_error_set(&error, -GN_ENOMEM, "no memory for the words"));
	for (uint64_t k = 0; k < (uint64_t)PAGES * WORDS; k++)
		content[k] = k * 3;
	must(gn_store_write_host(words.store, 0, content, (size_t)PAGES * PAGE, &error));
	free(content);
	args.words = words.array;
	args.ahead = ahead;
	args.right = (uint32_t *)simt_alloc(words.machine, 3 * sizeof *args.right, SIMT_PINNED, &error);
	must(args.right ? 0 : error.code);
	args.wrong = args.right + 1;
	args.waited = args.right + 2;
	*args.right = *args.wrong = *args.waited = 0;
	must(gn_launch(&words, &walk_kernel, one_thread, &args, &error));
	printf("%u begun ahead: %u pages, %u wrong, waited for %u\n", ahead, *args.right, *args.wrong,
	       *args.waited);
	simt_free(words.machine, args.right);
	must(gn_close(&words, &error));
}

int main(int argc, char **argv)
{
	walk_with(argc > 1 ? argv[1] : "cpu", 1);
	walk_with(argc > 1 ? argv[1] : "cpu", MOST);
	return 0;
}
