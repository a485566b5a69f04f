/*
 * A job record as the input of a fuzz target describes it. A whole one is too large to be guessed byte by byte, so an
 * input that starts with 'R' is the file itself, and any other describes one: four bytes for the head, then pieces of a
 * length byte, a byte that says whose chunk it is, and the chunk's events.
 */
#ifndef PLM_FUZZ_RECORD_INPUT_H
#define PLM_FUZZ_RECORD_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_job;
struct plm_record;

/* The record, open, and the job that was read from it. False: the input is no record, and one sentence said so. */
struct fuzz_record {
    struct plm_record *record;
    struct plm_job *job;
};
bool fuzz_record_open(const uint8_t *data, size_t size, struct fuzz_record *out);
void fuzz_record_close(struct fuzz_record *record);

#endif
