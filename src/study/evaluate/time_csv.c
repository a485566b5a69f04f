/* An evaluation of step times or utilization as tables: a line for each row, a line for each figure. */
#include <math.h>

#include "base/error.h"
#include "study/evaluate/time_judge.h"

static void value_put(FILE *out, double value)
{
    fputc(',', out);
    if (!isnan(value))
        fprintf(out, "%.9g", value);
}

static void text_put(FILE *out, const char *text)
{
    plm_table_put(out, text);
    fputc(',', out);
}

static void head_put(FILE *out, const struct plm_time_evaluation *e)
{
    fputs("line,family,model,mode,gpu,batch_size,image_size,use", out);
    for (int i = 0; i < PLM_TIME_FIGURES; i++) {
        if (!(e->figures >> i & 1))
            continue;
        fprintf(out, ",%s", plm_time_figure_name(i));
        for (size_t k = 0; k < e->estimators; k++) {
            char name[128];
            snprintf(name, sizeof name, "%s: %s", e->estimator[k].name, plm_time_figure_name(i));
            fputc(',', out);
            plm_table_put(out, name);
        }
    }
    fputs(",step,busy,host,kernels", out);
    for (int i = 0; i < PLM_BOUNDS; i++)
        fprintf(out, ",%s_bound", plm_bound_name((enum plm_bound)i));
    fputs(",why\n", out);
}

/* Times in ms, with the constants that count. */
static void forecast_put(FILE *out, const struct plm_time_forecast *f)
{
    const double times[] = {f->step * 1e-6, f->busy * 1e-6, f->host * 1e-6, f->kernels};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        value_put(out, f->known ? times[i] : NAN);
    for (int i = 0; i < PLM_BOUNDS; i++)
        value_put(out, f->known ? f->bound[i] * 1e-6 : NAN);
}

static void run_put(FILE *out, const struct plm_time_evaluation *e, size_t at)
{
    const struct plm_time_run *run = &e->bench->run[at];
    const struct plm_time_row *row = run->row;
    fprintf(out, "%u,", row->line);
    text_put(out, row->family);
    text_put(out, row->model);
    text_put(out, row->mode);
    fprintf(out, "%s,%llu,%llu,%s", run->card.id, (unsigned long long)row->batch, (unsigned long long)row->image,
            !e->forecast[at].known ? "failed"
            : e->trained[at]       ? "trained"
                                   : "judged");
    for (int i = 0; i < PLM_TIME_FIGURES; i++) {
        if (!(e->figures >> i & 1))
            continue;
        value_put(out, row->known >> i & 1 ? row->figure[i] : NAN);
        for (size_t k = 0; k < e->estimators; k++)
            value_put(out, e->estimator[k].value[at * PLM_TIME_FIGURES + (size_t)i]);
    }
    forecast_put(out, &e->fitted[at]);
    fputc(',', out);
    plm_table_put(out, run->why);
    fputc('\n', out);
}

int plm_time_evaluation_csv(FILE *out, const void *what, struct plm_error *error)
{
    const struct plm_time_evaluation *e = what;
    head_put(out, e);
    for (size_t i = 0; i < e->bench->runs; i++)
        run_put(out, e, i);
    return fflush(out) || ferror(out) ? plm_fail(error, PLM_EIO, "the rows could not be written") : 0;
}

static void figure_put(FILE *out, const struct plm_time_evaluation *e, const struct plm_time_group *g, size_t estimator,
                       int figure)
{
    const struct plm_agreement *a = plm_time_agreement(e, g, estimator, figure);
    text_put(out, g->family ? g->family : "all");
    fprintf(out, "%s,%s,", g->family ? g->mode : "", g->family ? g->card : "");
    text_put(out, plm_time_figure_name(figure));
    plm_table_put(out, e->estimator[estimator].name);
    fprintf(out, ",%zu", a->count);
    for (int i = 0; i < PLM_AGREE_FIGURES; i++) {
        value_put(out, a->value[i]);
        value_put(out, a->interval[i].low);
        value_put(out, a->interval[i].high);
    }
    fputc('\n', out);
}

int plm_time_evaluation_figures(FILE *out, const void *what, struct plm_error *error)
{
    const struct plm_time_evaluation *e = what;
    fputs("family,mode,gpu,figure,estimator,rows", out);
    for (int i = 0; i < PLM_AGREE_FIGURES; i++) {
        const char *name = plm_agreement_name((enum plm_agreement_figure)i);
        fprintf(out, ",%s,%s_low,%s_high", name, name, name);
    }
    fputc('\n', out);
    for (size_t i = 0; i < e->groups; i++)
        for (int figure = 0; figure < PLM_TIME_FIGURES; figure++)
            for (size_t k = 0; k < e->estimators && e->figures >> figure & 1; k++)
                figure_put(out, e, &e->group[i], k, figure);
    return fflush(out) || ferror(out) ? plm_fail(error, PLM_EIO, "the figures could not be written") : 0;
}
