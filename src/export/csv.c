/*
 * CSV (RFC 4180): one row per event, one column per field name of the event table. Fields that an event
 * does not have are empty.
 */
#include "common/error.h"
#include "base/memory.h"
#include "export/export.h"
#include "export/out.h"
#include "export/values.h"

enum { COLUMNS_MAX = 256 };

struct table {
    struct plm_out *out;
    struct plm_export_values values;
    const char *column[COLUMNS_MAX];
    int columns;
    /* per type, its fields in the order of the columns */
    struct cell {
        int column;
        const struct plm_column *what;
    } cell[PLM_EV_TYPES][PLM_COLUMNS_MAX];
    int cells[PLM_EV_TYPES];
};

static int column_of(struct table *t, const char *name)
{
    for (int i = 0; i < t->columns; i++)
        if (!strcmp(t->column[i], name))
            return i;
    if (t->columns == COLUMNS_MAX - 1)
        return -1;
    t->column[t->columns] = name;
    return t->columns++;
}

static void add_cell(struct table *t, int type, const struct plm_column *what)
{
    const int column = column_of(t, what->name);
    int at = t->cells[type]++;
    for (; at > 0 && t->cell[type][at - 1].column > column; at--)
        t->cell[type][at] = t->cell[type][at - 1];
    t->cell[type][at] = (struct cell){column, what};
}

static void lay_out(struct table *t)
{
    for (int type = 1; type < PLM_EV_TYPES; type++)
        for (const struct plm_column *c = plm_export_event_shape((enum plm_record_event_type)type)->column; c->kind;
             c++)
            add_cell(t, type, c);
    plm_out_text(t->out, "time_ns,process,thread,device,event");
    for (int i = 0; i < t->columns; i++) {
        plm_out_byte(t->out, ',');
        plm_out_text(t->out, t->column[i]);
    }
    plm_out_text(t->out, ",words\r\n");
}

static void put_value(struct plm_out *out, const struct plm_export_value *value)
{
    switch (value->type) {
    case PLM_VALUE_ABSENT: break;
    case PLM_VALUE_NUMBER:
    case PLM_VALUE_FLAG: plm_out_u64(out, value->number); break;
    case PLM_VALUE_ADDRESS: plm_out_hex(out, value->number); break;
    case PLM_VALUE_TEXT:
        if (value->text.plain && !strchr("=+-@'", value->text.bytes[0]))
            plm_out_bytes(out, value->text.bytes, value->text.length);
        else
            plm_out_csv(out, value->text.bytes);
    }
}

static void put_commas(struct plm_out *out, int count)
{
    static const char commas[COLUMNS_MAX] = {[0 ... COLUMNS_MAX - 1] = ','};
    plm_out_bytes(out, commas, (size_t)count);
}

static int put_row(const struct plm_record_event *e, void *context)
{
    struct table *t = context;
    struct plm_out *out = t->out;
    const struct cell *cell = t->cell[e->type];
    int column = -1;

    plm_export_values_see(&t->values, e);
    plm_out_u64(out, e->time_ns);
    plm_out_byte(out, ',');
    plm_out_u64(out, e->process);
    plm_out_byte(out, ',');
    plm_out_u64(out, e->tid);
    plm_out_byte(out, ',');
    plm_out_u64(out, e->device);
    plm_out_byte(out, ',');
    plm_out_text(out, plm_export_event_shape(e->type)->name);
    for (int i = 0; i < t->cells[e->type]; i++) {
        struct plm_export_value value = plm_export_values_get(&t->values, cell[i].what, e);
        put_commas(out, cell[i].column - column);
        column = cell[i].column;
        put_value(out, &value);
    }
    put_commas(out, t->columns - column);
    for (unsigned i = 0; !t->cells[e->type] && i < e->count; i++) {
        if (i)
            plm_out_byte(out, ' ');
        plm_out_hex(out, e->words[i]);
    }
    plm_out_bytes(out, "\r\n", 2);
    return out->failure ? PLM_EIO : 0;
}

int plm_export_csv(const struct plm_export *export, struct plm_error *error)
{
    struct table *t = plm_calloc(1, sizeof *t);
    int status;
    t->out = export->out;
    plm_export_values_begin(&t->values, export->record);
    lay_out(t);
    status = plm_record_each(export->record, put_row, t, error);
    plm_export_values_free(&t->values);
    free(t);
    return status;
}
