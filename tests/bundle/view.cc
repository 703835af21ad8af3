// SPDX-License-Identifier: Apache-2.0 gn::array: its promises at compile time, and elements read and written
// by a kernel, with each table, with counters, and in direct mode. cpu, or argv[1].
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include <grapnel/grapnel.hpp>

struct pair {
	float weight;
	uint32_t vertex;
};

static_assert(std::is_trivial<gn::array<float>>::value, "plain data, fit for kernel arguments");
static_assert(std::is_standard_layout<gn::array<pair>>::value, "plain data, fit for kernel arguments");
static_assert(sizeof(gn::array<double>) <= sizeof(struct gn_array) + 32,
              "little more than a handle in kernel arguments");
static_assert(std::is_same<decltype(std::declval<const gn::array<int> &>()[0]), int>::value,
              "a const array gives values: nothing to write through");
static_assert(std::is_same<decltype(std::declval<gn::array<int> &>()[0]), gn::element<int>>::value,
              "a non-const array gives elements");

enum { COUNT = 20000 };

struct arguments {
	gn::array<pair> x;
	gn::array<uint64_t> y;
	uint32_t *wrong;
};

SIMT_FN void fill(const struct arguments *a)
{
	gn::array<pair> x = a->x;
	gn::array<uint64_t> y = a->y;

	for (uint64_t i = simt_global_thread(); i < x.size(); i += simt_global_threads()) {
		x[i] = pair{(float)i / 2, (uint32_t)(i * 7)};
		y[i] = i * i;
		y[i] += 3;
	}
}
SIMT_KERNEL(fill, struct arguments)

SIMT_FN void check(const struct arguments *a)
{
	for (uint64_t i = simt_global_thread(); i < a->x.size(); i += simt_global_threads()) {
		const pair p = a->x[i];
		uint64_t y = 0;

		if (p.weight != (float)i / 2 || p.vertex != (uint32_t)(i * 7) || a->y.read(i, &y) ||
		    y != i * i + 3)
			simt_add_relaxed_dev_u32(a->wrong, 1);
	}
}
SIMT_KERNEL(check, struct arguments)

// Elements taken for ones of another size: nothing is read or written.
SIMT_FN void mistake(const struct arguments *a)
{
	gn::array<uint16_t> narrow(*a->y.raw());
	uint16_t value = 7;

	narrow[0] = 1;
	narrow[1] += 1;
	if (narrow.read(1, &value) != -GN_EINVAL || value != 7 || narrow[1] ||
	    narrow.write(COUNT - 1, 1) != -GN_EINVAL)
		simt_add_relaxed_dev_u32(a->wrong, 1);
}
SIMT_KERNEL(mistake, struct arguments)

// ---- the page that a view remembers ----

enum { PAGE = 4096, FAR = COUNT - PAGE / 8 };

struct memory_arguments {
	gn::array<uint64_t> y, other; // other: of another cache, whose pages have the same numbers
	gn::array<uint64_t> *kept;    // a view with all that it remembers
	uint32_t *wrong;
};

SIMT_FN void expect(const struct memory_arguments *a, uint64_t is, uint64_t wanted)
{
	if (is != wanted)
		simt_add_relaxed_dev_u32(a->wrong, 1);
}

// Not in line: a kernel with many reads in line takes minutes to compile for a GPU.
SIMT_NOINLINE_FN uint64_t at(gn::array<uint64_t> &x, uint64_t i)
{
	return x[i];
}

// All of the first page: it is in its frame as a whole, and remembered.
SIMT_FN void read_near(gn::array<uint64_t> &x)
{
	for (uint64_t i = PAGE / 8; i-- > 0;)
		(void)at(x, i);
}

// So many other pages are read that none of those before is in a frame any more.
SIMT_FN void read_far(gn::array<uint64_t> &x)
{
	for (uint64_t i = PAGE / 8; i < COUNT; i += PAGE / 8)
		(void)at(x, i);
}

// One thread sees its own writes at once, whatever it remembers of their page.
SIMT_FN void see_own_writes(const struct memory_arguments *a)
{
	gn::array<uint64_t> x = a->y;

	for (uint64_t i = 0; i < 8; i++) {
		read_near(x);
		expect(a, at(x, i), 0);
		x[i] = i + 1;
		expect(a, at(x, i), i + 1);
		x[i] *= 3;
		x[i] += 1;
		expect(a, at(x, i), 3 * i + 4);
		x[i] = x[(i + 7) % 8];
		expect(a, at(x, i), i ? 3 * 7 : 0);
		x[i] = 3 * 7;
		read_far(x);
		expect(a, at(x, i), 3 * 7);
		read_near(x);
		gn_write_u64(a->y.raw(), i, 0);
		expect(a, at(x, i), 0);
		x[i] = 3 * 7;
	}
}
SIMT_KERNEL(see_own_writes, struct memory_arguments)

