#include "export/values.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/out.h"

/* ---- columns ---- */

static void column_add(struct plm_export_event_shape *s, const char *name, enum plm_column_kind kind,
                       const struct plm_field *field)
{
    assert(s->columns < PLM_COLUMNS_MAX);
    s->column[s->columns++] = (struct plm_column){name, kind, field};
}

/* Columns of the same name are one in a table, so a name means the same everywhere. */
static void field_add(struct plm_export_event_shape *s, const struct plm_field *field)
{
    column_add(s, field->name, PLM_COLUMN_FIELD, field);
    if (field->kind == PLM_FIELD_TEXT_ID)
        column_add(s, "value", PLM_COLUMN_STRING, field);
    if (field->kind != PLM_FIELD_CONTEXT)
        return;
    column_add(s, "module", PLM_COLUMN_MODULE, field);
    column_add(s, "op", PLM_COLUMN_OPERATOR, field);
    column_add(s, "inner_op", PLM_COLUMN_INNER, field);
    column_add(s, "phase", PLM_COLUMN_PHASE, field);
}

const struct plm_export_event_shape *plm_export_event_shape(enum plm_record_event_type type)
{
    static struct plm_export_event_shape shapes[PLM_EV_TYPES];
    struct plm_export_event_shape *s = &shapes[type];
    const struct plm_record_event_row *row = plm_record_event_row(type);
    int shown = 0, place = 0;
    if (s->name)
        return s;
    s->name = row->name;
    for (const struct plm_field *f = row->field; f->kind; f++)
        shown += f->kind != PLM_FIELD_HIDDEN;
    for (; shown; place++)
        for (const struct plm_field *f = row->field; f->kind; f++)
            if (f->place == place && f->kind != PLM_FIELD_HIDDEN) {
                field_add(s, f);
                shown--;
            }
    return s;
}

const char *plm_column_type(const struct plm_column *column)
{
    static const char *const names[] = {
        [PLM_FIELD_NUMBER] = "number", [PLM_FIELD_OPTIONAL] = "number", [PLM_FIELD_ADDRESS] = "address",
        [PLM_FIELD_FLAG] = "flag",     [PLM_FIELD_TEXT] = "text",       [PLM_FIELD_TEXT_ID] = "number",
        [PLM_FIELD_NAME] = "text",     [PLM_FIELD_STREAM] = "number",   [PLM_FIELD_CONTEXT] = "number",
    };
    return column->kind == PLM_COLUMN_FIELD ? names[column->field->kind] : "text";
}

/* ---- values ---- */

void plm_export_values_begin(struct plm_export_values *v, struct plm_record *record)
{
    *v = (struct plm_export_values){.record = record};
}

void plm_export_values_free(struct plm_export_values *v)
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

struct plm_text plm_export_values_text(struct plm_export_values *v, uint32_t process, uint32_t id)
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

void plm_export_values_see(struct plm_export_values *v, const struct plm_record_event *e)
{
    struct plm_ev_context c;
    const char *phase;
    if (e->type != PLM_EV_CONTEXT)
        return;
    c = plm_get_context(e);
    phase = plm_value_phase(c.phase);
    v->context = plm_grow(v->context, v->context_count, &v->context_room, sizeof *v->context);
    v->context[v->context_count] = (struct plm_export_values_context){
        plm_export_values_text(v, e->process, c.module),
        plm_export_values_text(v, e->process, c.op),
        plm_export_values_text(v, e->process, c.inner_op),
        text_of(phase ? phase : ""),
    };
    plm_map_put(&v->contexts, key_of(e->process, c.context), v->context_count++);
}

static struct plm_export_value as_text(struct plm_text text)
{
    return (struct plm_export_value){.type = text.length ? PLM_VALUE_TEXT : PLM_VALUE_ABSENT, .text = text};
}

static struct plm_export_value as_number(enum plm_export_value_type type, uint64_t number)
{
    return (struct plm_export_value){.type = type, .number = number};
}

static struct plm_export_value of_context(const struct plm_export_values *v, enum plm_column_kind kind,
                                          uint32_t process, uint32_t id)
{
    static const struct plm_export_values_context nothing;
    const uint64_t found = plm_map_get(&v->contexts, key_of(process, id));
    const struct plm_export_values_context *c = found == PLM_MAP_NONE ? &nothing : &v->context[found];
    switch (kind) {
    case PLM_COLUMN_MODULE: return as_text(c->module);
    case PLM_COLUMN_OPERATOR: return as_text(c->outer);
    case PLM_COLUMN_INNER: return as_text(c->inner);
    default: return as_text(c->phase);
    }
}

static struct plm_export_value of_field(struct plm_export_values *v, const struct plm_field *field, uint32_t process,
                                        uint64_t raw)
{
    const char *name;
    switch (field->kind) {
    case PLM_FIELD_OPTIONAL:
        return as_number(raw == UINT64_MAX >> (64 - field->bits) ? PLM_VALUE_ABSENT : PLM_VALUE_NUMBER, raw);
    case PLM_FIELD_ADDRESS: return as_number(PLM_VALUE_ADDRESS, raw);
    case PLM_FIELD_FLAG: return as_number(PLM_VALUE_FLAG, raw != 0);
    case PLM_FIELD_TEXT: return as_text(plm_export_values_text(v, process, (uint32_t)raw));
    case PLM_FIELD_NAME:
        name = plm_field_value_name(field, raw);
        return name ? as_text(text_of(name)) : as_number(PLM_VALUE_NUMBER, raw);
    case PLM_FIELD_STREAM: return as_number(raw == PLM_STREAM_UNKNOWN ? PLM_VALUE_ABSENT : PLM_VALUE_NUMBER, raw);
    default: return as_number(PLM_VALUE_NUMBER, raw);
    }
}

struct plm_export_value plm_export_values_get(struct plm_export_values *v, const struct plm_column *column,
                                              const struct plm_record_event *e)
{
    uint64_t raw;
    if (!plm_field_get(column->field, e->words, e->count, &raw))
        return as_number(PLM_VALUE_ABSENT, 0);
    switch (column->kind) {
    case PLM_COLUMN_FIELD: return of_field(v, column->field, e->process, raw);
    case PLM_COLUMN_STRING: return as_text(plm_export_values_text(v, e->process, (uint32_t)raw));
    default: return of_context(v, column->kind, e->process, (uint32_t)raw);
    }
}

void plm_text_json(struct plm_out *out, const struct plm_text *text)
{
    if (!text->plain) {
        plm_out_json(out, text->bytes);
        return;
    }
    plm_out_byte(out, '"');
    plm_out_bytes(out, text->bytes, text->length);
    plm_out_byte(out, '"');
}

void plm_export_value_json(struct plm_out *out, const struct plm_export_value *value)
{
    switch (value->type) {
    case PLM_VALUE_ABSENT: break;
    case PLM_VALUE_NUMBER: plm_out_u64(out, value->number); break;
    case PLM_VALUE_FLAG: plm_out_text(out, value->number ? "true" : "false"); break;
    case PLM_VALUE_ADDRESS:
        plm_out_byte(out, '"');
        plm_out_hex(out, value->number);
        plm_out_byte(out, '"');
        break;
    case PLM_VALUE_TEXT: plm_text_json(out, &value->text);
    }
}
