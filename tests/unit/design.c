/* Designs: levels from files and rows, the grid, seeded draws, plans. */
#include <stdio.h>
#include <stdlib.h>

#include "base/catalogue.h"
#include "common/error.h"
#include "base/install.h"
#include "study/evaluate/design.h"
#include "unit.h"

static struct plm_catalogue catalogue;
static struct plm_install install;

static const char *file(const char *name, const char *text)
{
    const char *path = unit_path(name);
    unit_write(path, text, strlen(text));
    return path;
}

#define HEAD "run,family,model,optimizer,batch_size,gpu,zero_grad_mode,ground,real_oom,disturbed\n"
/* Two models; a cell with two rows, one that ran out, one that was disturbed, and another position of zero_grad. */
static const char rows[] = HEAD "r1,CNN,A,SGD,200,rtx3060,,100,false,\n"
                                "r2,CNN,A,SGD,200,NVIDIA GeForce RTX 3060,,104,false,\n"
                                "r3,CNN,B,Adam,100,rtx3060,,0,true,\n"
                                "r4,CNN,B,SGD,200,rtx3060,,90,false,true\n"
                                "r5,CNN,A,Adam,200,rtx3060,2,120,false,\n";

static void read_rows(struct plm_truth *t)
{
    struct plm_error error;
    assert_int_equal(plm_truth_read(file("design.csv", rows), PLM_TRUTH_NEEDS_GROUND, t, &error), 0);
}

static struct plm_design_options options(enum plm_design design)
{
    return (struct plm_design_options){
        .design = design, .draws = 200, .seed = 7, .kind = PLM_TRUTH_LESS_FIRST, .catalogue = &catalogue};
}

/* ---- levels ---- */

static void test_levels_of_truth(void **state)
{
    struct plm_levels levels;
    struct plm_truth t;
    (void)state;
    read_rows(&t);
    assert_int_equal(plm_levels_of_truth(&t, &levels), 0);
    assert_int_equal(levels.families, 1);
    assert_int_equal(levels.family[0].list[PLM_LEVEL_MODEL].count, 2);
    assert_string_equal(levels.family[0].list[PLM_LEVEL_BATCH].level[0].text, "100"); /* ascending */
    assert_string_equal(levels.family[0].list[PLM_LEVEL_GPU].level[0].text, "rtx3060"); /* the most frequent */
    assert_string_equal(levels.family[0].list[PLM_LEVEL_ZERO_GRAD].level[0].text, "");
    assert_string_equal(levels.family[0].list[PLM_LEVEL_ZERO_GRAD].level[1].text, "2");
    plm_levels_free(&levels);
    plm_truth_free(&t);
}

/* The most frequent is first, wherever in the file it is. */
static void test_levels_by_frequency(void **state)
{
    static const char text[] = HEAD "r1,CNN,A,SGD,200,rtx3060,2,1,false,\n"
                                    "r2,CNN,A,SGD,300,rtx4060,0,1,false,\n"
                                    "r3,CNN,A,SGD,100,rtx4060,0,1,false,\n";
    struct plm_levels levels;
    struct plm_truth t;
    struct plm_error error;
    (void)state;
    assert_int_equal(plm_truth_read(file("frequent.csv", text), PLM_TRUTH_NEEDS_GROUND, &t, &error), 0);
    assert_int_equal(plm_levels_of_truth(&t, &levels), 0);
    assert_string_equal(levels.family[0].list[PLM_LEVEL_GPU].level[0].text, "rtx4060");
    assert_string_equal(levels.family[0].list[PLM_LEVEL_ZERO_GRAD].level[0].text, "0");
    assert_int_equal(levels.family[0].list[PLM_LEVEL_ZERO_GRAD].level[0].times, 2);
    plm_levels_free(&levels);
    plm_truth_free(&t);
}

static void test_levels_read(void **state)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"[cnn]\nmodels = A\n", "[cnn] needs models and batches"},
        {"[cnn]\nbatches = many\n", ":2: batches: \"many\" is not a batch size"},
        {"[cnn]\nbatches = 5..1\n", "is not a batch size"},
        {"[cnn]\nbatches = 1..5 step 0\n", "is not a batch size"},
        {"[cnn]\nbatches = 1..999999999\n", "is not a batch size"},
        {"[cnn]\nmodels = A,,B\n", "\"\" is not a name"},
        {"[cnn]\nzero_grad = 3\n", "\"3\" is not a position"},
        {"[cnn]\nscript = a.py\n", "there are models"},
        {"models = A\n", "under [family]"},
        {"", "names no models"},
    };
    struct plm_levels levels;
    struct plm_error error;
    (void)state;
    assert_int_equal(
        plm_levels_read(file("l.ini", "[cnn]\nmodels = A , B\nbatches = 200..700 step 100, 7\nscript = x\n"), false,
                        &levels, &error),
        0);
    assert_string_equal(levels.family[0].list[PLM_LEVEL_MODEL].level[0].text, "A");
    assert_string_equal(levels.family[0].list[PLM_LEVEL_MODEL].level[1].text, "B");
    assert_int_equal(levels.family[0].list[PLM_LEVEL_BATCH].count, 7);
    assert_string_equal(levels.family[0].list[PLM_LEVEL_BATCH].level[5].text, "700");
    plm_levels_free(&levels);
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(plm_levels_read(file("l.ini", bad[i].text), true, &levels, &error), PLM_EFORMAT);
        assert_contains(error.text, bad[i].part);
    }
    assert_true(plm_levels_key("batches"));
    assert_false(plm_levels_key("script"));
}

