/*
 * A job against a limit, for pipelines: one line for people, JUnit XML, JSON and a GitHub annotation for what runs them.
 * The limit is an amount, or by how much the job may exceed another one, or both. Read-only on the jobs. The writers only write to the stream they are given, and keep their format valid whatever
 * the record holds. One thread.
 */
#ifndef PLM_CHECK_H
#define PLM_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/job.h"

struct plm_card;
struct plm_json;

enum plm_check_what { PLM_CHECK_USED, PLM_CHECK_RESERVED, PLM_CHECK_ALLOCATED };

struct plm_limit {
    enum plm_check_what what;
    bool pessimistic;           /* the high end of the range; of PLM_CHECK_USED only */
    bool allow_tight;           /* a job that keeps to it by giving cached memory back keeps to it */
    uint64_t max;               /* 0: none */
    const struct plm_job *base; /* with a device; NULL: no limit of growth */
    const char *against;        /* its record, as the user wrote it */
    bool growth_in_bytes;
    double growth_percent;
    uint64_t growth_bytes;
};

/* Tight: too much, but with no more than that it would run all the same, by giving cached memory back. */
enum plm_check_outcome { PLM_CHECK_OK, PLM_CHECK_TIGHT, PLM_CHECK_TOO_MUCH, PLM_CHECK_ERROR };

struct plm_check {
    enum plm_check_outcome outcome;
    uint64_t bytes;             /* of the device that needs most */
    uint64_t before;            /* the same of the base; 0: there is none */
    char sentence[512];         /* "ok: 3.8 GiB of 22.0 GiB device memory"; of an error, what is wrong */
    char subject[512];          /* the command, for titles: bytes of the user's */
    double seconds;             /* of the run */
    const struct plm_limit *limit; /* the caller's */
    int status;                 /* the exit status that goes with it: the caller's too */
};

/* "device_used", "reserved", "allocated"; PLM_EINVAL for anything else. */
int plm_check_what_parse(const char *text, enum plm_check_what *what);

/* "5%", "2.5 %", or a size: "512MiB". PLM_EINVAL for anything else. */
int plm_check_growth_parse(const char *text, struct plm_limit *limit);

/* The verdict on a job with at least one device. `card`: that was played; NULL: not known, and nothing is tight. `bytes`:
   amounts as bytes. */
struct plm_check plm_check_job(const struct plm_job *job, const struct plm_limit *limit, const struct plm_card *card,
                               bool bytes);
/* Of a job without one: `sentence` says why. */
struct plm_check plm_check_error(const struct plm_job *job, const struct plm_limit *limit, const char *sentence);

/* The object "check" of a report. */
void plm_check_json(struct plm_json *json, const struct plm_check *check);
/* A document with one test case. */
void plm_check_junit(FILE *out, const struct plm_check *check);
/* A workflow command, one line. */
void plm_check_github(FILE *out, const struct plm_check *check);

#endif
