/*
 * The values of an event's fields: strings looked up once, contexts followed. What the exports of
 * events share.
 *
 * Begin, then plm_values_see() every event in the order of the record before asking for its values.
 * One thread. Strings belong to the record.
 */
#ifndef PLM_EXPORT_VALUES_H
#define PLM_EXPORT_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "export/events.h"
#include "record/reader.h"

/* A string and what a writer wants to know about it. */
struct plm_text {
    const char *bytes;
    uint32_t length; /* 0: nothing is known */
    bool plain;      /* printable ASCII that neither CSV nor JSON must quote */
};

struct plm_values {
    struct plm_record *record;
    struct plm_map texts;    /* process and id -> index of `text` */
    struct plm_map contexts; /* process and id -> index of `context` */
    struct plm_text *text;
    size_t text_count, text_room;
    struct plm_values_context {
        struct plm_text module, outer, inner, phase;
    } *context;
    size_t context_count, context_room;
};

enum plm_value_type { PLM_VALUE_ABSENT, PLM_VALUE_NUMBER, PLM_VALUE_ADDRESS, PLM_VALUE_FLAG, PLM_VALUE_TEXT };

struct plm_value {
    enum plm_value_type type;
    uint64_t number;
    struct plm_text text;
};

void plm_values_begin(struct plm_values *values, struct plm_record *record);
void plm_values_see(struct plm_values *values, const struct plm_record_event *event);
struct plm_value plm_values_get(struct plm_values *values, const struct plm_column *column,
                                const struct plm_record_event *event);
struct plm_text plm_values_text(struct plm_values *values, uint32_t process, uint32_t id);
/* NULL if the process has no such context (yet). */
const struct plm_values_context *plm_values_context(const struct plm_values *values, uint32_t process, uint32_t id);
void plm_values_free(struct plm_values *values);

#endif
