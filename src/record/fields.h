/*
 * The events of a job record as a table (of events.def): what each type is called and what its payload holds. For the
 * reader, the exports and the documentation. Constant; any thread.
 */
#ifndef PLM_RECORD_FIELDS_H
#define PLM_RECORD_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/events.h"

enum plm_field_kind {
    PLM_FIELD_NONE,     /* ends the fields of a type */
    PLM_FIELD_NUMBER,
    PLM_FIELD_OPTIONAL, /* a number; all bits set: none */
    PLM_FIELD_ADDRESS,  /* hexadecimal */
    PLM_FIELD_FLAG,
    PLM_FIELD_TEXT,     /* the number of a string */
    PLM_FIELD_TEXT_ID,  /* of this string itself */
    PLM_FIELD_NAME,     /* one of a set of values */
    PLM_FIELD_STREAM,   /* a number; PLM_STREAM_UNKNOWN: none */
    PLM_FIELD_CONTEXT,  /* the number of a context */
    PLM_FIELD_HIDDEN,   /* not shown */
};

/* The values that a field may have, from 0 on. */
struct plm_value_set {
    unsigned count;
    const struct plm_value_row {
        const char *name, *meaning;
    } *row;
};

struct plm_field {
    const char *name;
    enum plm_field_kind kind;
    const struct plm_value_set *values; /* of PLM_FIELD_NAME */
    uint16_t bit;                       /* where it begins in the payload, */
    uint8_t bits;                       /* and how many it has; never beyond a word */
    uint8_t must;                       /* from this version on the payload reaches over it; 0: not always */
    uint8_t place;                      /* shown by place, then in order */
    const char *meaning;
};

struct plm_record_event_row {
    const char *name, *title; /* "gemm", "GEMM"; NULL: no such type */
    unsigned since;           /* version of the record */
    const char *meaning;
    const struct plm_field *field; /* ended by PLM_FIELD_NONE */
};

/* Of a type below PLM_EV_TYPES. */
const struct plm_record_event_row *plm_record_event_row(enum plm_record_event_type type);
/* Words that the payload has at least in this version of the record; -1: the version does not have the type. */
int plm_record_event_least(enum plm_record_event_type type, unsigned version);
/* The name of a value; NULL if it has none. */
const char *plm_field_value_name(const struct plm_field *field, uint64_t value);

/* What the field says, of a payload of so many words. False if it does not reach so far. */
bool plm_field_get(const struct plm_field *field, const uint64_t *words, unsigned count, uint64_t *value);

/* Names of the values of a set; NULL beyond them. plm_value_phase(PLM_PHASE_LOSS) is "loss". */
#define VALUES(set, count) const char *plm_value_##set(unsigned value);
#define VALUE(...)
#define VALUES_END(set, count)
#include "record/events.def"

#endif
