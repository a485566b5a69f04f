/*
 * record_doc FILE: fails if the part of docs/record.md that is made of record/events.def is not what the table says;
 * record_doc --write FILE puts it right. A build tool; not installed.
 */
#include <stdio.h>

#include "gen/doc.h"
#include "record/fields.h"

/* "may be absent", if the payload of a version that has the event may end before the field. */
static const char *presence(const struct plm_field *f, unsigned since)
{
    static char text[64];
    if (!f->must)
        return "*May be absent.* ";
    if (f->must <= since)
        return "";
    snprintf(text, sizeof text, "*Must be there from version %u on.* ", f->must);
    return text;
}

static void put_field(FILE *out, const struct plm_field *f, unsigned since)
{
    fprintf(out, "| %u | ", f->bit / 8);
    if (f->bits % 8)
        fprintf(out, "%u bit%s from bit %u", f->bits, f->bits == 1 ? "" : "s", f->bit % (f->bits > 8 ? 32 : 8));
    else
        fprintf(out, "u%u", f->bits);
    fprintf(out, " | %s | %s", f->name, presence(f, since));
    if (f->kind == PLM_FIELD_TEXT)
        fprintf(out, "text%s", *f->meaning ? ": " : "");
    if (f->kind == PLM_FIELD_FLAG)
        fprintf(out, "not 0%s", *f->meaning ? ": " : "");
    fprintf(out, "%s", f->meaning);
    if (f->values) {
        fprintf(out, "%s", *f->meaning ? ": " : "");
        for (unsigned i = 0; i < f->values->count; i++)
            fprintf(out, "%s%u %s%s%s%s", i ? ", " : "", i, f->values->row[i].name,
                    *f->values->row[i].meaning ? " (" : "", f->values->row[i].meaning,
                    *f->values->row[i].meaning ? ")" : "");
    }
    fputs(" |\n", out);
}

static void put_fields(FILE *out, const struct plm_field *first, const struct plm_field *last, unsigned since)
{
    fputs("| offset | type | field | meaning |\n|---|---|---|---|\n", out);
    for (const struct plm_field *f = first; f < last; f++)
        put_field(out, f, since);
}

enum { CALL_FIELDS = 4 };

static void put_event(FILE *out, int type, const struct plm_record_event_row *row)
{
    const bool call = plm_record_event_is_call((unsigned)type);
    const struct plm_field *first = row->field + (call ? CALL_FIELDS : 0), *last = first;
    char text[1024];
    while (last->kind)
        last++;
    snprintf(text, sizeof text, "Type %d, since version %u: %s.%s", type, row->since, row->meaning,
             call ? " After what all [calls](#calls) have first:" : "");
    fprintf(out, "\n### %s\n\n", row->title);
    plm_doc_paragraph(out, text);
    if (first == last)
        return;
    fputc('\n', out);
    put_fields(out, first, last, row->since);
}

static void put_all(FILE *out)
{
    const struct plm_record_event_row *launch = plm_record_event_row(PLM_EV_LAUNCH);
    fputs("\n| type | name | since version | meaning |\n|---|---|---|---|\n", out);
    for (int type = 1; type < PLM_EV_TYPES; type++) {
        const struct plm_record_event_row *row = plm_record_event_row((enum plm_record_event_type)type);
        fprintf(out, "| %d | [%s](#%s) | %u | %s |\n", type, row->title, row->name, row->since, row->meaning);
    }
    for (int type = 1; type < PLM_EV_TYPES; type++)
        if (!plm_record_event_is_call((unsigned)type))
            put_event(out, type, plm_record_event_row((enum plm_record_event_type)type));
    fputs("\n## Calls\n\n", out);
    plm_doc_paragraph(out, "What the program asked the card to do, in the order of each thread. `PLIMSOLL_DETAIL=low` "
                           "leaves these out. The payload of each starts with:");
    fputc('\n', out);
    put_fields(out, launch->field, launch->field + CALL_FIELDS, launch->since);
    for (int type = 1; type < PLM_EV_TYPES; type++)
        if (plm_record_event_is_call((unsigned)type))
            put_event(out, type, plm_record_event_row((enum plm_record_event_type)type));
    fputc('\n', out);
}

int main(int argc, char **argv)
{
    return plm_doc_main(argc, argv, "src/record/events.def", "src/gen/record_doc.c", put_all);
}
