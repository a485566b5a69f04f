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

/* The names of the values of a field, from 0. */
#define NAMES(function, ...)                                                 \
    static const char *function(uint32_t value)                              \
    {                                                                        \
        static const char *const names[] = {__VA_ARGS__};                    \
        return value < sizeof names / sizeof names[0] ? names[value] : NULL; \
    }
NAMES(memory_name, "malloc", "vmm", "pool", "library")
NAMES(count_name, "none", "elements", "tensors", "reduction", "graph")
NAMES(batch_name, "one", "strided", "pointers")
NAMES(transpose_name, "n", "t", "c")
NAMES(convolution_name, "forward", "backward_data", "backward_filter")
NAMES(source_name, "unknown", "table", "formula", "off")
NAMES(rnn_name, "inference", "training", "backward_data", "backward_weights")
NAMES(attention_name, "forward", "backward")
NAMES(collective_name, "all_reduce", "reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all", "gather",
      "scatter", "send", "receive")
NAMES(direction_name, "host_to_host", "host_to_device", "device_to_host", "device_to_device", "peer", "fill")
NAMES(host_name, "none", "pageable", "pinned")
NAMES(sync_name, "device", "stream", "event", "stream_waits")

/* clang-format off: one field per item */
#define NUMBER(name, offset, bytes)         {name, PLM_FIELD_NUMBER, offset, bytes, NULL, 0, 0}
#define OPTIONAL(name, offset, bytes)       {name, PLM_FIELD_OPTIONAL, offset, bytes, NULL, 0, 0}
#define ADDRESS(name, offset)               {name, PLM_FIELD_ADDRESS, offset, 8, NULL, 0, 0}
#define FLAG(name, offset, bytes)           {name, PLM_FIELD_FLAG, offset, bytes, NULL, 0, 0}
#define TEXT(name, offset)                  {name, PLM_FIELD_TEXT, offset, 4, NULL, 0, 0}
#define NAME(name, offset, bytes, of)       {name, PLM_FIELD_NAME, offset, bytes, of, 0, 0}
#define BITS(name, offset, shift, bits, of) {name, PLM_FIELD_NAME, offset, 1, of, shift, bits}
#define STREAM(name, offset)                {name, PLM_FIELD_STREAM, offset, 4, NULL, 0, 0}
#define CAPTURED(name, offset)              {name, PLM_FIELD_CAPTURED, offset, 4, NULL, 0, 0}
/* Where in the program it happened: the number of the context, and what that says. */
#define CONTEXT(offset)                                                                                          \
    NUMBER("context", offset, 4), {"module", PLM_FIELD_MODULE, offset, 4, NULL, 0, 0},                           \
        {"op", PLM_FIELD_OPERATOR, offset, 4, NULL, 0, 0}, {"inner_op", PLM_FIELD_INNER, offset, 4, NULL, 0, 0}, \
        {"phase", PLM_FIELD_PHASE, offset, 4, NULL, 0, 0}
/* What all calls have first. Their streams are not those of blocks, which PyTorch numbers. */
#define CALL CONTEXT(0), NUMBER("cpu_ns", 4, 4), STREAM("cuda_stream", 8), NUMBER("graph", 12, 4)
/* An axis of a convolution. */
#define AXIS(n, at)                                                                      \
    NUMBER("in_" n, at, 4), NUMBER("out_" n, at + 4, 4), NUMBER("filter_" n, at + 8, 2), \
        NUMBER("stride_" n, at + 10, 2), NUMBER("dilation_" n, at + 12, 2), NUMBER("padding_" n, at + 14, 2)
/* clang-format on */

