/*
 * What each type of event is called and what its payload holds: one table, from which the exports of
 * events take their columns and which `plimsoll export --fields` shows. A new type of event is a row.
 *
 * Values are read as the record has them: a field that a shorter payload (an older version) does not
 * reach, a name of no string and an unknown stream are absent, never zero.
 */
#ifndef PLM_EXPORT_EVENTS_H
#define PLM_EXPORT_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/reader.h"

enum plm_field_kind {
    PLM_FIELD_NONE,    /* ends the fields of a type */
    PLM_FIELD_NUMBER,
    PLM_FIELD_OPTIONAL, /* a number; all bits set: none */
    PLM_FIELD_ADDRESS, /* hexadecimal */
    PLM_FIELD_FLAG,
    PLM_FIELD_TEXT,    /* the number of a string */
    PLM_FIELD_NAME,    /* a value that has a name */
    PLM_FIELD_STREAM,  /* the low 31 bits */
    PLM_FIELD_CAPTURED,
    /* what the context of that number holds */
    PLM_FIELD_MODULE,
    PLM_FIELD_OPERATOR,
    PLM_FIELD_INNER,
    PLM_FIELD_PHASE,
    PLM_FIELD_KINDS
};

struct plm_field {
    const char *name;
    enum plm_field_kind kind;
    uint16_t offset;                      /* in the payload, bytes */
    uint8_t bytes;                        /* 1, 2, 4 or 8 */
    const char *(*value_name)(uint32_t);  /* of PLM_FIELD_NAME; returns NULL for a value that has none */
    uint8_t shift, bits;                  /* only these bits of it; bits 0: all */
};

#define PLM_FIELDS_MAX 40

struct plm_event_shape {
    const char *name; /* NULL: no such type */
    struct plm_field field[PLM_FIELDS_MAX + 1];
};

/* Of a type below PLM_EV_TYPES. A type without fields is exported as its payload's words. */
const struct plm_event_shape *plm_event_shape(enum plm_event_type type);
const char *plm_field_kind_name(enum plm_field_kind kind); /* "text" */

/* The bits of a field. False if the payload does not reach so far. */
bool plm_field_raw(const struct plm_field *field, const struct plm_record_event *event, uint64_t *raw);

#endif
