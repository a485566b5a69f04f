/* JSON Lines: one object per event, with the fields of the event table that it has. */
#include "common/error.h"
#include "export/export.h"
#include "export/out.h"
#include "export/values.h"

struct lines {
    struct plm_out *out;
    struct plm_export_values values;
};

static void put_field(struct plm_out *out, const char *name, const struct plm_export_value *value)
{
    if (value->type == PLM_VALUE_ABSENT)
        return;
    plm_out_bytes(out, ",\"", 2);
    plm_out_text(out, name);
    plm_out_bytes(out, "\":", 2);
    plm_export_value_json(out, value);
}

static void put_words(struct plm_out *out, const struct plm_record_event *e)
{
    plm_out_text(out, ",\"words\":[");
    for (unsigned i = 0; i < e->count; i++) {
        plm_out_text(out, i ? ",\"" : "\"");
        plm_out_hex(out, e->words[i]);
        plm_out_byte(out, '"');
    }
    plm_out_byte(out, ']');
}

static int put_line(const struct plm_record_event *e, void *context)
{
    struct lines *l = context;
    struct plm_out *out = l->out;
    const struct plm_export_event_shape *shape = plm_export_event_shape(e->type);

    plm_export_values_see(&l->values, e);
    plm_out_text(out, "{\"time_ns\":");
    plm_out_u64(out, e->time_ns);
    plm_out_text(out, ",\"process\":");
    plm_out_u64(out, e->process);
    plm_out_text(out, ",\"thread\":");
    plm_out_u64(out, e->tid);
    plm_out_text(out, ",\"device\":");
    plm_out_u64(out, e->device);
    plm_out_text(out, ",\"event\":\"");
    plm_out_text(out, shape->name);
    plm_out_byte(out, '"');
    for (const struct plm_column *c = shape->column; c->kind; c++) {
        struct plm_export_value value = plm_export_values_get(&l->values, c, e);
        put_field(out, c->name, &value);
    }
    if (!shape->columns && e->count)
        put_words(out, e);
    plm_out_bytes(out, "}\n", 2);
    return out->failure ? PLM_EIO : 0;
}

int plm_export_jsonl(const struct plm_export *export, struct plm_error *error)
{
    struct lines l = {.out = export->out};
    int status;
    plm_export_values_begin(&l.values, export->record);
    status = plm_record_each(export->record, put_line, &l, error);
    plm_export_values_free(&l.values);
    return status;
}
