/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <unistd.h>

#include "scope/sampling.h"
#include "tool.h"

double tool_seconds(void)
{
	return scope_clock();
}

enum { BAR_WIDTH = 40 };

static void draw(const char *stage, uint64_t done, uint64_t total)
{
	char bar[BAR_WIDTH + 1];
	double part = total && done < total ? (double)done / (double)total : 1;
	int filled = total ? (int)(part * BAR_WIDTH) : 0;

	for (int k = 0; k < BAR_WIDTH; k++)
		bar[k] = k < filled ? '#' : '.';
	bar[BAR_WIDTH] = '\0';
	if (total)
		fprintf(stderr, "\r\033[K%-20s [%s] %3d %%", stage, bar, (int)(part * 100));
	else
		fprintf(stderr, "\r\033[K%-20s %llu", stage, (unsigned long long)done);
	fflush(stderr);
}

static void step(void *user, const char *stage, uint64_t done, uint64_t total)
{
	struct tool_bar *b = (struct tool_bar *)user;
	double now = tool_seconds();

	if (now - b->drawn < 0.1)
		return;
	b->drawn = now;
	b->shown = true;
	draw(stage, done, total);
}

struct gn_progress tool_bar_begin(struct tool_bar *b)
{
	struct gn_progress listener = {NULL, b};

	b->on = isatty(STDERR_FILENO);
	b->shown = false;
	/* what is done in a moment needs no bar */
	b->drawn = tool_seconds() + 0.3;
	if (b->on)
		listener.step = step;
	return listener;
}

void tool_bar_end(struct tool_bar *b)
{
	if (b->shown)
		fputs("\r\033[K", stderr);
	b->shown = false;
}
