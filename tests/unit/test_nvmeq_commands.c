/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fate of a queue pair's commands: statuses, time-outs, completions that come late, twice or for nobody,
 * writes that were given up, and more commands than there is room for.
 */
#include "test_nvmeq_support.h"

#include <pthread.h>
#include <time.h>

/* ---- what can go wrong ---- */

static void test_status(void **state)
{
	/* SCT and SC; "more" and "do not retry" (bits 13 and 14 of the field) are not part of the status. */
	static const uint32_t sent[] = {0x281, 0x080 | 1 << 14, 0x7ff | 1 << 13, 0x001};
	struct fixture f;
	uint32_t cid, status;

	(void)state;
	start(&f, &usual);
	for (size_t k = 0; k < sizeof sent / sizeof *sent; k++) {
		cid = post(&f, GN_NVME_READ, 0, 1);
		complete(&f, fetch(&f).cid, sent[k]);
		assert_int_equal(gn_nvmeq_wait(&f.q, cid, later(), &status), -GN_EIO);
		assert_int_equal(status, sent[k] & 0x7ff);
		gn_nvmeq_end(&f.q, cid);
	}
	stop(&f);
}

static void test_completions_in_any_order(void **state)
{
	static const int order[] = {4, 0, 6, 3, 1, 5, 2};
	struct fixture f;
	uint32_t cid[7], status;

	(void)state;
	start(&f, &usual);
	for (int round = 0; round < 5; round++) {
		for (int k = 0; k < 7; k++)
			cid[k] = post(&f, GN_NVME_READ, (uint64_t)k, 1);
		for (int k = 0; k < 7; k++)
			fetch(&f);
		assert_int_equal(gn_nvmeq_reap(&f.q), 0); /* rings for the round before */
		for (int k = 0; k < 7; k++)
			complete(&f, cid[order[k]], 0x100 + (uint32_t)order[k]);
		for (int k = 0; k < 7; k++) {
			assert_int_equal(gn_nvmeq_wait(&f.q, cid[k], later(), &status), -GN_EIO);
			assert_int_equal(status, 0x100 + k);
			gn_nvmeq_end(&f.q, cid[k]);
		}
	}
	stop(&f);
}

static void test_timeout_and_late_completion(void **state)
{
	struct fixture f;
	uint32_t cid, again;

	(void)state;
	start_depth(&f, 2, 0u - 4);
	for (int round = 0; round < 5; round++) {
		cid = give_up(&f, GN_NVME_READ, 0, 1);
		assert_int_equal(f.q.state->abandoned, 1);
		assert_int_equal(f.q.state->abandoned_writes, 0);
		/* The controller may still write into the buffer: nobody gets it. */
		assert_int_equal(gn_nvmeq_begin(&f.q, soon(), &again), -GN_ETIMEDOUT);
		complete(&f, fetch(&f).cid, 0);
		again = begin(&f);
		assert_int_not_equal(again, cid);
		assert_int_equal(f.q.state->abandoned, 0);
		gn_nvmeq_end(&f.q, again);
	}
	assert_int_equal(f.q.state->strays, 0);
	stop(&f);
}

/* The deadline is over, but the completion has come: no time-out. */
static void test_completion_beats_deadline(void **state)
{
	struct fixture f;
	uint32_t cid, status;

	(void)state;
	start(&f, &usual);
	cid = post(&f, GN_NVME_READ, 0, 1);
	complete(&f, fetch(&f).cid, 0);
	assert_int_equal(gn_nvmeq_wait(&f.q, cid, 0, &status), 0);
	gn_nvmeq_end(&f.q, cid);
	assert_int_equal(f.q.state->abandoned, 0);
	stop(&f);
}

