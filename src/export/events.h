/*
 * The columns of the exports of events, and what `plimsoll export --fields` shows: the fields of record/fields.h in the order
 * in which they are shown, and beside the number of a string or of a context what that says. One thread.
 */
#ifndef PLM_EXPORT_EVENTS_H
#define PLM_EXPORT_EVENTS_H

#include "record/fields.h"

enum plm_column_kind {
    PLM_COLUMN_NONE,   /* ends the columns of a type */
    PLM_COLUMN_FIELD,  /* as the field says */
    PLM_COLUMN_STRING, /* the string of that number */
    /* what the context of that number holds */
    PLM_COLUMN_MODULE,
    PLM_COLUMN_OPERATOR,
    PLM_COLUMN_INNER,
    PLM_COLUMN_PHASE,
};

struct plm_column {
    const char *name;
    enum plm_column_kind kind;
    const struct plm_field *field;
};

#define PLM_COLUMNS_MAX 40

struct plm_event_shape {
    const char *name;
    struct plm_column column[PLM_COLUMNS_MAX + 1];
    int columns;
};

/* Of a type below PLM_EV_TYPES. A type without columns is exported as its payload's words. */
const struct plm_event_shape *plm_event_shape(enum plm_event_type type);
const char *plm_column_type(const struct plm_column *column); /* "text" */

#endif
