/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include <cache/cache.h>
#include <store/store.h>

enum { GN__SMALLEST_SET = 4, GN__SMALLEST_BUDGET = 32 << 10 };

/*
 * The default page of a cache of block stores, in bytes: from GN__LEAST_PAGE to GN__BLOCK_PAGE. It is larger
 * than the least only if the cache then has GN__FRAMES_FOR_BLOCKS frames or more.
 */
enum { GN__LEAST_PAGE = 4096, GN__BLOCK_PAGE = 64 << 10, GN__FRAMES_FOR_BLOCKS = 256 };

/*
 * The smallest default page of a cache of memory that a GPU loads from. Its pages are fetched by sectors, and
 * with small pages the cache holds more of scattered data.
 */
enum { GN__SECTOR_PAGE = 512 };

/* The fewest frames of a cache in which groups of pages lead (detail/cache/hand.h). */
enum { GN__FRAMES_TO_LEAD = 8192 };

/* The most rows of entries for fetches that are begun (detail/cache/begun.h). */
enum { GN__MOST_BEGUN_ROWS = 32 };

/* ---- choose pages and tables ---- */

/*
 * The default page of block stores. A command costs a block store more than the bytes of some 4096-byte
 * pages. So pages are larger, if the cache then has enough frames and one transfer carries a page.
 */
static uint32_t block_page(const struct gn_cache_options *o, struct gn_store *const *stores, unsigned count)
{
	uint64_t most = GN__BLOCK_PAGE;

	for (unsigned k = 0; k < count; k++) {
		const struct gn_store_view *s = gn_store_view_of(stores[k]);

		if (s->kind != GN_STORE_QUEUES)
			return GN__LEAST_PAGE;
		most = s->transfer_bytes < most ? s->transfer_bytes : most;
	}
	while (most > GN__LEAST_PAGE && o->bytes / most < GN__FRAMES_FOR_BLOCKS)
		most /= 2;
	return most > GN__LEAST_PAGE ? (uint32_t)most : (uint32_t)GN__LEAST_PAGE;
}

/* The smallest page for which the direct table and the tables of frames fit in the budget. */
static uint32_t sector_page(const struct gn_cache_options *o, uint64_t store_bytes, uint64_t budget_bytes)
{
	uint32_t page = GN__SECTOR_PAGE;

	while (page < GN__LEAST_PAGE && store_bytes / page * sizeof(uint64_t) +
	                                        o->bytes / page * (sizeof(uint64_t) + sizeof(uint32_t)) +
	                                        (64 << 10) >
	                                    budget_bytes + o->bytes / 50)
		page *= 2;
	return page;
}

static uint32_t default_page(const struct gn_cache *cache, const struct gn_cache_options *o,
                             struct gn_store *const *stores, unsigned count, int is_cuda)
{
	uint64_t bytes = 0;

	for (unsigned k = 0; k < count; k++) {
		const struct gn_store_view *s = gn_store_view_of(stores[k]);

		if (!is_cuda || s->kind != GN_STORE_MEMORY)
			return block_page(o, stores, count);
		bytes += s->capacity_bytes;
	}
	return sector_page(o, bytes, cache->budget_bytes);
}

static int check_stores(const struct gn_cache *cache, struct gn_store *const *stores, unsigned count,
                        struct gn_error *error)
{
	int rc = 0;

	if (!count || count > GN_CACHE_STORES)
		return gn_error_set(error, -GN_EINVAL, "cache: %u stores are not possible; give 1 to %u",
		                    count, GN_CACHE_STORES);
	for (unsigned k = 0; k < count; k++)
		if (!stores[k])
			return gn_error_set(error, -GN_EINVAL, "cache: store %u of %u is NULL; open it first",
			                    k, count);
	for (unsigned k = 0; k < count && !rc; k++)
		rc = gn_store_check_machine(stores[k], cache->machine, error);
	return rc;
}