static void test_duplicates(void **state)
{
	struct fixture f;
	uint32_t first, second, status;

	(void)state;
	start_depth(&f, 2, 0);
	first = post(&f, GN_NVME_READ, 0, 1);
	complete(&f, fetch(&f).cid, 0);
	finish(&f, first);
	second = post(&f, GN_NVME_READ, 1, 1); /* the same slot */
	complete(&f, first, 0x281);
	assert_int_equal(gn_nvmeq_reap(&f.q), 1);
	assert_int_equal(f.q.state->strays, 1);
	complete(&f, fetch(&f).cid, 0);
	assert_int_equal(gn_nvmeq_wait(&f.q, second, later(), &status), 0);
	complete(&f, second, 0x281); /* before the owner has ended */
	assert_int_equal(gn_nvmeq_reap(&f.q), 1);
	assert_int_equal(f.q.state->strays, 2);
	gn_nvmeq_end(&f.q, second);
	round_trip(&f, 2);
	stop(&f);
}

/* A completion that comes twice for a command that was given up gives the slot back once. */
static void test_duplicate_of_abandoned(void **state)
{
	struct fixture f;
	uint32_t cid;

	(void)state;
	start_depth(&f, 4, 0);
	give_up(&f, GN_NVME_WRITE, 0, 1);
	cid = fetch(&f).cid;
	complete(&f, cid, 0);
	complete(&f, cid, 0);
	for (int k = 0; k < 3; k++)
		begin(&f);
	assert_int_equal(gn_nvmeq_begin(&f.q, soon(), &cid), -GN_ETIMEDOUT);
	assert_int_equal(f.q.state->strays, 1);
	assert_int_equal(f.q.state->abandoned, 0);
	assert_int_equal(f.q.state->abandoned_writes, 0);
	stop(&f);
}

/* No command id that was not handed out does anything. */
static void test_bogus(void **state)
{
	struct fixture f;
	uint32_t cid, status, bogus = 0;

	(void)state;
	start(&f, &usual);
	cid = post(&f, GN_NVME_READ, 0, 1);
	fetch(&f);
	for (uint32_t id = 0; id < 65536; id++)
		if (id != cid) {
			complete(&f, id, 0);
			assert_int_equal(gn_nvmeq_reap(&f.q), 1);
			bogus++;
		}
	assert_int_equal(f.q.state->strays, bogus);
	assert_int_equal(gn_nvmeq_wait(&f.q, cid, soon(), &status), -GN_ETIMEDOUT);
	complete(&f, cid, 0);
	for (int k = 0; k < 7; k++)
		begin(&f);
	stop(&f);
}

/* What one reaper takes together: commands that wait, one that was given up, one twice, and nobody's. */
static void test_batch_of_all_kinds(void **state)
{
	struct fixture f;
	uint32_t cid[3], lost, again, status;

	(void)state;
	start(&f, &usual);
	lost = give_up(&f, GN_NVME_WRITE, 9, 1);
	for (int k = 0; k < 3; k++)
		cid[k] = post(&f, GN_NVME_READ, (uint64_t)k, 1);
	for (int k = 0; k < 4; k++)
		fetch(&f);
	complete(&f, cid[2], 0x102);
	complete(&f, lost, 0);
	complete(&f, cid[2], 0x281);
	complete(&f, 0x4000, 0x281);
	complete(&f, cid[0], 0);
	complete(&f, lost, 0x281);
	complete(&f, cid[1], 0x101);
	assert_int_equal(gn_nvmeq_reap(&f.q), 1);
	assert_int_equal(f.q.state->strays, 3);
	assert_int_equal(f.q.state->abandoned, 0);
	assert_int_equal(f.q.state->abandoned_writes, 0);
	for (int k = 0; k < 3; k++) {
		assert_int_equal(gn_nvmeq_poll(&f.q, cid[k], 0, &status), k ? -GN_EIO : 0);
		assert_int_equal(status, k ? 0x100 + k : 0);
	}
	for (int k = 0; k < 4; k++)
		begin(&f); /* the one that was given up among them, once */
	assert_int_equal(gn_nvmeq_begin(&f.q, soon(), &again), -GN_ETIMEDOUT);
	stop(&f);
}

