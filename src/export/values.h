/*
 * The columns of the exports of events, which `plimsoll export --fields` shows too, and their values: strings looked
 * up once, contexts followed. What the exports of events share.
 *
 * Begin, then plm_export_values_see() every event in the order of the record before asking for its values.
 * One thread. Strings belong to the record.
 */
#ifndef PLM_EXPORT_VALUES_H
#define PLM_EXPORT_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "record/fields.h"
#include "record/reader.h"

struct plm_out;

/* ---- columns: the fields of record/fields.h in the order in which they are shown, and beside the number of a string
   or of a context what that says ---- */

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

struct plm_export_event_shape {
    const char *name;
    struct plm_column column[PLM_COLUMNS_MAX + 1];
    int columns;
};

/* Of a type below PLM_EV_TYPES. A type without columns is exported as its payload's words. */
const struct plm_export_event_shape *plm_export_event_shape(enum plm_record_event_type type);
const char *plm_column_type(const struct plm_column *column); /* "text" */

/* ---- values ---- */

/* A string and what a writer wants to know about it. */
struct plm_text {
    const char *bytes;
    uint32_t length; /* 0: nothing is known */
    bool plain;      /* printable ASCII that neither CSV nor JSON must quote */
};

struct plm_export_values {
    struct plm_record *record;
    struct plm_map texts;    /* process and id -> index of `text` */
    struct plm_map contexts; /* process and id -> index of `context` */
    struct plm_text *text;
    size_t text_count, text_room;
    struct plm_export_values_context {
        struct plm_text module, outer, inner, phase;
    } *context;
    size_t context_count, context_room;
};

enum plm_export_value_type { PLM_VALUE_ABSENT, PLM_VALUE_NUMBER, PLM_VALUE_ADDRESS, PLM_VALUE_FLAG, PLM_VALUE_TEXT };

struct plm_export_value {
    enum plm_export_value_type type;
    uint64_t number;
    struct plm_text text;
};

void plm_export_values_begin(struct plm_export_values *values, struct plm_record *record);
void plm_export_values_see(struct plm_export_values *values, const struct plm_record_event *event);
struct plm_export_value plm_export_values_get(struct plm_export_values *values, const struct plm_column *column,
                                              const struct plm_record_event *event);
struct plm_text plm_export_values_text(struct plm_export_values *values, uint32_t process, uint32_t id);
void plm_export_values_free(struct plm_export_values *values);

/* As JSON; nothing for one that is absent. An address is a string: JavaScript's numbers end at 2^53. */
void plm_export_value_json(struct plm_out *out, const struct plm_export_value *value);
void plm_text_json(struct plm_out *out, const struct plm_text *text);

#endif
