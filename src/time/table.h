/*
 * How long a job's step takes on each of several cards: a record's works are read once, the model is asked once per
 * card.
 *
 *   struct plm_time_table table;
 *   if (plm_time_table_make(&works, lane, card, cards, &question, &table, &error) == 0) {
 *       ...
 *       plm_time_table_free(&table);
 *   }
 *
 * A card that lacks a figure has a row that says so; what is wrong with a file of constants ends it: PLM_EIO,
 * PLM_EFORMAT. The rows point into works and cards, which must outlive the table. Read-only afterwards; any thread.
 */
#ifndef PLM_TIME_TABLE_H
#define PLM_TIME_TABLE_H

#include "time/timing.h"

struct plm_card;
struct plm_error;
struct plm_install;

struct plm_time_question {
    const struct plm_install *install; /* where the files of constants are */
    const char *speeds;                /* a file of constants; NULL: that of each card's architecture */
    struct plm_host_time host;
    bool shares;                       /* add up by operator, module and class too */
    bool unmetered;                    /* how long a step takes is enough: no metrics */
};

struct plm_time_row {
    const struct plm_card *card;
    bool known;
    char why[512];                     /* if not: a sentence */
    struct plm_timing timing;
    char speeds[48];                   /* what the constants are called */
    struct plm_host_time host;               /* as it was used: its factor is known */
    double host_low, host_high;              /* of that factor, for the range of the answer */
    unsigned lacks; /* a bit for each enum plm_work_type that the job computes with and the card does not have */
    unsigned gpus;  /* of the job, also of ranks that were not run */
    double together; /* samples per second of all of them; 0: not known */
    double price;   /* of one GPU per hour; 0: not given */
    double samples; /* how many shall be gone through; 0: nobody asked */
};

struct plm_time_table {
    const struct plm_works *works;
    const struct plm_work_lane *lane;
    struct plm_time_row *row; /* in the order of the cards */
    size_t rows;
};

int plm_time_table_make(const struct plm_works *works, const struct plm_work_lane *lane, const struct plm_card *card,
                        size_t cards, const struct plm_time_question *question, struct plm_time_table *table,
                        struct plm_error *error);
void plm_time_table_free(struct plm_time_table *table);

/* What the rows are in order of; those that are not known, or lack what is asked for, come last. */
enum plm_time_order { PLM_TIME_BY_STEP, PLM_TIME_BY_DOLLAR, PLM_TIME_BY_MFU, PLM_TIME_BY_NAME };
void plm_time_table_sort(struct plm_time_table *table, enum plm_time_order order);

/* Steps of the job for a dollar; 0: no price was given. */
double plm_time_per_dollar(const struct plm_time_row *row);
/* Hours of the job for those samples; 0: nobody asked, or the size of a batch is not known. */
double plm_time_hours(const struct plm_time_row *row);
/* The price of these hours on all GPUs; 0: no price was given. */
double plm_time_cost(const struct plm_time_row *row);
/* What most of the step is spent on. */
enum plm_bound plm_time_bound(const struct plm_timing *timing);
/* Does the host need more time for its calls than the GPU for its work? */
bool plm_time_host_bound(const struct plm_timing *timing);
/* The lane of a rank, of several devices the one with the most calls; -1: the main one. NULL: there is none. */
const struct plm_work_lane *plm_time_lane(const struct plm_works *works, int rank);
/* GPUs of the job that the lane is of, also those of ranks that were not run. */
unsigned plm_time_gpus(const struct plm_works *works, const struct plm_work_lane *lane);
/* Samples per second of all of them, if the lane's step takes so many ns; 0: not known. */
double plm_time_together(const struct plm_works *works, const struct plm_work_lane *lane, double step);
/* "bf16" */
const char *plm_work_type_name(enum plm_work_type type);

#endif