/* ---- designs ---- */

static void test_rows(void **state)
{
    struct plm_design_options o = options(PLM_DESIGN_ROWS);
    struct plm_design_made made;
    struct plm_truth t, out;
    struct plm_error error;
    (void)state;
    read_rows(&t);
    assert_int_equal(plm_design_make(&o, &t, NULL, &out, &made, &error), 0);
    assert_int_equal(out.rows, 4);
    assert_int_equal(made.disturbed, 1);
    assert_int_equal(made.measured, 4);
    plm_truth_free(&out);
    o.disturbed = true;
    o.pattern = "adam";
    assert_int_equal(plm_design_make(&o, &t, NULL, &out, &made, &error), 0);
    assert_int_equal(out.rows, 2);
    plm_truth_free(&out);
    o.pattern = "nothing";
    assert_int_equal(plm_design_make(&o, &t, NULL, &out, &made, &error), PLM_EINVAL);
    assert_contains(error.text, "contains \"nothing\"");
    plm_truth_free(&t);
}

static void test_grid(void **state)
{
    struct plm_design_options o = options(PLM_DESIGN_GRID);
    struct plm_design_made made;
    struct plm_levels levels;
    struct plm_truth t, out;
    struct plm_error error;
    (void)state;
    read_rows(&t);
    assert_int_equal(plm_levels_of_truth(&t, &levels), 0);
    /* 2 models x 2 optimizers x 2 batch sizes: one has two rows (cards are told apart by what they are, not by their spelling), one ran out, one
       was disturbed, the rest has none; the row with the other position of zero_grad is not in this grid. */
    assert_int_equal(plm_design_make(&o, &t, &levels, &out, &made, &error), 0);
    assert_int_equal(made.runs, 9);
    assert_int_equal(made.measured, 3);
    assert_int_equal(made.without, 5);
    assert_int_equal(made.disturbed, 1);
    assert_int_equal(out.rows, 3);
    assert_string_equal(out.row[0].run, "r1");
    assert_string_equal(out.row[1].run, "r2");
    plm_truth_free(&out);
    o.reference = true;
    assert_int_equal(plm_design_make(&o, &t, &levels, &out, &made, &error), 0);
    assert_int_equal(out.rows, 8);
    assert_int_equal(out.row[0].line, 0); /* A, SGD, 100 is not in the file */
    assert_int_equal(out.row[0].batch, 100);
    assert_string_equal(out.row[0].family, "CNN");
    plm_truth_free(&out);
    plm_levels_free(&levels);
    plm_truth_free(&t);
}

static void test_draws(void **state)
{
    struct plm_design_options o = options(PLM_DESIGN_MONTECARLO);
    struct plm_design_made made;
    struct plm_levels levels;
    struct plm_truth t, out, again;
    struct plm_error error;
    size_t same = 0, first = 0, second = 0;
    (void)state;
    read_rows(&t);
    assert_int_equal(plm_levels_of_truth(&t, &levels), 0);
    o.reference = o.disturbed = true;
    assert_int_equal(plm_design_make(&o, &t, &levels, &out, &made, &error), 0);
    assert_int_equal(plm_design_make(&o, &t, &levels, &again, &made, &error), 0);
    assert_int_equal(out.rows, 200);
    for (size_t i = 0; i < 200; i++) {
        assert_string_equal(out.row[i].model, again.row[i].model);
        assert_int_equal(out.row[i].batch, again.row[i].batch);
        assert_int_equal(out.row[i].line, again.row[i].line);
        first += !strcmp(out.row[i].run, "r1");
        second += !strcmp(out.row[i].run, "r2");
    }
    assert_true(first > 0 && second > 0); /* the repeats of a run have a share each */
    plm_truth_free(&again);
    o.seed = 8;
    assert_int_equal(plm_design_make(&o, &t, &levels, &again, &made, &error), 0);
    for (size_t i = 0; i < 200; i++)
        same += out.row[i].line == again.row[i].line && out.row[i].batch == again.row[i].batch;
    assert_true(same < 200);
    plm_truth_free(&again);
    plm_truth_free(&out);
    plm_levels_free(&levels);
    plm_truth_free(&t);
}