// What a copy remembers is checked when it reads, not believed.
SIMT_FN void read_by_an_old_copy(const struct memory_arguments *a)
{
	gn::array<uint64_t> x = a->y, before;

	x[0] = 1;
	read_near(x);
	expect(a, at(x, 0), 1);
	before = x;
	read_far(x);
	expect(a, at(before, 0), 1);
	read_near(x);
	before = x;
	x[0] = 2;
	read_far(x);
	x[0] = 3;
	expect(a, at(before, 0), 3);
	read_near(x);
	*a->kept = x;
}
SIMT_KERNEL(read_by_an_old_copy, struct memory_arguments)

// A view that came with what another launch remembered: y is *kept.
SIMT_FN void read_by_a_kept_view(const struct memory_arguments *a)
{
	gn::array<uint64_t> x = a->y;
	const gn::array<uint64_t> constant = a->y;

	expect(a, at(x, 0), 5);
	expect(a, constant[0], 5);
	expect(a, a->y[0], 5);
}
SIMT_KERNEL(read_by_a_kept_view, struct memory_arguments)

// Who changes the array below a view has it forget the page.
SIMT_FN void change_the_array(const struct memory_arguments *a)
{
	gn::array<uint64_t> x = a->y;

	read_near(x);
	expect(a, at(x, 0), 5);
	*x.raw() = *a->other.raw();
	expect(a, at(x, 0), 7);
}
SIMT_KERNEL(change_the_array, struct memory_arguments)

SIMT_FN void read_all(const struct memory_arguments *a)
{
	gn::array<uint64_t> x = a->y;
	uint64_t value = 0;

	for (uint64_t i = 0; i < PAGE / 8; i++)
		expect(a, x.read(i, &value), 0);
	for (uint64_t i = 0; i < PAGE / 8; i++)
		(void)at(x, i);
}
SIMT_KERNEL(read_all, struct memory_arguments)

// ---- the fixture ----

static void must(int ok, const char *what, const char *why)
{
	if (ok)
		return;
	std::fprintf(stderr, "view: %s: %s\n", what, why);
	std::exit(1);
}

struct fixture {
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_cache *cache; // NULL: direct mode
	uint32_t *wrong;
	struct gn_error e;
};

static struct fixture open_fixture(struct simt_machine *machine, enum gn_mode mode, enum gn_cache_table table,
                                   int counters)
{
	struct gn_cache_options options = {};
	struct fixture b = {};

	b.machine = machine;
	must(!gn_store_open(&b.store, machine, "host:512K", nullptr, &b.e), "store", b.e.text);
	options.bytes = 64 << 10; // far less than the elements: the kernels evict
	options.page_bytes = PAGE;
	options.table = table;
	options.statistics = counters;
	if (mode == GN_PAGED)
		must(!gn_cache_create(&b.cache, machine, &b.store, 1, &options, &b.e), "cache", b.e.text);
	b.wrong = (uint32_t *)simt_alloc(machine, sizeof *b.wrong, SIMT_PINNED, &b.e);
	must(b.wrong != nullptr, "memory", "none");
	return b;
}

static void close_fixture(struct fixture *b)
{
	simt_free(b->machine, b->wrong);
	if (b->cache)
		gn_cache_destroy(b->cache);
	gn_store_close(b->store);
}

static gn::array<uint64_t> words(struct fixture *b, uint64_t offset)
{
	struct gn_array_options options = {
	    b->cache ? GN_PAGED : GN_DIRECT, b->cache, b->store, offset, COUNT, 8};
	struct gn_array raw;

	must(!gn_array_create(&raw, b->machine, &options, &b->e), "array", b->e.text);
	return gn::array<uint64_t>(raw);
}

template <typename arguments>
static void run(struct fixture *b, const struct simt_kernel *kernel, uint32_t blocks, const arguments &a)
{
	const struct simt_grid grid = {blocks, blocks == 1 ? 1u : 64u, 0};

	struct gn_error error = {0, ""};

	must(!simt_launch(b->machine, kernel, grid, &a, &error) && !simt_wait(b->machine, &error),
	     kernel->name, error.text);
	must(!*b->wrong, kernel->name, "an element is not what was written");
}

