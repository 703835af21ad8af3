/* SPDX-License-Identifier: Apache-2.0 */
#include "cache_report.h"

double tool_cache_hit_rate(const struct gn_cache_statistics *c)
{
	return c->hits + c->misses ? (double)c->hits / (double)(c->hits + c->misses) : 0;
}

void tool_cache_subtract(struct gn_cache_statistics *c, const struct gn_cache_statistics *before)
{
	c->hits -= before->hits;
	c->misses -= before->misses;
	c->fetched -= before->fetched;
	c->written -= before->written;
	c->evicted -= before->evicted;
	c->bypassed -= before->bypassed;
	c->fetched_bytes -= before->fetched_bytes;
	c->written_bytes -= before->written_bytes;
}

void tool_cache_print(const struct gn_cache_info *f, enum gn_cache_policy policy, FILE *to)
{
	const double mib = 1 << 20;

	fprintf(
	    to,
	    "  cache                %.1f MiB in %llu pages of %u bytes, %s, %s table (%.2f MiB of tables)\n",
	    (double)f->frame_bytes / mib, (unsigned long long)f->frames, f->page_bytes, tool_policies[policy],
	    tool_tables[f->table], (double)f->metadata_bytes / mib);
	fprintf(to, "  pages fetched        %llu (%.1f MiB)\n", (unsigned long long)f->statistics.fetched,
	        (double)f->statistics.fetched_bytes / mib);
	fprintf(to, "  hit rate             %.2f %%\n", 100 * tool_cache_hit_rate(&f->statistics));
}

json_t *tool_cache_counters(const struct gn_cache_info *f)
{
	const struct gn_cache_statistics *c = &f->statistics;

	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "hits", (json_int_t)c->hits,
	                 "misses", (json_int_t)c->misses, "fetched_pages", (json_int_t)c->fetched,
	                 "fetched_bytes", (json_int_t)c->fetched_bytes, "written_pages",
	                 (json_int_t)c->written, "written_bytes", (json_int_t)c->written_bytes,
	                 "evicted_pages", (json_int_t)c->evicted, "evicted_bytes",
	                 (json_int_t)(c->evicted * f->page_bytes), "bypassed", (json_int_t)c->bypassed);
}

json_t *tool_cache_json(const struct gn_cache_info *f, enum gn_cache_policy policy)
{
	return json_pack("{s:I, s:I, s:I, s:s, s:s, s:I}", "bytes", (json_int_t)f->frame_bytes, "page_bytes",
	                 (json_int_t)f->page_bytes, "frames", (json_int_t)f->frames, "table",
	                 tool_tables[f->table], "policy", tool_policies[policy], "metadata_bytes",
	                 (json_int_t)f->metadata_bytes);
}
