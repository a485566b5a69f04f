/*
 * values_doc FILE: fails if the tables of docs/values.md are not what device/policy.def says; values_doc --write FILE
 * puts them right. A build tool; not installed.
 */
#include <stdio.h>
#include <string.h>

#include "device/policy.h"
#include "gen/doc.h"

struct row {
    const char *situation, *answer, *tells, *confidence;
};

static const struct row leaves[] = {
#define LEAVES(name, tells, situation, answer, confidence) {situation, answer, tells, confidence},
#include "device/policy.def"
};
static const struct row reads[] = {
#define READS(name, tells, situation, answer, confidence) {situation, answer, tells, confidence},
#include "device/policy.def"
};

static void put_rows(FILE *out, const char *first, const char *second, const struct row *row, unsigned rows)
{
    fprintf(out, "\n| %s | %s | what is told | confidence |\n|---|---|---|---|\n", first, second);
    for (unsigned i = 0; i < rows; i++) {
        fprintf(out, "| %s | %s | ", row[i].situation, row[i].answer);
        if (!*row[i].tells)
            fputs("nothing", out);
        else if (!strcmp(row[i].tells, PLM_TELLS_READBACK))
            fputs("counted and named in the report", out);
        else
            fprintf(out, "note `%s`", row[i].tells);
        fprintf(out, " | %s |\n", *row[i].confidence ? row[i].confidence : "unchanged");
    }
}

static void put_all(FILE *out)
{
    put_rows(out, "an operator runs, and", "leaves in memory", leaves, PLM_LEAVES_ROWS);
    put_rows(out, "the host reads, and", "gets", reads, PLM_READS_ROWS);
    fputc('\n', out);
}

int main(int argc, char **argv)
{
    return plm_doc_main(argc, argv, "src/device/policy.def", "src/gen/values_doc.c", put_all);
}