static struct gn_cache_info describe(struct fixture *b)
{
	struct gn_cache_info info = {};
	struct gn_error error = {0, ""};

	if (b->cache)
		must(!gn_cache_describe(b->cache, &info, &error), "describe", error.text);
	return info;
}

static void flush(struct fixture *b)
{
	if (b->cache)
		must(!gn_cache_flush(b->cache, &b->e), "flush", b->e.text);
}

// The store has another value now, and the cache nothing.
static void change_store(struct fixture *b, uint64_t value)
{
	flush(b);
	if (b->cache)
		must(!gn_cache_invalidate(b->cache, &b->e), "invalidate", b->e.text);
	must(!gn_store_write_host(b->store, 0, &value, sizeof value, &b->e), "store", b->e.text);
}

// ---- what is tried ----

static void elements_are_written_and_read(struct fixture *b)
{
	struct arguments a;

	a.y = words(b, 0);
	a.x = gn::array<pair>(*words(b, 256 << 10).raw());
	a.wrong = b->wrong;
	must(a.x.fits() && a.y.fits() && !gn::array<float>(*a.x.raw()).fits(), "fits", "wrong size told");
	run(b, &fill_kernel, 4, a);
	must(!gn_array_failure(a.x.raw(), &b->e) && !gn_array_failure(a.y.raw(), &b->e), "fill", b->e.text);
	flush(b);
	run(b, &mistake_kernel, 4, a);
	must(gn_array_failure(a.y.raw(), &b->e) == -GN_EINVAL, "mistake", "another size is not refused");
	run(b, &check_kernel, 4, a);
	must(!describe(b).dirty_pages, "const", "reading made a page dirty");
	gn_array_destroy(a.x.raw(), b->machine);
	gn_array_destroy(a.y.raw(), b->machine);
}

static void a_page_is_remembered(struct fixture *b, struct fixture *second)
{
	struct memory_arguments a;

	a.y = words(b, 0);
	a.other = words(second, 0);
	a.kept = (gn::array<uint64_t> *)simt_alloc(b->machine, sizeof *a.kept, SIMT_PINNED, &b->e);
	a.wrong = b->wrong;
	run(b, &see_own_writes_kernel, 1, a);
	run(b, &read_by_an_old_copy_kernel, 1, a);
	change_store(b, 5);
	change_store(second, 7);
	run(b, &change_the_array_kernel, 1, a);
	a.y = *a.kept;
	run(b, &read_by_a_kept_view_kernel, 1, a);
	must(!gn_array_failure(a.y.raw(), &b->e), "array", b->e.text);
	simt_free(b->machine, a.kept);
	gn_array_destroy(a.y.raw(), b->machine);
	gn_array_destroy(a.other.raw(), b->machine);
}

// Each read counts, though nobody says that a view has come to its end.
static void every_hit_is_counted(struct fixture *b)
{
	struct memory_arguments a;
	uint64_t before;

	a.y = words(b, 0);
	a.wrong = b->wrong;
	run(b, &read_all_kernel, 1, a);
	before = describe(b).statistics.hits;
	run(b, &read_all_kernel, 1, a);
	must(describe(b).statistics.hits == before + 2 * PAGE / 8, "counters", "not every hit was counted");
	gn_array_destroy(a.y.raw(), b->machine);
}

static void try_all(struct simt_machine *m, enum gn_mode mode, enum gn_cache_table table, int counters)
{
	struct fixture b = open_fixture(m, mode, table, counters),
	               second = open_fixture(m, mode, table, counters);
	static const char zeros[PAGE] = {};

	a_page_is_remembered(&b, &second);
	if (counters)
		every_hit_is_counted(&b);
	must(!gn_store_write_host(b.store, 0, zeros, PAGE, &b.e), "store", b.e.text);
	elements_are_written_and_read(&b);
	close_fixture(&second);
	close_fixture(&b);
}

int main(int argc, char **argv)
{
	struct simt_options options = {};
	struct simt_machine *m;
	struct gn_error e;
	int code;

	options.name = argc > 1 ? argv[1] : "cpu";
	code = simt_open(&m, &options, &e);
	if (code == -GN_ENODEV) {
		std::printf("skipped: %s\n", e.text);
		return 77;
	}
	must(!code, "machine", e.text);
	for (int counters = 0; counters < 2; counters++) {
		try_all(m, GN_PAGED, GN_TABLE_DIRECT, counters);
		try_all(m, GN_PAGED, GN_TABLE_SETS, counters);
	}
	try_all(m, GN_DIRECT, GN_TABLE_AUTO, 0);
	simt_close(m);
	return 0;
}