static void test_all_slots_in_use(void **state)
{
	struct fixture f;
	uint32_t cid[7], other;

	(void)state;
	start(&f, &usual);
	for (int k = 0; k < 7; k++)
		cid[k] = begin(&f);
	assert_int_equal(gn_nvmeq_begin(&f.q, soon(), &other), -GN_ETIMEDOUT);
	gn_nvmeq_end(&f.q, cid[3]);
	assert_int_equal(gn_nvmeq_begin(&f.q, soon(), &other), 0);
	assert_int_equal(other & 7, cid[3] & 7);
	stop(&f);
}

/*
 * Three threads posted while another was ringing and gave up before it was done: nobody who waits is left,
 * and their entries are behind the doorbell. Whoever wants a slot must get the queue going again.
 */
static void test_begin_rings_for_the_abandoned(void **state)
{
	struct fixture f;
	uint32_t cid;

	(void)state;
	start_depth(&f, 4, 0);
	f.q.state->tail_lock = 1;
	for (int k = 0; k < 3; k++)
		give_up(&f, GN_NVME_READ, (uint64_t)k, 1);
	f.q.state->tail_lock = 0;
	assert_int_equal(gn_nvmeq_begin(&f.q, soon(), &cid), -GN_ETIMEDOUT);
	for (int k = 0; k < 3; k++)
		complete(&f, fetch(&f).cid, 0);
	for (int k = 0; k < 3; k++)
		begin(&f);
	assert_int_equal(f.q.state->abandoned, 0);
	stop(&f);
}

/* ---- hazards ---- */

static void test_write_hazard(void **state)
{
	struct fixture f;
	uint32_t cid;

	(void)state;
	start(&f, &usual);
	give_up(&f, GN_NVME_READ, 12, 1);
	assert_int_equal(gn_nvmeq_write_hazard(&f.q, 12, 1), 0);
	cid = give_up(&f, GN_NVME_WRITE, 10, 4);
	assert_int_equal(f.q.state->abandoned, 2);
	assert_int_equal(gn_nvmeq_write_hazard(&f.q, 9, 1), 0);
	assert_int_equal(gn_nvmeq_write_hazard(&f.q, 9, 2), 1);
	assert_int_equal(gn_nvmeq_write_hazard(&f.q, 11, 1), 1);
	assert_int_equal(gn_nvmeq_write_hazard(&f.q, 13, 100), 1);
	assert_int_equal(gn_nvmeq_write_hazard(&f.q, 14, 1), 0);
	assert_int_equal(gn_nvmeq_write_hazard(&f.q, 0, 1000), 1);
	/* Nobody else uses the queue: asking again must find the completion, or the blocks stay refused. */
	complete(&f, cid, 0);
	assert_int_equal(gn_nvmeq_write_hazard(&f.q, 11, 1), 0);
	assert_int_equal(f.q.state->abandoned_writes, 0);
	stop(&f);
}

static void *let_reap(void *queue)
{
	const struct timespec pause = {0, 20000000};

	nanosleep(&pause, NULL);
	simt_store_release_dev_u32(&((const struct gn_nvmeq *)queue)->state->reap_lock, 0);
	return NULL;
}

/* A thread reaps that looked before the completion came: the answer waits until it has been looked again. */
static void test_write_hazard_beside_a_reaper(void **state)
{
	struct fixture f;
	pthread_t other;
	uint32_t cid;

	(void)state;
	start(&f, &usual);
	cid = give_up(&f, GN_NVME_WRITE, 10, 4);
	f.q.state->reap_lock = 1;
	complete(&f, cid, 0);
	assert_int_equal(pthread_create(&other, NULL, let_reap, &f.q), 0);
	assert_int_equal(gn_nvmeq_write_hazard(&f.q, 11, 1), 0);
	pthread_join(other, NULL);
	stop(&f);
}

/* ---- many at once ---- */

/* More commands in flight than the queue holds, before the first is waited for: refused in time, then goes
 * on. */
