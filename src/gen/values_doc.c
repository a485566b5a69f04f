/*
 * values_doc FILE: fails if the tables of docs/values.md are not what common/policy.def says; values_doc --write FILE
 * puts them right. A build tool; not installed.
 */
#include <stdio.h>
#include <string.h>

#include "common/policy.h"
#include "gen/doc.h"

struct row {
    const char *situation, *answer, *tells;
    enum plm_policy doubt, both_ends;
    const char *when; /* of a row that changes nothing by itself: what does */
};

static const struct row leaves[] = {
#define LEAVES(name, tells, situation, answer, confidence) \
    {situation, answer, tells, PLM_POLICY_UNCHANGED, PLM_POLICY_UNCHANGED, confidence},
#include "common/policy.def"
};
static const struct row reads[] = {
#define READS(name, tells, situation, answer, doubt, both_ends, when) \
    {situation, answer, tells, PLM_POLICY_##doubt, PLM_POLICY_##both_ends, when},
#include "common/policy.def"
};

static void put_confidence(FILE *out, const struct row *row)
{
    static const char *const names[] = {
        [PLM_POLICY_UNCHANGED] = "unchanged", [PLM_POLICY_MEDIUM] = "medium", [PLM_POLICY_LOW] = "low"};
    if (row->doubt == PLM_POLICY_UNCHANGED) {
        fputs(*row->when ? row->when : names[row->doubt], out);
        return;
    }
    fprintf(out, "%s%s%s", names[row->doubt], *row->when ? " if " : "", row->when);
    if (row->both_ends != row->doubt)
        fprintf(out, "; %s with `--both-ends`", names[row->both_ends]);
}

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
        fputs(" | ", out);
        put_confidence(out, &row[i]);
        fputs(" |\n", out);
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
    return plm_doc_main(argc, argv, "src/common/policy.def", "src/gen/values_doc.c", put_all);
}
