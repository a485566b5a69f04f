#include "export/values.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void plm_values_begin(struct plm_values *v, struct plm_record *record)
{
    *v = (struct plm_values){.record = record};
}

void plm_values_free(struct plm_values *v)
{
    plm_map_free(&v->texts);
    plm_map_free(&v->contexts);
    free(v->text);
    free(v->context);
}

static uint64_t key_of(uint32_t process, uint32_t id)
{
    return (uint64_t)process << 32 | id;
}

static struct plm_text text_of(const char *bytes)
{
    struct plm_text t = {bytes, (uint32_t)strlen(bytes), true};
    for (const char *p = bytes; *p && t.plain; p++)
        t.plain = *p >= 0x20 && *p < 0x7f && *p != '"' && *p != '\\' && *p != ',';
    return t;
}

struct plm_text plm_values_text(struct plm_values *v, uint32_t process, uint32_t id)
{
    const uint64_t key = key_of(process, id), found = plm_map_get(&v->texts, key);
    struct plm_text t;
    if (found != PLM_MAP_NONE)
        return v->text[found];
    t = text_of(plm_record_string(v->record, process, id));
    v->text = plm_grow(v->text, v->text_count, &v->text_room, sizeof *v->text);
    plm_map_put(&v->texts, key, v->text_count);
    v->text[v->text_count++] = t;
    return t;
}

void plm_values_see(struct plm_values *v, const struct plm_record_event *e)
{
    uint32_t id, phase;
    const char *name = "";
    if (e->type != PLM_EV_CONTEXT)
        return;
    v->context = plm_grow(v->context, v->context_count, &v->context_room, sizeof *v->context);
    id = (uint32_t)e->words[0];
    phase = (uint32_t)e->words[2];
    if (phase < PLM_PHASES)
        name = plm_event_shape(PLM_EV_PHASE)->field[0].value_name(phase);
    v->context[v->context_count] = (struct plm_values_context){
        plm_values_text(v, e->process, (uint32_t)(e->words[0] >> 32)),
        plm_values_text(v, e->process, (uint32_t)e->words[1]),
        plm_values_text(v, e->process, (uint32_t)(e->words[1] >> 32)),
        text_of(name),
    };
    plm_map_put(&v->contexts, key_of(e->process, id), v->context_count++);
}

const struct plm_values_context *plm_values_context(const struct plm_values *v, uint32_t process, uint32_t id)
{
    uint64_t found = plm_map_get(&v->contexts, key_of(process, id));
    return found == PLM_MAP_NONE ? NULL : &v->context[found];
}

static struct plm_value as_text(struct plm_text text)
{
    return (struct plm_value){.type = text.length ? PLM_VALUE_TEXT : PLM_VALUE_ABSENT, .text = text};
}

static struct plm_value as_number(enum plm_value_type type, uint64_t number)
{
    return (struct plm_value){.type = type, .number = number};
}

static struct plm_value of_context(const struct plm_values *v, const struct plm_field *field, uint32_t process,
                                   uint32_t id)
{
    static const struct plm_values_context nothing;
    const struct plm_values_context *c = plm_values_context(v, process, id);
    if (!c)
        c = &nothing;
    switch (field->kind) {
    case PLM_FIELD_MODULE: return as_text(c->module);
    case PLM_FIELD_OPERATOR: return as_text(c->outer);
    case PLM_FIELD_INNER: return as_text(c->inner);
    default: return as_text(c->phase);
    }
}

struct plm_value plm_values_get(struct plm_values *v, const struct plm_field *field, const struct plm_record_event *e)
{
    uint64_t raw;
    const char *name;
    if (!plm_field_raw(field, e, &raw))
        return as_number(PLM_VALUE_ABSENT, 0);
    switch (field->kind) {
    case PLM_FIELD_NUMBER: return as_number(PLM_VALUE_NUMBER, raw);
    case PLM_FIELD_OPTIONAL:
        return as_number(raw == UINT64_MAX >> (64 - 8 * field->bytes) ? PLM_VALUE_ABSENT : PLM_VALUE_NUMBER, raw);
    case PLM_FIELD_ADDRESS: return as_number(PLM_VALUE_ADDRESS, raw);
    case PLM_FIELD_FLAG: return as_number(PLM_VALUE_FLAG, raw != 0);
    case PLM_FIELD_TEXT: return as_text(plm_values_text(v, e->process, (uint32_t)raw));
    case PLM_FIELD_NAME:
        name = field->value_name((uint32_t)raw);
        return name ? as_text(text_of(name)) : as_number(PLM_VALUE_NUMBER, raw);
    case PLM_FIELD_STREAM:
        raw &= PLM_STREAM_UNKNOWN;
        return as_number(raw == PLM_STREAM_UNKNOWN ? PLM_VALUE_ABSENT : PLM_VALUE_NUMBER, raw);
    case PLM_FIELD_CAPTURED: return as_number(PLM_VALUE_FLAG, (raw & PLM_STREAM_CAPTURED) != 0);
    default: return of_context(v, field, e->process, (uint32_t)raw);
    }
}
