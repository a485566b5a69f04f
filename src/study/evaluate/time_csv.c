/* An evaluation of step times or utilization as tables: a line for each row, a line for each figure. */
#include <math.h>

#include "study/evaluate/time_judge.h"

static void head_put(struct plm_lines *l, const struct plm_timed_evaluation *e)
{
    plm_lines_cell(l, true, "line,family,model,mode,gpu,batch_size,image_size,use");
    for (int i = 0; i < PLM_TIMED_FIGURES; i++) {
        if (!(e->figures >> i & 1))
            continue;
        plm_lines_cell(l, true, "%s", plm_timed_figure_name(i));
        for (size_t k = 0; k < e->estimators; k++) {
            char name[128];
            snprintf(name, sizeof name, "%s: %s", e->estimator[k].name, plm_timed_figure_name(i));
            plm_lines_text(l, name);
        }
    }
    plm_lines_cell(l, true, "step,busy,host,kernels");
    for (int i = 0; i < PLM_BOUNDS; i++)
        plm_lines_cell(l, true, "%s_bound", plm_bound_name((enum plm_bound)i));
    plm_lines_cell(l, true, "why");
    plm_lines_end(l);
}

/* Times in ms, with the constants that count. */
static void forecast_put(struct plm_lines *l, const struct plm_timed_forecast *f)
{
    const double times[] = {f->step * 1e-6, f->busy * 1e-6, f->host * 1e-6, f->kernels};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        plm_lines_real(l, f->known ? times[i] : NAN);
    for (int i = 0; i < PLM_BOUNDS; i++)
        plm_lines_real(l, f->known ? f->bound[i] * 1e-6 : NAN);
}

static void run_put(struct plm_lines *l, const struct plm_timed_evaluation *e, size_t at)
{
    const struct plm_timed_run *run = &e->bench->run[at];
    const struct plm_timed_row *row = run->row;
    plm_lines_cell(l, true, "%u", row->line);
    plm_lines_text(l, row->family);
    plm_lines_text(l, row->model);
    plm_lines_text(l, row->mode);
    plm_lines_cell(l, true, "%s,%llu,%llu,%s", run->card.id, (unsigned long long)row->batch,
                   (unsigned long long)row->image,
                   !e->forecast[at].known ? "failed"
                   : e->trained[at]       ? "trained"
                                          : "judged");
    for (int i = 0; i < PLM_TIMED_FIGURES; i++) {
        if (!(e->figures >> i & 1))
            continue;
        plm_lines_real(l, row->known >> i & 1 ? row->figure[i] : NAN);
        for (size_t k = 0; k < e->estimators; k++)
            plm_lines_real(l, e->estimator[k].value[at * PLM_TIMED_FIGURES + (size_t)i]);
    }
    forecast_put(l, &e->fitted[at]);
    plm_lines_text(l, run->why);
    plm_lines_end(l);
}

void plm_timed_evaluation_rows(struct plm_lines *l, const void *what)
{
    const struct plm_timed_evaluation *e = what;
    head_put(l, e);
    for (size_t i = 0; i < e->bench->runs; i++)
        run_put(l, e, i);
}

static void figure_put(struct plm_lines *l, const struct plm_timed_evaluation *e, const struct plm_timed_group *g,
                       size_t estimator, int figure)
{
    const struct plm_agreement *a = plm_timed_agreement(e, g, estimator, figure);
    plm_lines_text(l, g->family ? g->family : "all");
    plm_lines_text(l, g->family ? g->mode : "");
    plm_lines_cell(l, true, "%s,%s", g->family ? g->card : "", plm_timed_figure_name(figure));
    plm_lines_text(l, e->estimator[estimator].name);
    plm_lines_cell(l, true, "%zu", a->count);
    for (int i = 0; i < PLM_AGREE_FIGURES; i++) {
        plm_lines_real(l, a->value[i]);
        plm_lines_real(l, a->interval[i].low);
        plm_lines_real(l, a->interval[i].high);
    }
    plm_lines_end(l);
}

void plm_timed_evaluation_figures(struct plm_lines *l, const void *what)
{
    const struct plm_timed_evaluation *e = what;
    plm_lines_cell(l, true, "family,mode,gpu,figure,estimator,rows");
    for (int i = 0; i < PLM_AGREE_FIGURES; i++) {
        const char *name = plm_agreement_name((enum plm_agreement_figure)i);
        plm_lines_cell(l, true, "%s,%s_low,%s_high", name, name, name);
    }
    plm_lines_end(l);
    for (size_t i = 0; i < e->groups; i++)
        for (int figure = 0; figure < PLM_TIMED_FIGURES; figure++)
            for (size_t k = 0; k < e->estimators && e->figures >> figure & 1; k++)
                figure_put(l, e, &e->group[i], k, figure);
}