static int check_options(const struct gn_cache_options *o, uint32_t page_bytes, struct gn_error *error)
{
	uint64_t least = (uint64_t)page_bytes * (o->ways ? o->ways : (uint32_t)GN__SMALLEST_SET);

	if (page_bytes < 512 || page_bytes > 2u << 20 || page_bytes & (page_bytes - 1))
		return gn_error_set(
		    error, -GN_EINVAL,
		    "cache: a page of %u bytes is not possible; give a power of two from 512 to 2097152",
		    page_bytes);
	if ((unsigned)o->policy > (unsigned)GN_RANDOM)
		return gn_error_set(error, -GN_EINVAL,
		                    "cache: policy %d does not exist; give GN_CLOCK, GN_FIFO or GN_RANDOM",
		                    (int)o->policy);
	if ((unsigned)o->table > (unsigned)GN_TABLE_SETS)
		return gn_error_set(
		    error, -GN_EINVAL,
		    "cache: table %d does not exist; give GN_TABLE_AUTO, GN_TABLE_DIRECT or GN_TABLE_SETS",
		    (int)o->table);
	if (o->ways > GN_CACHE_MOST_WAYS)
		return gn_error_set(error, -GN_EINVAL,
		                    "cache: %u frames a set (ways) are too many; give at most %u", o->ways,
		                    GN_CACHE_MOST_WAYS);
	if (o->bytes < least)
		return gn_error_set(error, -GN_EINVAL,
		                    "cache: %llu bytes are less than one set of %llu pages of %u bytes; give "
		                    "at least %llu bytes",
		                    (unsigned long long)o->bytes, (unsigned long long)(least / page_bytes),
		                    page_bytes, (unsigned long long)least);
	if (o->bytes / page_bytes >= 1ull << GN__WORD_PAYLOAD_BITS)
		return gn_error_set(
		    error, -GN_EFBIG,
		    "cache: the cache has 2^28 or more pages; give larger pages or a smaller cache");
	return 0;
}

static int refuse_page(const struct gn_store_view *s, uint64_t page_bytes, struct gn_error *error)
{
	const unsigned long long page = page_bytes;

	if (s->tier)
		return gn_error_set(error, -GN_EINVAL,
		                    "cache: pages of %llu bytes are larger than a line of the tier (%llu "
		                    "bytes); take smaller pages, or open the tier with line=%llu",
		                    page, 1ull << s->unit_log2, page);
	if (s->members && 1ull << s->unit_log2 < page_bytes)
		return gn_error_set(error, -GN_EINVAL,
		                    "cache: pages of %llu bytes are larger than a unit of the stripe (%llu "
		                    "bytes); take smaller pages, or write the data onto a stripe with "
		                    "unit=%llu",
		                    page, 1ull << s->unit_log2, page);
	return gn_error_set(error, -GN_EINVAL,
	                    "cache: pages of %llu bytes are larger than the store's largest transfer (%u "
	                    "bytes); open the store with transfer=%llu in its URI%s",
	                    page, s->transfer_bytes, page, s->members ? ", in that of every member" : "");
}

static int add_segments(struct gn_cache *cache, struct gn_store *const *stores, unsigned count,
                        struct gn_error *error)
{
	struct gn_cache_view *v = &cache->image;
	const uint64_t page_bytes = 1ull << v->page_log2;

	for (unsigned k = 0; k < count; k++) {
		const struct gn_store_view *s = gn_store_view_of(stores[k]);

		if (page_bytes % s->block_bytes)
			return gn_error_set(error, -GN_EINVAL,
			                    "cache: pages of %llu bytes are not a multiple of the store's "
			                    "blocks of %u bytes (%s); give larger pages",
			                    (unsigned long long)page_bytes, s->block_bytes,
			                    gn_store_path(stores[k]));
		if (s->kind == GN_STORE_QUEUES && s->transfer_bytes < page_bytes)
			return refuse_page(s, page_bytes, error);
		cache->store[k] = stores[k];
		v->segment[k].first_page = v->pages;
		v->segment[k].pages = (s->capacity_bytes + page_bytes - 1) / page_bytes;
		v->segment[k].store = *s;
		v->pages += v->segment[k].pages;
		/* Another page's fetch and write-back may come before those of the own page. */
		if (v->wait_ns < 4 * s->timeout_ns)
			v->wait_ns = 4 * s->timeout_ns;
	}
	v->segments = count;
	return 0;
}