/* Fields of the same name are one column of a table, so a name means the same everywhere. */
static const struct plm_event_shape shapes[PLM_EV_TYPES] = {
    [PLM_EV_PROCESS] = {"process", {NUMBER("pid", 0, 8), NUMBER("parent_pid", 8, 8)}},
    [PLM_EV_TEXT] = {"text", {NUMBER("id", 0, 4), TEXT("value", 0)}},
    [PLM_EV_CONFIG] = {"config", {TEXT("key", 0), TEXT("value", 4)}},
    [PLM_EV_TIME] = {"time", {NUMBER("base_ns", 0, 8)}},
    [PLM_EV_BLOCK_ALLOC] = {"block_alloc",
                            {ADDRESS("address", 0), NUMBER("bytes", 8, 8), CONTEXT(16), STREAM("stream", 20),
                             CAPTURED("captured", 20), NUMBER("asked", 24, 8)}},
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
    [PLM_EV_PHASE] = {"phase", {NAME("phase", 0, 4, phase_name)}},
    [PLM_EV_MODULE] = {"module", {TEXT("module", 0), NAME("phase", 4, 4, phase_name)}},
    [PLM_EV_TAG] = {"tag",
                    {ADDRESS("address", 0), NAME("category", 8, 4, category_name), TEXT("owner", 12),
                     NUMBER("requested", 16, 8)}},
    [PLM_EV_LAUNCH] = {"launch",
                       {TEXT("name", 16), CALL, NUMBER("grid_x", 20, 4), NUMBER("grid_y", 24, 2),
                        NUMBER("grid_z", 26, 2), NUMBER("block_x", 28, 2), NUMBER("block_y", 30, 2),
                        NUMBER("block_z", 32, 2), NUMBER("shared_bytes", 36, 4), FLAG("routine", 35, 1),
                        NAME("counts", 34, 1, count_name), NUMBER("count", 40, 8), NUMBER("count_2", 48, 8)}},
    [PLM_EV_GEMM] = {"gemm",
                     {CALL, NUMBER("m", 16, 4), NUMBER("n", 20, 4), NUMBER("k", 24, 4), NUMBER("batch", 28, 4),
                      NUMBER("type_a", 32, 1), NUMBER("type_b", 33, 1), NUMBER("type_c", 34, 1),
                      NUMBER("type_d", 35, 1), NUMBER("compute", 36, 1), BITS("transpose_a", 37, 0, 2, transpose_name),
                      BITS("transpose_b", 37, 2, 2, transpose_name), BITS("batch_kind", 37, 4, 2, batch_name),
                      NUMBER("epilogue", 38, 2)}},
    [PLM_EV_CONVOLUTION] = {"convolution",
                            {NAME("operation", 16, 1, convolution_name), CALL, NUMBER("data_type", 17, 1),
                             FLAG("channels_last", 18, 1), NUMBER("axes", 19, 1), NUMBER("groups", 20, 4),
                             NUMBER("batch", 24, 4), NUMBER("in_channels", 28, 4), NUMBER("out_channels", 32, 4),
                             NAME("workspace_source", 36, 1, source_name), FLAG("tf32", 37, 1),
                             NUMBER("workspace_most_mib", 38, 2), NUMBER("workspace", 40, 8), AXIS("1", 48),
                             AXIS("2", 64), AXIS("3", 80)}},
    [PLM_EV_RNN] = {"rnn",
                    {NAME("operation", 16, 1, rnn_name), CALL, NUMBER("mode", 17, 1), NUMBER("data_type", 18, 1),
                     NUMBER("bias", 19, 1), NUMBER("layers", 20, 2), NUMBER("directions", 22, 2),
                     NUMBER("input_size", 24, 4), NUMBER("hidden_size", 28, 4), NUMBER("output_size", 32, 4),
                     NUMBER("steps", 36, 4), NUMBER("batch", 40, 4), NUMBER("rows", 44, 4), NUMBER("workspace", 48, 8),
                     NUMBER("reserve", 56, 8), FLAG("dropout", 64, 8)}},
    [PLM_EV_ATTENTION] = {"attention",
                          {NAME("operation", 16, 1, attention_name), CALL, NUMBER("data_type", 17, 1),
                           NUMBER("batch", 20, 4), NUMBER("heads", 24, 4), NUMBER("key_heads", 28, 4),
                           NUMBER("queries", 32, 4), NUMBER("keys", 36, 4), NUMBER("head_size", 40, 4),
                           NUMBER("value_size", 44, 4), NUMBER("workspace", 48, 8)}},
    [PLM_EV_COLLECTIVE] = {"collective",
                           {NAME("operation", 16, 1, collective_name), CALL, NUMBER("data_type", 17, 1),
                            OPTIONAL("reduction", 18, 1), NUMBER("ranks", 20, 4), NUMBER("rank", 24, 4),
                            OPTIONAL("root", 28, 4), NUMBER("count", 32, 8)}},
    [PLM_EV_COPY] = {"copy",
                     {NAME("operation", 32, 1, direction_name), CALL, NUMBER("bytes", 16, 8), ADDRESS("address", 24),
                      NAME("host", 33, 1, host_name), FLAG("async", 34, 1)}},
    [PLM_EV_SYNC] = {"sync", {NAME("operation", 16, 4, sync_name), CALL, STREAM("event_stream", 20)}},
};

const struct plm_event_shape *plm_event_shape(enum plm_event_type type)
{
    return &shapes[type];
}

const char *plm_field_kind_name(enum plm_field_kind kind)
{
    static const char *const names[PLM_FIELD_KINDS] = {
        [PLM_FIELD_NONE] = "",           [PLM_FIELD_NUMBER] = "number", [PLM_FIELD_OPTIONAL] = "number",
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
    if (field->bits)
        *raw = *raw >> field->shift & ((1u << field->bits) - 1);
    return true;
}
