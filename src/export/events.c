#include "export/events.h"

#include <assert.h>

static void column_add(struct plm_event_shape *s, const char *name, enum plm_column_kind kind,
                       const struct plm_field *field)
{
    assert(s->columns < PLM_COLUMNS_MAX);
    s->column[s->columns++] = (struct plm_column){name, kind, field};
}

/* Columns of the same name are one in a table, so a name means the same everywhere. */
static void field_add(struct plm_event_shape *s, const struct plm_field *field)
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

const struct plm_event_shape *plm_event_shape(enum plm_event_type type)
{
    static struct plm_event_shape shapes[PLM_EV_TYPES];
    struct plm_event_shape *s = &shapes[type];
    const struct plm_event_row *row = plm_event_row(type);
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