/* Frames in a set: as given, or so that a power of two of sets wastes the fewest frames. */
static void shape_sets(struct gn_cache_view *v, uint32_t ways)
{
	const uint32_t least = ways ? ways : v->frames < 16 ? v->frames : 8;

	while ((uint64_t)least << (v->sets_log2 + 1) <= v->frames)
		v->sets_log2++;
	v->ways = ways ? ways : v->frames >> v->sets_log2;
	v->ways_inverse = gn__ways_inverse(v->ways);
	v->frames = v->ways << v->sets_log2;
}

/* The bytes that allocate takes besides words, owners, locks, sector words and frames. */
static uint64_t fixed_bytes(const struct gn_cache *cache, int statistics)
{
	return sizeof *cache->image.shared + (cache->image.frames + 63) / 64 * sizeof *cache->image.kept +
	       sizeof *cache->device + sizeof *cache->result +
	       GN_CACHE_STREAMS * sizeof *cache->image.stream +
	       (statistics ? GN_CACHE_STRIPES * sizeof *cache->image.stripe : 0);
}

static uint64_t direct_bytes(const struct gn_cache_view *v)
{
	return v->pages * sizeof *v->word + (uint64_t)v->frames * sizeof *v->owner;
}

/*
 * Choose the sector: at least 128 bytes, which a link and a GPU move at once, at least a block of every
 * store, and at most 32 sectors in a page. Pages that are fetched whole and never written have no sectors.
 */
static void shape_sectors(struct gn_cache_view *v)
{
	int wanted = 0;

	v->sector_log2 = v->page_log2 - 5 > 7 ? v->page_log2 - 5 : 7;
	for (uint32_t k = 0; k < v->segments; k++) {
		const uint32_t block_log2 = (uint32_t)__builtin_ctz(v->segment[k].store.block_bytes);

		wanted |= !v->segment[k].store.read_only || v->segment[k].store.kind == GN_STORE_MEMORY;
		v->sector_log2 = block_log2 > v->sector_log2 ? block_log2 : v->sector_log2;
	}
	if (!wanted)
		v->sector_log2 = v->page_log2;
}

static uint64_t sectors_bytes(const struct gn_cache_view *v)
{
	return v->sector_log2 < v->page_log2 ? v->frames * sizeof *v->sector : 0;
}

static uint64_t begun_bytes(const struct gn_cache_view *v)
{
	return (uint64_t)v->begun_rows * GN__BEGUN_PLACES * sizeof *v->begun;
}

static uint64_t sets_bytes(const struct gn_cache_view *v)
{
	return (uint64_t)v->frames * sizeof *v->word + (sizeof *v->lock << v->sets_log2);
}

/* Invariant 5: do tables of table_bytes and all fixed tables fit in the budget and 2 % of the frames? */
static int within_budget(const struct gn_cache *cache, const struct gn_cache_options *o, uint64_t table_bytes)
{
	uint64_t frame_bytes = (uint64_t)cache->image.frames << cache->image.page_log2;

	return table_bytes + fixed_bytes(cache, o->statistics) <= cache->budget_bytes + frame_bytes / 50;
}

