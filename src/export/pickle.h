/*
 * Writes a Python pickle, protocol 4: dicts, lists, strings and numbers, as far as snapshots need them.
 * Every string is written once and referred to after that; so can any other object be, by
 * plm_pickle_keep() and plm_pickle_again(). Only opcodes that PyTorch's viewer page understands too.
 *
 *   plm_pickle_start(&p, out);
 *   plm_pickle_dict(&p);
 *   plm_pickle_text(&p, "sizes");
 *   plm_pickle_list(&p);
 *   for (...)
 *       plm_pickle_item(&p), plm_pickle_unsigned(&p, size);
 *   plm_pickle_end_list(&p);
 *   plm_pickle_end_dict(&p);
 *   plm_pickle_finish(&p);
 *
 * The caller keeps to the order of a pickle: in a dict, key and value in turn; plm_pickle_item() before
 * each item of a list. One thread. Errors of the output are kept in `out`.
 */
#ifndef PLM_EXPORT_PICKLE_H
#define PLM_EXPORT_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/names.h"

struct plm_out;

#define PLM_PICKLE_DEPTH 16 /* of lists in each other */

struct plm_pickle {
    struct plm_out *out;
    uint32_t kept;                    /* objects in the reader's memo */
    struct plm_names texts;
    uint32_t *number;                 /* of each text in the memo */
    size_t number_room;
    int depth;
    unsigned items[PLM_PICKLE_DEPTH]; /* of each open list, since its last batch */
};

void plm_pickle_start(struct plm_pickle *pickle, struct plm_out *out);
void plm_pickle_finish(struct plm_pickle *pickle); /* frees what start and the strings took */

void plm_pickle_dict(struct plm_pickle *pickle);
void plm_pickle_end_dict(struct plm_pickle *pickle);
void plm_pickle_list(struct plm_pickle *pickle);
void plm_pickle_item(struct plm_pickle *pickle);
void plm_pickle_end_list(struct plm_pickle *pickle);
/* Makes a tuple of the two values that were written last. */
void plm_pickle_pair(struct plm_pickle *pickle);

/* Bytes that are not UTF-8 become the replacement character. */
void plm_pickle_text(struct plm_pickle *pickle, const char *text);
void plm_pickle_unsigned(struct plm_pickle *pickle, uint64_t value);
void plm_pickle_bool(struct plm_pickle *pickle, bool value);

/* The object that was written last gets a number, by which it can be written again. */
uint32_t plm_pickle_keep(struct plm_pickle *pickle);
void plm_pickle_again(struct plm_pickle *pickle, uint32_t number);

#endif
