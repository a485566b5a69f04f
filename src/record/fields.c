#include "record/fields.h"

/* clang-format off: macros that make tables */

/* ---- values ---- */

#define VALUES(set, count)                  static const struct plm_value_row rows_##set[] = {
#define VALUE(set, constant, name, meaning) [constant] = {name, meaning},
#define VALUES_END(set, count) \
    }                          \
    ;                          \
    static const struct plm_value_set values_##set = {count, rows_##set};
#include "record/events.def"

#define VALUES(set, count)                                      \
    const char *plm_value_##set(unsigned value)                 \
    {                                                           \
        return value < (count) ? rows_##set[value].name : NULL; \
    }
#define VALUE(...)
#define VALUES_END(set, count)
#include "record/events.def"

/* ---- where the fields are: a structure in which every bit is a byte ---- */

#define BITS_u8  8
#define BITS_u16 16
#define BITS_u32 32
#define BITS_u64 64
#define BITS_b1  1
#define BITS_b2  2
#define BITS_b31 31

#define EVENT(NAME, name, number, since, meaning)          struct bits_##name {
#define ROW(event, place, must, type, name, kind, meaning) char name[BITS_##type];
#define EVENT_END(NAME, name) \
    }                         \
    ;
#include "record/events.def"

#define EVENT(NAME, name, number, since, meaning)
#define ROW(...)
#define EVENT_END(NAME, name)                                                                           \
    _Static_assert(sizeof(struct plm_ev_##name) * 8 == sizeof(struct bits_##name), #name " has holes"); \
    _Static_assert(sizeof(struct plm_ev_##name) % 8 == 0, #name " is of whole words");                  \
    _Static_assert(sizeof(struct plm_ev_##name) / 8 <= 254, #name " is too long");
#include "record/events.def"

/* ---- the table ---- */

#define KIND_NUMBER    PLM_FIELD_NUMBER, NULL
#define KIND_OPTIONAL  PLM_FIELD_OPTIONAL, NULL
#define KIND_ADDRESS   PLM_FIELD_ADDRESS, NULL
#define KIND_FLAG      PLM_FIELD_FLAG, NULL
#define KIND_TEXT      PLM_FIELD_TEXT, NULL
#define KIND_TEXT_ID   PLM_FIELD_TEXT_ID, NULL
#define KIND_NAME(set) PLM_FIELD_NAME, &values_##set
#define KIND_STREAM    PLM_FIELD_STREAM, NULL
#define KIND_CONTEXT   PLM_FIELD_CONTEXT, NULL
#define KIND_HIDDEN    PLM_FIELD_HIDDEN, NULL

#define EVENT(NAME, name, number, since, meaning) static const struct plm_field fields_##name[] = {
#define ROW(event, place, must, type, name, kind, meaning) \
    {#name, KIND_##kind, offsetof(struct bits_##event, name), BITS_##type, must, place, meaning},
#define EVENT_END(NAME, name) {0}} \
    ;
#include "record/events.def"

static const struct plm_record_event_row events[PLM_EV_TYPES] = {
#define EVENT(NAME, name, number, since, meaning) [number] = {#name, #NAME, since, meaning, fields_##name},
#define ROW(...)
#define EVENT_END(NAME, name)
#include "record/events.def"
};
/* clang-format on */

const struct plm_record_event_row *plm_record_event_row(enum plm_record_event_type type)
{
    return &events[type];
}

int plm_record_event_least(enum plm_record_event_type type, unsigned version)
{
    int bits = 0;
    if (!events[type].name || events[type].since > version)
        return -1;
    for (const struct plm_field *f = events[type].field; f->kind; f++)
        bits += f->must && f->must <= version ? f->bits : 0;
    return bits / 64;
}

const char *plm_field_value_name(const struct plm_field *f, uint64_t value)
{
    return f->values && value < f->values->count ? f->values->row[value].name : NULL;
}

bool plm_field_get(const struct plm_field *f, const uint64_t *words, unsigned count, uint64_t *value)
{
    if (f->bit + f->bits > count * 64u)
        return false;
    *value = words[f->bit / 64] >> f->bit % 64;
    if (f->bits < 64)
        *value &= (1ull << f->bits) - 1;
    return true;
}