static int choose_sets(struct gn_cache *cache, const struct gn_cache_options *o, struct gn_error *error)
{
	struct gn_cache_view *v = &cache->image;

	shape_sets(v, o->ways);
	if (v->pages >> v->sets_log2 >= 1ull << GN__WORD_PAYLOAD_BITS)
		return gn_error_set(error, -GN_EFBIG,
		                    "cache: the stores have %llu pages, which are too many for %u sets; give "
		                    "larger pages or a larger cache",
		                    (unsigned long long)v->pages, 1u << v->sets_log2);
	if (!within_budget(cache, o, sets_bytes(v)))
		return gn_error_set(
		    error, -GN_EINVAL,
		    "cache: a set table of %llu bytes does not fit into 2 %% of the cache plus budget_bytes "
		    "(%llu bytes); raise budget_bytes, or give larger pages or more ways",
		    (unsigned long long)sets_bytes(v), (unsigned long long)cache->budget_bytes);
	return 0;
}

static int choose_direct(struct gn_cache *cache, const struct gn_cache_options *o, struct gn_error *error)
{
	const struct gn_cache_view *v = &cache->image;

	if (v->pages >= GN__OWNER_CLAIMED)
		return gn_error_set(error, -GN_EFBIG,
		                    "cache: the stores have %llu pages, which are too many for a direct "
		                    "table; give larger pages or the set table",
		                    (unsigned long long)v->pages);
	if (!within_budget(cache, o, direct_bytes(v)))
		return gn_error_set(
		    error, -GN_EINVAL,
		    "cache: a direct table of %llu bytes does not fit into 2 %% of the cache plus "
		    "budget_bytes (%llu bytes); raise budget_bytes, or give larger pages or the set table",
		    (unsigned long long)direct_bytes(v), (unsigned long long)cache->budget_bytes);
	cache->is_direct = 1;
	return 0;
}

/*
 * Choose how many fetches may be begun at once: about as many as there are frames, if a store has queues; as
 * many as fit in the budget.
 */
static void shape_begun(struct gn_cache *cache, const struct gn_cache_options *o, uint64_t table_bytes)
{
	struct gn_cache_view *v = &cache->image;
	const uint32_t rows = v->frames / GN__BEGUN_PLACES, most = GN__MOST_BEGUN_ROWS;
	int queues = 0;

	for (uint32_t k = 0; k < v->segments; k++)
		queues |= v->segment[k].store.kind == GN_STORE_QUEUES;
	v->begun_rows = !queues ? 0 : rows < 1 ? 1 : rows < most ? rows : most;
	while (v->begun_rows && !within_budget(cache, o, table_bytes + begun_bytes(v)))
		v->begun_rows /= 2;
}

/* Choose the table, and what else fits in the budget: sector words, then entries of fetches that are begun.
 */
static int choose_table(struct gn_cache *cache, const struct gn_cache_options *o, struct gn_error *error)
{
	struct gn_cache_view *v = &cache->image;
	int fits = !o->ways && v->pages < GN__OWNER_CLAIMED && within_budget(cache, o, direct_bytes(v));
	uint64_t bytes;
	int rc;

	if (o->table == GN_TABLE_DIRECT || (o->table == GN_TABLE_AUTO && fits))
		rc = choose_direct(cache, o, error);
	else
		rc = choose_sets(cache, o, error);
	shape_sectors(v);
	bytes = cache->is_direct ? direct_bytes(v) : sets_bytes(v);
	if (!within_budget(cache, o, bytes + sectors_bytes(v)))
		v->sector_log2 = v->page_log2;
	shape_begun(cache, o, bytes + sectors_bytes(v));
	return rc;
}

/* Choose the size of a lot of the hand's frames: all lots together are at most a 32nd of the frames. */
static void shape_lots(struct gn_cache_view *v)
{
	const uint32_t places = v->frames / 32 / GN_CACHE_LOCALS;

	v->lot = places < 32 ? places : 32;
}

