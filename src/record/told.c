#include "record/told.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/overhead.h"
#include "record/fields.h"

/* ---- text of versions 1 and 2 ---- */

static uint64_t number(const char *text)
{
    return strtoull(text, NULL, 10);
}

/* "cublas,cudnn", up to a blank */
static uint32_t old_libraries(const char *text)
{
    uint32_t bits = 0;
    while (*text && *text != ' ') {
        size_t word = strcspn(text, ", ");
        for (int i = 0; i < PLM_OVERHEAD_LIBRARIES; i++) {
            const char *name = plm_overhead_library_name((enum plm_overhead_library)i);
            if (strlen(name) == word && !strncmp(text, name, word))
                bits |= 1u << i;
        }
        text += word;
        text += *text == ',';
    }
    return bits;
}

/* "sms=28 threads=1536 loading=lazy code=359928 ... libraries=cublas,cudnn"; unknown words are skipped. */
static bool old_footprint(struct plm_told *t, const char *text)
{
    struct plm_ev_footprint *f = &t->footprint;
    const struct {
        const char *name;
        uint64_t *value;
    } rows[] = {{"code=", &f->code},           {"kernels=", &f->kernels}, {"guessed=", &f->guessed},
                {"printf=", &f->printf_bytes}, {"heap=", &f->heap_bytes}, {"graphs=", &f->graph_nodes},
                {"stack=", &f->stack_bytes}};
    for (; *text; text += strcspn(text, " "), text += strspn(text, " ")) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            if (!strncmp(text, rows[i].name, strlen(rows[i].name)))
                *rows[i].value = number(text + strlen(rows[i].name));
        if (!strncmp(text, "sms=", 4))
            f->sms = plm_ev_u32((int64_t)(number(text + 4) & INT64_MAX));
        else if (!strncmp(text, "threads=", 8))
            f->threads = plm_ev_u32((int64_t)(number(text + 8) & INT64_MAX));
        else if (!strncmp(text, "loading=", 8))
            f->eager = !strncmp(text + 8, "eager", 5);
        else if (!strncmp(text, "libraries=", 10))
            f->libraries = old_libraries(text + 10);
    }
    return true;
}

/* "nccl 19285606 1543503872" */
static bool old_range(struct plm_told *t, const char *text)
{
    size_t length = strcspn(text, " ");
    char *end;
    if (!length || length >= 24)
        return false;
    snprintf(t->text, sizeof t->text, "%.*s", (int)length, text);
    t->range.low = strtoull(text + length, &end, 10);
    t->range.high = number(end);
    return true;
}

/* "BYTES LOW HIGH SOURCE" */
static bool old_context(struct plm_told *t, const char *text)
{
    char *at;
    t->context.bytes = strtoull(text, &at, 10);
    t->context.low = strtoull(at, &at, 10);
    t->context.high = strtoull(at, &at, 10);
    snprintf(t->text, sizeof t->text, "%s", at + strspn(at, " "));
    return true;
}

/* "LOW HIGH" */
static bool old_stack(struct plm_told *t, const char *text)
{
    char *end;
    t->stack.low = strtoull(text, &end, 10);
    t->stack.high = number(end);
    return true;
}

/* "ALLOCATED RESERVED" */
static bool old_other_end(struct plm_told *t, const char *text)
{
    char *end;
    t->other_end.allocated = strtoull(text, &end, 10);
    t->other_end.reserved = number(end);
    return true;
}

/* "context[3]" is of device 3, "other-end[1,0]" of rank 1, device 0, "stack-usable" of a figure. */
static const struct old_key {
    const char *begin, *end;
    enum plm_record_event_type type;
    bool (*read)(struct plm_told *, const char *);
} keys[] = {
    {"context[", "]", PLM_EV_FOOTPRINT, old_footprint},   {"range[", "]", PLM_EV_LIBRARY_RANGE, old_range},
    {"context", "", PLM_EV_CONTEXT_MEMORY, old_context},  {"stack-", "", PLM_EV_STACK_MEMORY, old_stack},
    {"other-end[", "]", PLM_EV_OTHER_END, old_other_end},
};

/* What stands between the two ends of a key. */
static bool old_name(struct plm_told *t, const struct old_key *key, const char *name)
{
    char *end = (char *)name;
    unsigned long device = 0;
    if (key->type == PLM_EV_STACK_MEMORY) {
        while (t->stack.figure < PLM_STACK_MEMORIES && strcmp(name, plm_value_stack_memory(t->stack.figure)) != 0)
            t->stack.figure++;
        return t->stack.figure < PLM_STACK_MEMORIES;
    }
    if (key->type == PLM_EV_OTHER_END) {
        t->other_end.rank = (uint32_t)strtoul(name, &end, 10);
        if (*end != ',')
            return false;
        name = end + 1;
    }
    if (*key->end) {
        device = strtoul(name, &end, 10);
        if (end == name)
            return false;
    }
    t->device = (int)device;
    return device <= UINT16_MAX && !strcmp(end, key->end);
}

static bool old_config(const struct plm_record *record, const struct plm_record_event *e, struct plm_told *t)
{
    const struct plm_ev_config said = plm_get_config(e);
    const char *key = plm_record_string(record, e->process, said.key);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        *t = (struct plm_told){.type = keys[i].type};
        if (!strncmp(key, keys[i].begin, strlen(keys[i].begin)) && old_name(t, &keys[i], key + strlen(keys[i].begin)))
            return keys[i].read(t, plm_record_string(record, e->process, said.value));
    }
    return false;
}

/* ---- version 3 ---- */

bool plm_record_told(const struct plm_record *record, const struct plm_record_event *e, struct plm_told *t)
{
    uint32_t text = 0;
    if (e->type == PLM_EV_CONFIG)
        return plm_record_info(record).version < 3 && old_config(record, e, t);
    *t = (struct plm_told){.type = e->type, .device = e->device};
    switch (e->type) {
    case PLM_EV_FOOTPRINT: t->footprint = plm_get_footprint(e); break;
    case PLM_EV_LIBRARY_RANGE:
        t->range = plm_get_library_range(e);
        text = t->range.library;
        break;
    case PLM_EV_CONTEXT_MEMORY:
        t->context = plm_get_context_memory(e);
        text = t->context.source;
        break;
    case PLM_EV_STACK_MEMORY: t->stack = plm_get_stack_memory(e); break;
    case PLM_EV_OTHER_END: t->other_end = plm_get_other_end(e); break;
    default: return false;
    }
    snprintf(t->text, sizeof t->text, "%s", plm_record_string(record, e->process, text));
    return true;
}
