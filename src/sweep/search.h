/*
 * The largest value of a parameter that fits, on each of many cards, from few runs.
 *
 * The grid is the values in question, by number. A run tells for every card at once whether its value fits there. What
 * is known of a card is the largest value that was run and fits, and the smallest above it that was run and does not; it
 * is settled when these are neighbours on the grid. The next value to run is where the model of memory (growth.h) has
 * the boundary of a card that is not settled: that of the widest gap first. So each answer rests on runs on both sides.
 *
 * The grid has a value for every number from 0 on; memory belongs to the caller's arrays. Pure; any thread.
 */
#ifndef PLM_SWEEP_SEARCH_H
#define PLM_SWEEP_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_sweep_grid {
    const uint64_t *value; /* rising; NULL: every whole number from `low` on */
    uint64_t low;
    uint64_t count;
};
uint64_t plm_sweep_grid_value(const struct plm_sweep_grid *grid, uint64_t at);

struct plm_sweep_run {
    uint64_t at;         /* on the grid */
    bool failed;         /* it told nothing */
    const bool *fits;    /* by card */
    const uint64_t *need; /* by card */
};

/* Between which values a card's boundary lies. */
struct plm_sweep_bounds {
    bool some, none; /* a value fits; one above it does not */
    uint64_t fits, fails; /* on the grid; `fails`: the end of the grid if none does not fit */
    bool settled;
};
struct plm_sweep_bounds plm_sweep_bounds(const struct plm_sweep_grid *grid, const struct plm_sweep_run *run,
                                         size_t runs, size_t card);
/* The value where the model has the largest that fits, if it is between these; 0: the model says nothing. */
uint64_t plm_sweep_estimate(const struct plm_sweep_grid *grid, const struct plm_sweep_run *run, size_t runs,
                            size_t card, uint64_t usable, const struct plm_sweep_bounds *bounds);

/* Up to `most` places on the grid to run next, none of them twice; returns their number, 0 if all cards are settled. */
size_t plm_sweep_next(const struct plm_sweep_grid *grid, const struct plm_sweep_run *run, size_t runs,
                      const uint64_t *usable, size_t cards, uint64_t *next, size_t most);

#endif