/* What some rounds over the frames of a leading group move, in units of gn__duel_count. */
static uint32_t most_moved(const struct gn_cache_view *v)
{
	const uint64_t sectors = v->sector_log2 < v->page_log2 ? 1u << (v->page_log2 - v->sector_log2) : 1,
	               page = (1u << v->page_log2) / 32 + GN__MOVE_UNITS * sectors,
	               rounds = sectors > 1 ? GN__MOVED_ROUNDS_OF_SECTORS : GN__MOVED_ROUNDS,
	               most = rounds * page * v->leaders;

	return most < GN__MOVED_LEAST   ? (uint32_t)GN__MOVED_LEAST
	       : most > GN__MOVED_LIMIT ? (uint32_t)GN__MOVED_LIMIT
	                                : (uint32_t)most;
}

/* Has a store memory from which a read that misses can load its element (gn_array_create: pages.backing)? */
static int some_go_around(const struct gn_cache_view *v)
{
	int some = 0;

	for (uint32_t k = 0; k < v->segments; k++)
		some |= v->segment[k].store.kind == GN_STORE_MEMORY;
	return some && v->sector_log2 < v->page_log2 && v->sector_log2 <= 12;
}

/*
 * A leading group has so many frames less than its part. Of pages in a row its pages are its part, but for
 * less than two. So if the data are a little larger than the cache, the group by rounds has more pages than
 * frames too, and shows it.
 */
enum { GN__LEADERS_SPARE = 2 };

/*
 * Choose the frames of the groups of pages that lead, and of a window: a sixteenth, or eight times as many as
 * there are pages in motion at once, because a page is read for longer than it is moved; but at most a
 * quarter. If that is less than twice the pages in motion, or frames are few, or all pages have a frame, no
 * group leads.
 */
static void shape_hands(struct gn_cache_view *v, const struct simt_info *machine)
{
	const uint32_t moving =
	    machine->is_cuda ? machine->resident_threads / machine->warp_width : 32 * machine->processors;
	const uint32_t sixteenth = v->frames / 16, quarter = v->frames / 4;
	const uint32_t window = 8 * moving < sixteenth ? sixteenth : 8 * moving;
	const uint32_t most_laps = v->frames ? 0x80000000u / v->frames : 1;

	if (v->policy != GN_CLOCK || v->frames < GN__FRAMES_TO_LEAD || quarter < 2 * moving ||
	    v->pages <= v->frames)
		return;
	v->leaders = v->frames / GN__CACHE_GROUPS - GN__LEADERS_SPARE;
	v->hands = some_go_around(v) ? GN_CACHE_HANDS : GN_LEAD_AROUND;
	v->moved_most = most_moved(v);
	v->window = window < quarter ? window : quarter;
	/* a hand is a counter of 32 bits, which must come over all windows */
	v->laps = most_laps > GN__LAPS ? (uint32_t)GN__LAPS : most_laps ? most_laps : 1;
}

/* Choose how far ahead of the hand the cleaner works: the pages that a fast link evicts in a millisecond. */
static void shape_cleaner(struct gn_cache_view *v)
{
	int writable = 0;

	for (uint32_t k = 0; k < v->segments; k++)
		writable |= !v->segment[k].store.read_only;
	/* In a set of few ways the next victim may be the page that was just written. */
	v->low_water = !writable || (v->ways && v->ways < 4) ? 0
	               : v->frames / 4 < 8192                ? v->frames / 4
	                                                     : 8192;
}

/*
 * The entries of shared->local in which a thread may announce a page. Threads of wide warps do not; the
 * host's threads have the first entry.
 */
static uint32_t announcers(const struct gn_cache *cache, const struct simt_info *machine)
{
	const uint32_t most = GN_CACHE_LOCALS;

	if (machine->is_cuda || !cache->is_direct)
		return 0;
	return machine->warp_width > 1 ? 1 : machine->processors < most ? machine->processors : most;
}

/* ---- create and destroy ---- */

static void *metadata(struct gn_cache *cache, uint64_t bytes)
{
	cache->metadata_bytes += bytes;
	return simt_alloc(cache->machine, bytes, SIMT_DEVICE, NULL);
}

