/* The tables of the text that compare methods with their publication, and errors with what they depend on. */
#include <math.h>
#include <string.h>

#include "study/evaluate/judge.h"
#include "study/evaluate/published.h"
#include "base/draw.h"

enum { NAMES = 36 };

/* ---- published figures ---- */

static size_t estimator_find(const struct plm_evaluation *e, enum plm_origin origin, const char *name)
{
    char wanted[48];
    size_t i = 0;
    snprintf(wanted, sizeof wanted, origin == PLM_ORIGIN_PUBLISHED ? "%s (published)" : "%s", name);
    while (i < e->estimators && (e->estimator[i].origin != origin || strcmp(e->estimator[i].name, wanted) != 0))
        i++;
    return i;
}

static void three(FILE *out, const struct plm_evaluation *e, size_t estimator)
{
    const struct plm_metrics *m =
        estimator < e->estimators ? &e->family[e->families - 1].metrics[estimator] : &(struct plm_metrics){0};
    m->compared ? fprintf(out, "   %7.2f", 100 * m->median) : fprintf(out, "   %7s", "-");
    m->judged ? fprintf(out, " %7.2f", 100 * m->pef[PLM_CAP_TORCH]) : fprintf(out, " %7s", "-");
    m->timed ? fprintf(out, " %7.2f", m->seconds) : fprintf(out, " %7s", "-");
}

void plm_evaluation_published(const struct plm_page *p, const struct plm_evaluation *e)
{
    size_t shown = 0;
    for (size_t i = 0; i < plm_published_count; i++)
        shown += estimator_find(e, PLM_ORIGIN_PUBLISHED, plm_published[i].tool) < e->estimators ||
                 estimator_find(e, PLM_ORIGIN_METHOD, plm_published[i].method) < e->estimators;
    if (!shown || !e->families)
        return;
    plm_page_title(p, "As published by the xMem paper, and here");
    fprintf(p->out, "%s%-12s   %-23s   %-23s   %s\n", plm_ink(p, PLM_INK_DIM), "", "published, 5,209 runs",
            "its columns in this file", "our implementation here");
    fprintf(p->out, "%-12s", "");
    for (int i = 0; i < 3; i++)
        fprintf(p->out, "   %7s %7s %7s", "median", "PEF", "seconds");
    fprintf(p->out, "%s\n", plm_ink(p, PLM_INK_PLAIN));
    for (size_t i = 0; i < plm_published_count; i++) {
        const struct plm_published *row = &plm_published[i];
        fprintf(p->out, "%-12s   %7.2f %7.2f %7.2f", row->name, 100 * row->median, 100 * row->pef, row->seconds);
        three(p->out, e, estimator_find(e, PLM_ORIGIN_PUBLISHED, row->tool));
        three(p->out, e, estimator_find(e, PLM_ORIGIN_METHOD, row->method));
        fputc('\n', p->out);
    }
    fprintf(p->out, "%-12s   %7s %7s %7s   %7s %7s %7s", "plimsoll", "", "", "", "", "", "");
    three(p->out, e, estimator_find(e, PLM_ORIGIN_VIRTUAL, "plimsoll"));
    fputc('\n', p->out);
}

/* ---- what errors depend on ---- */

static const struct plm_anova *any(const struct plm_evaluation *e, const struct plm_family *f)
{
    for (size_t i = 0; i < e->estimators; i++)
        if (f->anova[i].observations)
            return &f->anova[i];
    return NULL;
}

static bool is_tested(const struct plm_evaluation *e, const struct plm_family *f, size_t factor)
{
    for (size_t i = 0; i < e->estimators; i++)
        if (f->anova[i].observations && f->anova[i].effect[factor].state == PLM_EFFECT_TESTED)
            return true;
    return false;
}

