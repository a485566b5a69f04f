/*
 * Inside the room: how long one piece of work takes on a card that does nothing else, what limits it, and how busy the
 * card is meanwhile. The constants are those of the speeds. Pure; any thread.
 */
#ifndef PLM_TIME_COST_H
#define PLM_TIME_COST_H

#include "time/timing.h"
#include "time/works.h"

struct plm_card;
struct plm_error;
struct plm_speeds;

/* A card in the units of the model: nanoseconds, bytes, flops. */
struct plm_machine {
    const struct plm_speeds *speeds;
    double sms, threads, warps, blocks; /* of a multiprocessor: the most that are resident */
    double shared;                      /* bytes of a multiprocessor */
    double bandwidth, cache_bandwidth;  /* bytes per ns */
    double cache;                       /* bytes that stay from one kernel to the next */
    double peak[PLM_WORK_TYPES];        /* flops per ns; a type that the card does not have is computed as fp32 */
    bool tensor[PLM_WORK_TYPES];        /* on tensor cores */
    double issue; /* instructions per ns, of all threads */
    double link, host_link; /* to other cards and to the host, bytes per ns in one direction; 0: not known */
};

struct plm_cost {
    double ns;
    uint8_t bound; /* enum plm_bound */
    bool known;
    bool made; /* for those who keep many: this one was computed */
    float activity[PLM_METRICS];
};

/* PLM_ENOTFOUND: the catalogue lacks a figure that nothing can be computed without. */
int plm_machine_make(const struct plm_card *card, const struct plm_speeds *speeds, struct plm_machine *machine,
                     struct plm_error *error);

/* Any work but a wait or a graph. */
struct plm_cost plm_cost(const struct plm_machine *machine, const struct plm_work *work);

/* ---- between the files of the model ---- */

/* Reading and writing so many bytes, by so many threads (0: as many as it takes), at a share of the bandwidth. */
double plm_cost_bytes(const struct plm_machine *machine, double bytes, double threads, double efficiency);
/* Resident warps over the most that fit, and multiprocessors with a block. */
void plm_cost_resident(const struct plm_machine *machine, double grid, double block, double shared,
                       struct plm_cost *cost);
/* What a kernel that streams has in common: floor, bound, activity of the memory. */
struct plm_cost plm_cost_stream(const struct plm_machine *machine, const struct plm_work *work, double bytes,
                                double efficiency);

/* A product of this size: ns without floor and memory, and what it keeps busy. */
struct plm_product {
    double m, n, k, batch;
    enum plm_work_type type;
    double efficiency; /* of what a product reaches */
    double bytes; /* that go through the memory */
};
struct plm_cost plm_cost_product(const struct plm_machine *machine, const struct plm_product *product);
/* What a product takes longer for being cut along k: the parts are added up through the memory. */
double plm_cost_parts(const struct plm_machine *machine, const struct plm_product *product, double parts);
/* warps.c: resident warps of a multiprocessor, on average over all of them, while a product without tensor cores runs.
   Which kernel the library takes is not known: each counts the more, the nearer it comes to the quickest. */
double plm_cost_warps(const struct plm_machine *machine, const struct plm_product *product);

struct plm_cost plm_cost_convolution(const struct plm_machine *machine, const struct plm_work *work);
struct plm_cost plm_cost_attention(const struct plm_machine *machine, const struct plm_work *work);
struct plm_cost plm_cost_rnn(const struct plm_machine *machine, const struct plm_work *work);
struct plm_cost plm_cost_copy(const struct plm_machine *machine, const struct plm_work *work);
struct plm_cost plm_cost_collective(const struct plm_machine *machine, const struct plm_work *work);

#endif