/* Levels from a file of their own, without any truth: nothing is measured, and a card must be named. */
static void test_no_truth(void **state)
{
    struct plm_design_options o = options(PLM_DESIGN_GRID);
    const struct plm_truth none = {0};
    struct plm_design_made made;
    struct plm_levels levels;
    struct plm_truth out;
    struct plm_error error;
    (void)state;
    assert_int_equal(plm_levels_read(file("l.ini", "[cnn]\nmodels = A\nbatches = 1, 2\n"), true, &levels, &error), 0);
    assert_int_equal(plm_design_make(&o, &none, &levels, &out, &made, &error), PLM_EINVAL);
    assert_contains(error.text, "give one with --gpu");
    o.gpu = "rtx3060";
    assert_int_equal(plm_design_make(&o, &none, &levels, &out, &made, &error), PLM_EINVAL);
    assert_contains(error.text, "none of the 2 runs has a truth of the kind device-less-first");
    o.reference = true;
    assert_int_equal(plm_design_make(&o, &none, &levels, &out, &made, &error), 0);
    assert_int_equal(out.rows, 2);
    assert_int_equal(out.row[0].zero_grad, PLM_TRUTH_ZERO_GRAD_UNKNOWN);
    assert_string_equal(out.row[0].optimizer, "");
    plm_truth_free(&out);
    o.gpu = "no such card";
    assert_int_equal(plm_design_make(&o, &none, &levels, &out, &made, &error), 0); /* the bench says so, with the row */
    plm_truth_free(&out);
    plm_levels_free(&levels);
}

/* A plan is a truth file without a ground, which can be read again where one can do without. */
static void test_plan(void **state)
{
    struct plm_design_options o = options(PLM_DESIGN_GRID);
    const char *path = unit_path("plan.csv");
    struct plm_design_made made;
    struct plm_levels levels;
    struct plm_truth t, out, again;
    struct plm_error error;
    FILE *plan;
    (void)state;
    read_rows(&t);
    assert_int_equal(plm_levels_of_truth(&t, &levels), 0);
    o.reference = true;
    assert_int_equal(plm_design_make(&o, &t, &levels, &out, &made, &error), 0);
    plan = fopen(path, "we");
    assert_int_equal(plm_design_plan(plan, &out, &made), 0);
    fclose(plan);
    assert_int_equal(plm_truth_read(path, PLM_TRUTH_NEEDS_GROUND, &again, &error), PLM_EFORMAT);
    assert_int_equal(plm_truth_read(path, PLM_TRUTH_WITHOUT_GROUND, &again, &error), 0);
    assert_int_equal(again.rows, out.rows);
    assert_string_equal(again.row[0].run, "grid-00001");
    assert_string_equal(again.row[1].run, "r1");
    assert_int_equal(again.row[0].ground[PLM_TRUTH_LESS_FIRST], 0);
    plm_truth_free(&again);
    plm_truth_free(&out);
    plm_levels_free(&levels);
    plm_truth_free(&t);
}

/* Columns as `plimsoll measure` writes them: each kind has its own; an empty cell is no truth of that kind. */
static void test_kinds(void **state)
{
    static const char text[] = "family,model,batch_size,ground,allocated,reserved,device_used,disturbed\n"
                               "CNN,A,1,100,70,80,150,false\nCNN,A,2,100,,80,150,true\n";
    struct plm_design_options o = options(PLM_DESIGN_ROWS);
    struct plm_design_made made;
    struct plm_truth t, out;
    struct plm_error error;
    (void)state;
    assert_int_equal(plm_truth_read(file("kinds.csv", text), PLM_TRUTH_NEEDS_GROUND, &t, &error), 0);
    assert_int_equal(t.row[0].ground[PLM_TRUTH_ALLOCATED], 70);
    assert_int_equal(t.row[0].ground[PLM_TRUTH_RESERVED], 80);
    assert_int_equal(t.row[0].ground[PLM_TRUTH_DEVICE], 150);
    assert_int_equal(t.row[0].ground[PLM_TRUTH_LESS_FIRST], 100);
    assert_true(t.row[1].disturbed);
    o.disturbed = true;
    o.kind = PLM_TRUTH_ALLOCATED;
    assert_int_equal(plm_design_make(&o, &t, NULL, &out, &made, &error), 0);
    assert_int_equal(out.rows, 1);
    assert_int_equal(made.without, 1);
    plm_truth_free(&out);
    plm_truth_free(&t);
}

static int load(void **state)
{
    struct plm_error error;
    (void)state;
    snprintf(install.gpus, sizeof install.gpus, "%s/data/gpus", getenv("PLM_SOURCE"));
    snprintf(install.capabilities, sizeof install.capabilities, "%s/data/compute-capabilities.ini",
             getenv("PLM_SOURCE"));
    return plm_catalogue_load(&catalogue, &install, &error);
}

static int unload(void **state)
{
    (void)state;
    plm_catalogue_free(&catalogue);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_of_truth),
        cmocka_unit_test(test_levels_by_frequency),
        cmocka_unit_test(test_levels_read),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_no_truth),
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_kinds),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