/* Frames in the memory of other GPUs. */
static int allocate_there(struct gn_cache *cache, const char *peers, struct gn_error *error)
{
	struct gn_cache_view *v = &cache->image;
	struct gn_error why = {0, ""};
	int rc = simt__spread_init(&cache->peers, cache->machine, peers, 0, &why);

	if (!rc)
		rc = simt__spread_create(&cache->peers, (uint64_t)v->frames << v->page_log2, &why);
	if (rc)
		return gn_error_set(error, rc, "cache: options.peers: %.400s", why.text);
	v->frame = cache->peers.memory;
	return 0;
}

static int allocate(struct gn_cache *cache, int statistics)
{
	struct gn_cache_view *v = &cache->image;
	const uint64_t sets = 1ull << v->sets_log2;
	const int direct = cache->is_direct;

	v->word = (uint64_t *)metadata(cache, (direct ? v->pages : v->frames) * sizeof *v->word);
	v->owner = direct ? (uint32_t *)metadata(cache, v->frames * sizeof *v->owner) : NULL;
	v->lock = direct ? NULL : (uint32_t *)metadata(cache, sets * sizeof *v->lock);
	v->sector = sectors_bytes(v) ? (uint64_t *)metadata(cache, sectors_bytes(v)) : NULL;
	v->kept = (uint64_t *)metadata(cache, (v->frames + 63) / 64 * sizeof *v->kept);
	v->stream = (uint64_t *)metadata(cache, GN_CACHE_STREAMS * sizeof *v->stream);
	v->begun = v->begun_rows ? (struct gn_cache_begun *)metadata(cache, begun_bytes(v)) : NULL;
	v->shared = (struct gn_cache_shared *)metadata(cache, sizeof *v->shared);
	v->stripe = statistics
	                ? (struct gn_cache_statistics *)metadata(cache, GN_CACHE_STRIPES * sizeof *v->stripe)
	                : NULL;
	cache->device = (struct gn_cache_view *)metadata(cache, sizeof *cache->device);
	cache->result = (struct gn_cache_pass_result *)metadata(cache, sizeof *cache->result);
	cache->record = (struct gn_cache_failure *)simt_alloc(
	    cache->machine, GN__RECORDS * sizeof *cache->record, SIMT_PINNED, NULL);
	if (!v->frame)
		v->frame = (char *)simt_alloc(cache->machine, (uint64_t)v->frames << v->page_log2,
		                              SIMT_DEVICE, NULL);
	return v->word && (direct ? v->owner : v->lock) && (v->sector || !sectors_bytes(v)) && v->kept &&
	               v->stream && (v->begun || !v->begun_rows) && v->shared && (!statistics || v->stripe) &&
	               cache->device && cache->result && cache->record && v->frame
	           ? 0
	           : -GN_ENOMEM;
}

/* All frames are free; every other table starts as zero. */
static int fill_owners(struct gn_cache *cache, struct gn_error *error)
{
	const size_t bytes = cache->image.frames * sizeof(uint32_t);
	void *free_owners;
	int rc;

	if (!cache->image.owner)
		return 0;
	free_owners = malloc(bytes);
	if (!free_owners)
		return gn_error_set(error, -GN_ENOMEM, "cache: out of host memory for %zu bytes", bytes);
	memset(free_owners, 0xff, bytes);
	rc = simt_move(cache->machine, cache->image.owner, free_owners, bytes, error);
	free(free_owners);
	return rc;
}

/* Store the address of the record of failed write-backs where kernels find it. */
static int place_failures(struct gn_cache *cache, struct gn_error *error)
{
	struct gn_cache_failure *record = &cache->record[GN__RECORD_WRITES];

	return simt_move(cache->machine, &cache->image.shared->write_failure, &record, sizeof record, error);
}

