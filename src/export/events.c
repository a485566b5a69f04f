#include "export/events.h"

#include <string.h>

#include "analysis/job.h"

static const char *phase_name(uint32_t value)
{
    return value < PLM_PHASES ? plm_phase_name((enum plm_phase)value) : NULL;
}

static const char *category_name(uint32_t value)
{
    return value < PLM_CATEGORIES ? plm_category_name((enum plm_category)value) : NULL;
}

static const char *memory_name(uint32_t value)
{
    static const char *const names[] = {
        [PLM_RECORD_MALLOC] = "malloc",
        [PLM_RECORD_VMM] = "vmm",
        [PLM_RECORD_POOL] = "pool",
        [PLM_RECORD_LIBRARY] = "library",
    };
    return value < sizeof names / sizeof names[0] ? names[value] : NULL;
}

#define NUMBER(name, offset, bytes)   {name, PLM_FIELD_NUMBER, offset, bytes, NULL}
#define ADDRESS(name, offset)         {name, PLM_FIELD_ADDRESS, offset, 8, NULL}
#define FLAG(name, offset, bytes)     {name, PLM_FIELD_FLAG, offset, bytes, NULL}
#define TEXT(name, offset)            {name, PLM_FIELD_TEXT, offset, 4, NULL}
#define NAME(name, offset, bytes, of) {name, PLM_FIELD_NAME, offset, bytes, of}
/* Where in the program it happened: the number of the context, and what that says. */
#define CONTEXT(offset)                                                                              \
    {"context", PLM_FIELD_NUMBER, offset, 4, NULL}, {"module", PLM_FIELD_MODULE, offset, 4, NULL},   \
        {"op", PLM_FIELD_OPERATOR, offset, 4, NULL}, {"inner_op", PLM_FIELD_INNER, offset, 4, NULL}, \
    {                                                                                                \
        "phase", PLM_FIELD_PHASE, offset, 4, NULL                                                    \
    }
#define STREAM(offset)                                  \
    {"stream", PLM_FIELD_STREAM, offset, 4, NULL},      \
    {                                                   \
        "captured", PLM_FIELD_CAPTURED, offset, 4, NULL \
    }

/* Fields of the same name are one column of a table, so a name means the same everywhere. */
static const struct plm_event_shape shapes[PLM_EV_TYPES] = {
    [PLM_EV_PROCESS] = {"process", {NUMBER("pid", 0, 8), NUMBER("parent_pid", 8, 8)}},
    [PLM_EV_TEXT] = {"text", {NUMBER("id", 0, 4), TEXT("value", 0)}},
    [PLM_EV_CONFIG] = {"config", {TEXT("key", 0), TEXT("value", 4)}},
    [PLM_EV_TIME] = {"time", {NUMBER("base_ns", 0, 8)}},
    [PLM_EV_BLOCK_ALLOC] = {"block_alloc", {ADDRESS("address", 0), NUMBER("bytes", 8, 8), CONTEXT(16), STREAM(20)}},
    [PLM_EV_BLOCK_FREE] = {"block_free", {ADDRESS("address", 0), NUMBER("bytes", 8, 8)}},
    [PLM_EV_RESERVED] = {"reserved", {NUMBER("bytes", 0, 8)}},
    [PLM_EV_MEMORY_ALLOC] = {"memory_alloc",
                             {ADDRESS("address", 0), NUMBER("bytes", 8, 8), NAME("kind", 16, 4, memory_name),
                              TEXT("owner", 20)}},
    [PLM_EV_MEMORY_FREE] = {"memory_free",
                            {ADDRESS("address", 0), NUMBER("bytes", 8, 8), NAME("kind", 16, 4, memory_name),
                             TEXT("owner", 20)}},
    [PLM_EV_STEP] = {"step", {NUMBER("step", 0, 4), NUMBER("optimizers", 4, 4)}},
    [PLM_EV_REFUSED] = {"refused", {TEXT("library", 0), TEXT("symbol", 4)}},
    [PLM_EV_READBACK] = {"readback", {NUMBER("bytes", 0, 8), TEXT("op", 8)}},
    [PLM_EV_NOTE] = {"note", {TEXT("key", 0), TEXT("value", 4)}},
    [PLM_EV_OOM] = {"oom", {NUMBER("bytes", 0, 8), NUMBER("in_use", 8, 8)}},
    [PLM_EV_LAUNCHES] = {"launches", {NUMBER("launches", 0, 8)}},
    [PLM_EV_END] = {"end", {{0}}},
    [PLM_EV_CONTEXT] = {"context",
                        {NUMBER("context", 0, 4), TEXT("module", 4), TEXT("op", 8), TEXT("inner_op", 12),
                         NAME("phase", 16, 4, phase_name)}},
    [PLM_EV_PHASE] = {"phase", {NAME("phase", 0, 4, phase_name), FLAG("begins", 4, 4)}},
    [PLM_EV_MODULE] = {"module", {TEXT("module", 0), NAME("phase", 4, 4, phase_name)}},
    [PLM_EV_TAG] = {"tag",
                    {ADDRESS("address", 0), NAME("category", 8, 4, category_name), TEXT("owner", 12),
                     NUMBER("requested", 16, 8)}},
    [PLM_EV_LAUNCH] = {"launch", {{0}}},
    [PLM_EV_GEMM] = {"gemm", {{0}}},
    [PLM_EV_CONVOLUTION] = {"convolution", {{0}}},
    [PLM_EV_RNN] = {"rnn", {{0}}},
    [PLM_EV_ATTENTION] = {"attention", {{0}}},
    [PLM_EV_COLLECTIVE] = {"collective", {{0}}},
    [PLM_EV_COPY] = {"copy", {{0}}},
    [PLM_EV_SYNC] = {"sync", {{0}}},
};

const struct plm_event_shape *plm_event_shape(enum plm_event_type type)
{
    return &shapes[type];
}

const char *plm_field_kind_name(enum plm_field_kind kind)
{
    static const char *const names[PLM_FIELD_KINDS] = {
        [PLM_FIELD_NONE] = "",           [PLM_FIELD_NUMBER] = "number", [PLM_FIELD_SIGNED] = "number",
        [PLM_FIELD_ADDRESS] = "address", [PLM_FIELD_FLAG] = "flag",     [PLM_FIELD_TEXT] = "text",
        [PLM_FIELD_NAME] = "text",       [PLM_FIELD_STREAM] = "number", [PLM_FIELD_CAPTURED] = "flag",
        [PLM_FIELD_MODULE] = "text",     [PLM_FIELD_OPERATOR] = "text", [PLM_FIELD_INNER] = "text",
        [PLM_FIELD_PHASE] = "text",
    };
    return names[kind];
}

bool plm_field_raw(const struct plm_field *field, const struct plm_record_event *event, uint64_t *raw)
{
    if (field->offset + field->bytes > event->count * 8u)
        return false;
    *raw = 0;
    memcpy(raw, (const char *)event->words + field->offset, field->bytes); /* little-endian, as the record */
    return true;
}