static void test_more_posts_than_depth(void **state)
{
	struct fixture f;
	uint32_t cid[7], other;

	(void)state;
	start(&f, &usual);
	for (int round = 0; round < 20; round++) {
		for (int k = 0; k < 7; k++)
			cid[k] = post(&f, GN_NVME_READ, (uint64_t)k, 1);
		assert_int_equal(gn_nvmeq_begin(&f.q, soon(), &other), -GN_ETIMEDOUT);
		assert_int_equal(gn_nvmeq_reap(&f.q), 0);
		for (int k = 0; k < 7; k++)
			complete(&f, fetch(&f).cid, 0);
		/* Delivered by whoever polls, but a slot is its owner's until it ends. */
		assert_int_equal(gn_nvmeq_begin(&f.q, soon(), &other), -GN_ETIMEDOUT);
		for (int k = 0; k < 7; k++)
			finish(&f, cid[k]);
	}
	stop(&f);
}

enum { USERS = 4, EACH = 3000 };

struct crowd {
	struct fixture f;
	uint32_t next_user, wrong, done;
};

static void *serve(void *user)
{
	struct crowd *c = (struct crowd *)user;
	struct gn_nvme_command command;

	while (simt_load_acquire_dev_u32(&c->done) < USERS) {
		if (gn_nvme_port_fetch(&c->f.port, &command)) {
			simt_relax();
			continue;
		}
		*(uint64_t *)(uintptr_t)command.prp1 = ~command.lba;
		while (gn_nvme_port_complete(&c->f.port, command.cid, (uint32_t)command.lba & 1))
			simt_relax();
	}
	return NULL;
}

static int read_one(struct crowd *c, uint64_t lba)
{
	uint32_t cid, status;
	int rc, good;

	if (gn_nvmeq_begin(&c->f.q, later(), &cid) || gn_nvmeq_post(&c->f.q, cid, GN_NVME_READ, lba, 1))
		return 0;
	rc = gn_nvmeq_wait(&c->f.q, cid, later(), &status);
	good = rc == (lba & 1 ? -GN_EIO : 0) && status == (lba & 1) &&
	       *(uint64_t *)(void *)gn_nvmeq_buffer(&c->f.q, cid) == ~lba;
	gn_nvmeq_end(&c->f.q, cid);
	return good;
}

static void *use(void *user)
{
	struct crowd *c = (struct crowd *)user;
	uint64_t first = (uint64_t)simt_add_relaxed_dev_u32(&c->next_user, 1) * EACH;

	for (uint64_t k = 0; k < EACH; k++) {
		if (!read_one(c, first + k))
			simt_add_relaxed_dev_u32(&c->wrong, 1);
		/* who gave the only slot back would take it again, and the others run into their deadlines */
		simt_relax();
	}
	simt_add_acq_rel_dev_u32(&c->done, 1);
	return NULL;
}

static void host_threads(uint32_t depth)
{
	static struct crowd c;
	pthread_t thread[USERS + 1];

	memset(&c, 0, sizeof c);
	start_depth(&c.f, depth, 0u - 4 * depth);
	for (int k = 0; k <= USERS; k++)
		assert_int_equal(pthread_create(&thread[k], NULL, k ? use : serve, &c), 0);
	for (int k = 0; k <= USERS; k++)
		pthread_join(thread[k], NULL);
	assert_int_equal(c.wrong, 0);
	assert_int_equal(c.f.q.state->strays, 0);
	stop(&c.f);
}

static void test_host_threads(void **state)
{
	(void)state;
	host_threads(2);
	host_threads(4);
	host_threads(64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_status),
	    cmocka_unit_test(test_completions_in_any_order),
	    cmocka_unit_test(test_timeout_and_late_completion),
	    cmocka_unit_test(test_completion_beats_deadline),
	    cmocka_unit_test(test_duplicates),
	    cmocka_unit_test(test_duplicate_of_abandoned),
	    cmocka_unit_test(test_bogus),
	    cmocka_unit_test(test_batch_of_all_kinds),
	    cmocka_unit_test(test_all_slots_in_use),
	    cmocka_unit_test(test_begin_rings_for_the_abandoned),
	    cmocka_unit_test(test_write_hazard),
	    cmocka_unit_test(test_write_hazard_beside_a_reaper),
	    cmocka_unit_test(test_more_posts_than_depth),
	    cmocka_unit_test(test_host_threads),
	};

	return cmocka_run_group_tests_name("nvmeq: the fate of commands", tests, NULL, NULL);
}
