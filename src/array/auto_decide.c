/* SPDX-License-Identifier: Apache-2.0 */
/* Which choice the next launch gets: from what was seen, and from what the clock said. */
#include <string.h>

#include <array/auto.h>

enum {
	LAUNCHES_AHEAD = 8,
	WARP = 8, /* lanes from which side by side is another thing than one by one */
	FEWEST_TOUCHES = 64 /* below nothing is decided */
};

static const double TRIAL_PART = 0.05; /* of the time that launches take */
static const double NEAR = 1.2;        /* what looks worse than that beside the choice in force is not tried */

/* How wrong the forecasts of this kind of choice are, as far as the clock has shown: what is wrong for one is for all. */
static double error_of(const struct gn_auto *x, int choice)
{
	double error = 1;

	for (int c = 0; c < GN_AUTO_CHOICES; c++)
		if ((c == GN_AUTO_DIRECT) == (choice == GN_AUTO_DIRECT) && x->measured[c] > 0 && x->forecast.seconds[c] > 0)
			error = x->measured[c] / x->forecast.seconds[c];
	return error;
}

/* What a choice takes, as far as is known. */
static double price(const struct gn_auto *x, int choice)
{
	return x->measured[choice] > 0 ? x->measured[choice] : x->forecast.seconds[choice] * error_of(x, choice);
}

/* With its share of what the change to it takes, if it stays for a few launches. */
static double price_changed(const struct gn_auto *x, int choice)
{
	const double change = choice == x->choice ? 0 : choice == GN_AUTO_DIRECT ? x->rates.change / 2 : x->rates.change;

	return price(x, choice) + change / LAUNCHES_AHEAD;
}

static int is_near(const struct gn_auto *x, int choice)
{
	return price(x, choice) < NEAR * price(x, x->choice);
}

/* The choice in force, unless another is better by so much; direct wins where it is as good. */
static int cheapest(const struct gn_auto *x, double by)
{
	int best = x->choice;

	for (int c = 0; c < GN_AUTO_CHOICES; c++)
		if (x->forecast.seconds[c] >= 0 && price_changed(x, c) < price_changed(x, best))
			best = c;
	if (x->has_direct && price_changed(x, GN_AUTO_DIRECT) < 1.05 * price_changed(x, best))
		best = GN_AUTO_DIRECT;
	return price_changed(x, best) < price(x, x->choice) / by ? best : x->choice;
}

static int are_alike(double before, double now)
{
	return now < 1.2 * before && before < 1.2 * now;
}

/* Launches of another kind: what the clock said of them is forgotten. */
static void forget_clock(struct gn_auto *x)
{
	memset(x->measured, 0, sizeof x->measured);
	x->spent = x->tried = 0;
}

/* When to look again, if nothing happens: at once, where one look cannot tell. */
static void plan_look(struct gn_auto *x, int changes)
{
	const int unsure = x->forecast.unsure && x->study.again[0] < 0;

	x->patience = changes ? 1 : 2 * x->patience;
	x->quiet_until = x->launches + x->patience;
	x->routine = !unsure;
	x->next_look = unsure ? x->launches : 16 * x->launches;
}

static void look_now(struct gn_auto *x)
{
	x->routine = 0;
	x->next_look = x->launches;
}

/*
 * Is the next launch to be looked at? As a routine only where another choice is near: else the clock will say when something changes.
 * Not a trial, which is for the clock: looking takes time.
 */
int gn__auto_is_due(struct gn_auto *x)
{
	int near = !x->routine;

	if (x->launches < x->next_look || x->trial)
		return 0;
	for (int c = 0; c < GN_AUTO_CHOICES; c++)
		near |= c != x->choice && x->forecast.seconds[c] >= 0 && is_near(x, c);
	if (!near)
		x->next_look = 16 * x->launches;
	return near;
}

int gn__auto_decide(struct gn_auto *x, int *choice)
{
	struct gn_auto_study seen;
	int rc = gn__auto_see(x, &seen);

	*choice = x->choice;
	x->looking = x->trial = 0;
	if (rc)
		return rc;
	if (seen.touches < FEWEST_TOUCHES) { /* too little to tell: look at the next */
		look_now(x);
		return 0;
	}
	/* What the clock said holds for launches like those before. */
	if (!x->looks || !are_alike((double)x->study.accesses, (double)seen.accesses))
		forget_clock(x);
	x->looks++;
	x->study = seen;
	for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES; p++)
		x->again[p] = seen.again[p] >= 0 ? seen.again[p] : x->again[p];
	gn__auto_forecast(&x->study, &x->rates, &x->config, x->has_direct, x->again, &x->forecast);
	if (!x->study.batch)
		x->walks = x->width >= WARP && gn__auto_walks(&x->study);
	*choice = cheapest(x, x->looks == 1 ? 1 : 1.1);
	plan_look(x, *choice != x->choice);
	return 0;
}

/* Filling the cache is what a first launch pays for the next. */
static double without_filling(const struct gn_auto *x, double seconds)
{
	const int p = x->choice < GN_AUTO_PAGE_SIZES ? x->choice : 0;
	const struct gn_auto_paged *seen = &x->study.paged[p];
	const double filling = x->choice == GN_AUTO_DIRECT || !x->looks ? 0
		: x->again[p] * (seen->first - seen->second) * x->rates.together[p] / (x->study.share * x->study.covered);

	return seconds - filling > seconds / 2 ? seconds - filling : seconds / 2;
}

/* The choice that looks best of those that the clock knows nothing of; -1: there is none. */
static int untried(const struct gn_auto *x)
{
	int best = -1;

	for (int c = 0; c < GN_AUTO_CHOICES; c++)
		if (x->forecast.seconds[c] >= 0 && !(x->measured[c] > 0) && (best < 0 || price(x, c) < price(x, best)))
			best = c;
	return best;
}

/*
 * Forecasts are wrong by a fifth now and then, and two choices often closer than that: a small part of the time goes into
 * trying another for a launch, there and back.
 */
static int try_another(struct gn_auto *x)
{
	const int other = x->steady ? untried(x) : -1;
	double more, cost;

	if (other < 0)
		return x->choice;
	more = price(x, other) - price(x, x->choice);
	if (!is_near(x, other))
		return x->choice;
	cost = 2 * x->rates.change + (more > 0 ? more : 0);
	if (x->tried + cost > TRIAL_PART * x->spent)
		return x->choice;
	x->tried += cost;
	x->trial = 1;
	x->before = x->choice;
	return other;
}

/*
 * A launch that was only timed. Where launches of one choice differ by a fifth, what the clock said of others says nothing
 * any more, and perhaps a new phase began: look. Returns the choice for the next launch.
 */
int gn__auto_weigh(struct gn_auto *x, double seconds)
{
	double *known = &x->measured[x->choice];
	int choice;

	x->spent += seconds;
	if (x->steady && !are_alike(*known, seconds) && x->launches >= x->quiet_until) {
		forget_clock(x);
		*known = seconds;
		look_now(x);
		return x->choice;
	}
	*known = x->fresh ? without_filling(x, seconds) : x->steady && *known < seconds ? *known : seconds;
	x->steady = !x->fresh;
	x->fresh = 0;
	if (!x->looks)
		return x->choice;
	if (x->trial) {
		x->trial = 0;
		return price(x, x->choice) < price(x, x->before) / 1.05 ? x->choice : x->before;
	}
	choice = cheapest(x, 1.1);
	return choice == x->choice ? try_another(x) : choice;
}