static void effect(const struct plm_page *p, const struct plm_effect *e)
{
    char f[16] = "-", chance[16] = "", eta[16] = "-";
    if (e->state != PLM_EFFECT_TESTED) {
        fprintf(p->out, "   %20s", e->state == PLM_EFFECT_ALIASED ? "not separable" : "does not vary");
        return;
    }
    if (e->known) {
        snprintf(f, sizeof f, e->f < 1000 ? "%.2f" : "%.0f", e->f);
        snprintf(chance, sizeof chance, e->p < 0.0001 ? "<.0001" : "%.4f", e->p);
    }
    snprintf(eta, sizeof eta, "%.3f", e->eta);
    fprintf(p->out, "   %s%7s %6s %5s%s", plm_ink(p, e->known && e->p < 0.05 ? PLM_INK_BOLD : PLM_INK_PLAIN), f, chance,
            eta, plm_ink(p, PLM_INK_PLAIN));
}

static void family_head(const struct plm_page *p, const struct plm_evaluation *e, const struct plm_family *f,
                        const struct plm_anova *a)
{
    fprintf(p->out, "%s%-*.*s", plm_ink(p, PLM_INK_DIM), NAMES, NAMES, "");
    for (size_t i = 0; i < a->effects; i++)
        if (is_tested(e, f, i))
            fprintf(p->out, "   %7s %6s %5s", "F", "p", "eta2");
    fprintf(p->out, "%s\n", plm_ink(p, PLM_INK_PLAIN));
}

/* Nested factors say within which others they were looked at. */
static void family_names(const struct plm_page *p, const struct plm_evaluation *e, const struct plm_family *f,
                         const struct plm_anova *a)
{
    plm_page_name(p, f->name ? f->name : "All", NAMES, 1);
    for (size_t i = 0; i < a->effects; i++) {
        char text[64];
        if (!is_tested(e, f, i))
            continue;
        snprintf(text, sizeof text, "%s, df %zu", a->effect[i].name, a->effect[i].freedom);
        for (size_t k = 0; k < a->effects; k++)
            if (a->effect[i].within >> k & 1)
                snprintf(text, sizeof text, "%s in %s", a->effect[i].name, a->effect[k].name);
        fprintf(p->out, "   %20.20s", text);
    }
    fputc('\n', p->out);
}

static void left_out(const struct plm_page *p, const struct plm_evaluation *e, const struct plm_family *f,
                     const struct plm_anova *a)
{
    for (size_t i = 0; i < a->effects; i++) {
        const struct plm_effect *x = &a->effect[i];
        if (is_tested(e, f, i))
            continue;
        if (x->state == PLM_EFFECT_ALIASED && x->alias >= 0)
            fprintf(p->out, "%s splits the runs as %s does; ", x->name, a->effect[x->alias].name);
        else if (x->state == PLM_EFFECT_ALIASED)
            fprintf(p->out, "%s cannot be told apart from the others together; ", x->name);
        else
            fprintf(p->out, "%s does not vary; ", x->name);
    }
    fprintf(p->out, "residual df %zu.\n", a->residual_freedom);
}

void plm_evaluation_factors(const struct plm_page *p, const struct plm_evaluation *e)
{
    bool titled = false;
    for (size_t i = 0; i < e->families; i++) {
        const struct plm_family *f = &e->family[i];
        const struct plm_anova *a = any(e, f);
        if (!a)
            continue;
        if (!titled)
            plm_page_title(p, e->options.response == PLM_RESPONSE_SIGNED
                                  ? "What the signed error depends on (analysis of variance, type II)"
                                  : "What the absolute error depends on (analysis of variance, type II)");
        titled = true;
        family_names(p, e, f, a);
        family_head(p, e, f, a);
        for (size_t k = 0; k < e->estimators; k++) {
            if (!f->anova[k].observations || e->estimator[k].upper)
                continue;
            plm_page_name(p, e->estimator[k].name, NAMES, 1);
            for (size_t n = 0; n < f->anova[k].effects; n++)
                if (is_tested(e, f, n))
                    effect(p, &f->anova[k].effect[n]);
            fputc('\n', p->out);
        }
        left_out(p, e, f, a);
    }
}