static int build(struct gn_cache *cache, struct gn_store *const *stores, unsigned count,
                 const struct gn_cache_options *o, struct gn_error *error)
{
	int rc = check_stores(cache, stores, count, error);
	struct simt_info info;
	uint32_t page_bytes;

	if (rc)
		return rc;
	simt_describe(cache->machine, &info);
	cache->budget_bytes = o->budget_bytes ? o->budget_bytes : info.memory_bytes / 64;
	if (cache->budget_bytes < GN__SMALLEST_BUDGET)
		cache->budget_bytes = GN__SMALLEST_BUDGET;
	page_bytes = o->page_bytes ? o->page_bytes : default_page(cache, o, stores, count, info.is_cuda);
	rc = check_options(o, page_bytes, error);
	if (rc)
		return rc;
	cache->image.page_log2 = (uint32_t)__builtin_ctz(page_bytes);
	cache->image.frames = (uint32_t)(o->bytes / page_bytes);
	cache->image.policy = o->policy;
	cache->image.resident = info.resident_threads;
	rc = add_segments(cache, stores, count, error);
	if (!rc)
		rc = choose_table(cache, o, error);
	if (rc)
		return rc;
	shape_lots(&cache->image);
	if (cache->is_direct)
		shape_hands(&cache->image, &info);
	shape_cleaner(&cache->image);
	cache->image.pace = info.is_cuda ? 0 : cache->image.frames / 4;
	cache->image.announcers = announcers(cache, &info);
	rc = o->peers ? allocate_there(cache, o->peers, error) : 0;
	if (rc)
		return rc;
	rc = allocate(cache, o->statistics);
	if (rc)
		return gn_error_set(error, rc,
		                    "cache: cannot allocate %llu bytes of frames and %llu bytes of tables; "
		                    "give a smaller cache",
		                    (unsigned long long)cache->image.frames << cache->image.page_log2,
		                    (unsigned long long)cache->metadata_bytes);
	rc = fill_owners(cache, error);
	if (!rc)
		rc = place_failures(cache, error);
	if (!rc)
		rc = simt_move(cache->machine, cache->device, &cache->image, sizeof cache->image, error);
	if (!rc)
		rc = simt_prepare(cache->machine, &gn_cache_pass_all_kernel, error);
	return gn_error_prefix(error, rc, "cache: its tables cannot be filled, or its kernels not loaded");
}

int gn_cache_create(struct gn_cache **cache, struct simt_machine *machine, struct gn_store *const *stores,
                    unsigned count, const struct gn_cache_options *options, struct gn_error *error)
{
	struct gn_cache *made = (struct gn_cache *)calloc(1, sizeof *made);
	int rc;

	*cache = NULL;
	if (!made)
		return gn_error_set(error, -GN_ENOMEM, "cache: out of memory");
	made->machine = machine;
	pthread_mutex_init(&made->mutex, NULL);
	rc = build(made, stores, count, options, error);
	if (rc)
		gn_cache_destroy(made);
	else
		*cache = made;
	return rc;
}

void gn_cache_destroy(struct gn_cache *cache)
{
	struct gn_cache_view *v = &cache->image;

	for (unsigned k = 0; k < GN_CACHE_FLUSH_STREAMS; k++)
		simt__life_drop(cache->flusher[k]);
	simt_free(cache->machine, v->word);
	simt_free(cache->machine, v->owner);
	simt_free(cache->machine, v->lock);
	simt_free(cache->machine, v->sector);
	simt_free(cache->machine, v->kept);
	simt_free(cache->machine, v->stream);
	simt_free(cache->machine, v->begun);
	simt_free(cache->machine, v->shared);
	simt_free(cache->machine, v->stripe);
	if (cache->peers.memory)
		simt__spread_destroy(&cache->peers);
	else
		simt_free(cache->machine, v->frame);
	simt_free(cache->machine, cache->device);
	simt_free(cache->machine, cache->result);
	simt_free(cache->machine, cache->record);
	pthread_mutex_destroy(&cache->mutex);
	free(cache);
}
