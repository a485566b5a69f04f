/* An evaluation of step times or utilization for programs: "plimsoll.time-evaluation/1",
   docs/schema/time-evaluation-1.json. */
#include "study/evaluate/time_judge.h"

static void agreement_write(struct plm_json *j, const struct plm_timed_evaluation *e, size_t estimator, int figure,
                            const struct plm_agreement *a)
{
    plm_json_object(j, NULL);
    plm_json_string(j, "figure", plm_timed_figure_name(figure));
    plm_json_string(j, "estimator", e->estimator[estimator].name);
    plm_json_integer(j, "rows", a->count);
    for (int i = 0; i < PLM_AGREE_FIGURES; i++)
        plm_report_json_figure(j, plm_agreement_name((enum plm_agreement_figure)i), a->value[i], a->interval[i].low,
                               a->interval[i].high);
    plm_json_end_object(j);
}

static void group_write(struct plm_json *j, const struct plm_timed_evaluation *e, const struct plm_timed_group *g)
{
    plm_json_object(j, NULL);
    plm_json_string(j, "family", g->family ? g->family : "all");
    if (g->family) {
        plm_json_text(j, "mode", g->mode);
        plm_json_string(j, "gpu", g->card);
    }
    plm_json_integer(j, "rows", g->rows);
    plm_json_array(j, "agreements");
    for (int figure = 0; figure < PLM_TIMED_FIGURES; figure++)
        for (size_t i = 0; i < e->estimators && e->figures >> figure & 1; i++)
            if (plm_timed_agreement(e, g, i, figure)->count)
                agreement_write(j, e, i, figure, plm_timed_agreement(e, g, i, figure));
    plm_json_end_array(j);
    plm_json_end_object(j);
}

static void fit_write(struct plm_json *j, const struct plm_timed_evaluation *e)
{
    if (!e->options.fit_rows)
        return;
    plm_json_object(j, "fit");
    plm_json_integer(j, "rows", e->fit.rows);
    plm_json_integer(j, "tries", e->fit.tries);
    plm_json_real(j, "loss_before", e->fit.loss_before);
    plm_json_real(j, "loss", e->fit.loss);
    plm_json_array(j, "constants");
    for (size_t i = 0; i < e->fit.constants; i++) {
        plm_json_object(j, NULL);
        plm_json_string(j, "name", e->fit.constant[i]->name);
        plm_json_real(j, "before", e->fit.before[i]);
        plm_json_real(j, "value", e->fit.value[i]);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
    plm_json_end_object(j);
}

static void correction_write(struct plm_json *j, const struct plm_timed_evaluation *e)
{
    if (!e->options.learn_rows && !e->options.correct)
        return;
    plm_json_object(j, "correction");
    plm_json_integer(j, "rows", e->options.learn_rows ? e->options.learn_rows : e->options.correct->rows);
    plm_json_bool(j, "learned_here", e->options.learn_rows > 0);
    plm_json_end_object(j);
}

static void forecast_write(struct plm_json *j, const struct plm_timed_forecast *f)
{
    plm_json_object(j, "forecast");
    plm_json_real(j, "step_ms", f->step * 1e-6);
    plm_json_real(j, "busy_ms", f->busy * 1e-6);
    plm_json_real(j, "host_ms", f->host * 1e-6);
    plm_json_real(j, "kernels", f->kernels);
    plm_json_object(j, "bound_ms");
    for (int i = 0; i < PLM_BOUNDS; i++)
        plm_json_real(j, plm_bound_name((enum plm_bound)i), f->bound[i] * 1e-6);
    plm_json_end_object(j);
    plm_json_end_object(j);
}

static void estimates_write(struct plm_json *j, const struct plm_timed_evaluation *e, size_t run)
{
    plm_json_array(j, "estimates");
    for (size_t i = 0; i < e->estimators; i++) {
        plm_json_object(j, NULL);
        plm_json_string(j, "name", e->estimator[i].name);
        for (int k = 0; k < PLM_TIMED_FIGURES; k++)
            if (e->figures >> k & 1)
                plm_report_json_known(j, plm_timed_figure_name(k),
                                      e->estimator[i].value[run * PLM_TIMED_FIGURES + (size_t)k]);
        plm_json_end_object(j);
    }
    plm_json_end_array(j);
}

static void row_write(struct plm_json *j, const struct plm_timed_evaluation *e, size_t at)
{
    const struct plm_timed_run *run = &e->bench->run[at];
    const struct plm_timed_row *row = run->row;
    plm_json_object(j, NULL);
    plm_json_integer(j, "line", row->line);
    plm_json_string(j, "family", row->family);
    plm_json_text(j, "model", row->model);
    plm_json_text(j, "mode", row->mode);
    plm_json_string(j, "gpu", run->card.id);
    if (row->batch)
        plm_json_integer(j, "batch_size", row->batch);
    if (row->image)
        plm_json_integer(j, "image_size", row->image);
    plm_json_object(j, "measured");
    for (int i = 0; i < PLM_TIMED_FIGURES; i++)
        if (e->figures & row->known & (1u << i))
            plm_json_real(j, plm_timed_figure_name(i), row->figure[i]);
    plm_json_end_object(j);
    plm_json_bool(j, "trained", e->trained[at]);
    if (e->forecast[at].known)
        forecast_write(j, &e->fitted[at]);
    else
        plm_json_string(j, "failed", run->why);
    estimates_write(j, e, at);
    plm_json_end_object(j);
}

void plm_timed_evaluation_document(struct plm_json *j, const void *what)
{
    const struct plm_timed_evaluation *e = what;
    plm_json_string(j, "truth_file", e->bench->truth->table.path);
    plm_json_string(j, "truth", plm_timed_kind_name(e->bench->truth->kind));
    plm_json_integer(j, "seed", e->options.seed);
    plm_json_integer(j, "judged", e->rows);
    plm_json_integer(j, "trained", e->trained_rows);
    plm_json_integer(j, "failed", e->failed);
    plm_json_integer(j, "without_figure", e->bench->truth->without);
    fit_write(j, e);
    correction_write(j, e);
    plm_json_array(j, "groups");
    for (size_t i = 0; i < e->groups; i++)
        group_write(j, e, &e->group[i]);
    plm_json_end_array(j);
    plm_json_array(j, "rows");
    for (size_t i = 0; i < e->bench->runs; i++)
        row_write(j, e, i);
    plm_json_end_array(j);
}
