/* Networks that are drawn or read, the steps that show their peak, and lines of a dataset that was stopped. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "base/install.h"
#include "base/csv.h"
#include "study/learn/dataset.h"
#include "study/learn/dataset_parts.h"
#include "study/learn/example.h"
#include "study/learn/label.h"
#include "study/rows/chunk.h"
#include "unit.h"

#define SAYS(text) text, sizeof(text) - 1

static double number(const struct plm_generated *n, enum plm_argument argument)
{
    return strtod(n->cell[argument], NULL);
}

/* ---- drawing: the bounds are those of the published launchers ---- */

static void assert_within(const struct plm_generated *n, enum plm_argument argument, double low, double high)
{
    const double value = number(n, argument);
    if (!(value >= low && value <= high && value == floor(value)))
        fail_msg("%s is %s", plm_argument_column[argument], n->cell[argument]);
}

static void test_mlp(void **state)
{
    struct plm_generated n;
    int with_dropout = 0, uniform = 0;
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        plm_generated_draw(PLM_FAMILY_MLP, 1, i, &n);
        assert_within(&n, PLM_ARGUMENT_INPUT, 4, 4095);
        assert_within(&n, PLM_ARGUMENT_OUTPUT, 1, fmax(1, ceil(number(&n, PLM_ARGUMENT_INPUT) / 4) - 1));
        assert_within(&n, PLM_ARGUMENT_BATCH, 4, 1023);
        assert_within(&n, PLM_ARGUMENT_DEPTH, 1, 10);
        with_dropout += n.cell[PLM_ARGUMENT_DROPOUT][0] != '\0';
        uniform += !strcmp(n.cell[PLM_ARGUMENT_ARCH], "uniform");
        assert_string_equal(n.cell[PLM_ARGUMENT_WIDTH], "");
    }
    assert_in_range(with_dropout, 900, 1100); /* half of them, within four standard deviations */
    assert_in_range(uniform, 420, 580);       /* one of four */
}

static void test_cnn(void **state)
{
    struct plm_generated n;
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        plm_generated_draw(PLM_FAMILY_CNN, 1, i, &n);
        assert_within(&n, PLM_ARGUMENT_INPUT, 32, 224);
        assert_within(&n, PLM_ARGUMENT_BATCH, 4, 62);
        assert_within(&n, PLM_ARGUMENT_DEPTH, 1, 29);
        assert_within(&n, PLM_ARGUMENT_FILTERS, 32, 512);
        assert_true(fmod(number(&n, PLM_ARGUMENT_INPUT), 2) == 0);
        if (!strcmp(n.cell[PLM_ARGUMENT_ARCH], "dense"))
            assert_within(&n, PLM_ARGUMENT_TRANSITION, 1, 29);
        else
            assert_string_equal(n.cell[PLM_ARGUMENT_TRANSITION], "");
    }
}

static void test_transformer(void **state)
{
    struct plm_generated n;
    (void)state;
    for (uint64_t i = 0; i < 2000; i++) {
        plm_generated_draw(PLM_FAMILY_TRANSFORMER, 1, i, &n);
        const double width = number(&n, PLM_ARGUMENT_WIDTH);
        assert_within(&n, PLM_ARGUMENT_WIDTH, 128, 2048);
        assert_within(&n, PLM_ARGUMENT_FF, 2 * width, 4 * width - 1);
        assert_within(&n, PLM_ARGUMENT_DEPTH, 2, 39);
        assert_within(&n, PLM_ARGUMENT_VOCABULARY, 50000, 999999);
        assert_true(fmod(width, number(&n, PLM_ARGUMENT_HEADS)) == 0);
    }
}

/* A row does not depend on how many there are, nor on other families; another seed is another table. */
static void test_seed(void **state)
{
    struct plm_generated a, b;
    (void)state;
    plm_generated_draw(PLM_FAMILY_MLP, 5, 17, &a);
    plm_generated_draw(PLM_FAMILY_MLP, 5, 17, &b);
    assert_memory_equal(&a, &b, sizeof a);
    plm_generated_draw(PLM_FAMILY_MLP, 6, 17, &b);
    assert_memory_not_equal(&a, &b, sizeof a);
    plm_generated_draw(PLM_FAMILY_MLP, 5, 18, &b);
    assert_memory_not_equal(&a, &b, sizeof a);
}

/* ---- steps ---- */

static const char *plan_text(const char *samples, const char *batch)
{
    static char text[256];
    struct plm_generated n = {.family = PLM_FAMILY_TRANSFORMER};
    struct plm_plan plan;
    int used = 0;
    snprintf(n.cell[PLM_ARGUMENT_SAMPLES], sizeof n.cell[0], "%s", samples);
    snprintf(n.cell[PLM_ARGUMENT_BATCH], sizeof n.cell[0], "%s", batch);
    plan = plm_generated_plan(&n);
    for (size_t i = 0; i < plan.steps; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%u", i ? " " : "", plan.step[i]);
    snprintf(text + used, sizeof text - (size_t)used, " of %llu+%llu", (unsigned long long)plan.full,
             (unsigned long long)plan.rest);
    return text;
}

static void test_plan(void **state)
{
    (void)state;
    assert_string_equal(plan_text("", "1000"), "1000 1000 1000 1000 96 1000 1000 of 4+96");
    assert_string_equal(plan_text("", "1024"), "1024 1024 1024 1024 1024 1024 of 4+0");
    assert_string_equal(plan_text("100", "60"), "60 40 60 40 of 1+40");
    assert_string_equal(plan_text("100", "128"), "100 100 100 of 0+100");
    /* 341 full batches: 6 + 341 % 6 */
    assert_string_equal(plan_text("", "12"), "12 12 12 12 12 12 12 12 12 12 12 4 12 12 of 341+4");
}

/* ---- tables ---- */

#define HEAD "family,input,output,depth,arch,batch,activation,dropout,batchnorm,vocabulary,width,heads,ff,sequence\n"

static int read_text(const char *text, enum plm_family family, struct plm_generated *n, struct plm_error *error)
{
    struct plm_csv table;
    int status = plm_csv_take("t.csv", strdup(text), strlen(text), &table, error);
    assert_int_equal(status, 0);
    status = plm_generated_read(&table, 0, family, n, error);
    plm_csv_free(&table);
    return status;
}

static void test_read(void **state)
{
    struct plm_generated n;
    struct plm_error error = {0};
    (void)state;
    assert_int_equal(read_text(HEAD "mlp,8,2,1,uniform,16,relu,,0,,,,,\n", PLM_FAMILIES, &n, &error), 0);
    assert_int_equal(n.family, PLM_FAMILY_MLP);
    assert_string_equal(n.cell[PLM_ARGUMENT_BATCH], "16");
    assert_int_equal(read_text(HEAD "transformer,,9,2,,16,,0.5,,100,96,3,200,77\n", PLM_FAMILIES, &n, &error), 0);
    assert_string_equal(n.cell[PLM_ARGUMENT_SAMPLES], "");
}

static void test_read_refused(void **state)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {HEAD "net,8,2,1,uniform,16,relu,,0,,,,,\n", "t.csv:2: family is \"net\", which is not one of: mlp"},
        {HEAD "mlp,0,2,1,uniform,16,relu,,0,,,,,\n", "input is \"0\", which is not a whole number from 1"},
        {HEAD "mlp,123456789,2,1,uniform,16,relu,,0,,,,,\n", "input is \"123456789\""},
        {HEAD "mlp,8,2,1,round,16,relu,,0,,,,,\n", "arch is \"round\", which is not one of: pyramid uniform"},
        {HEAD "mlp,8,2,1,uniform,16,re,,0,,,,,\n", "activation is \"re\""},
        {HEAD "mlp,8,2,1,uniform,-16,relu,,0,,,,,\n", "batch is \"-16\""},
        {HEAD "mlp,8,2,1,uniform,16,relu,1,0,,,,,\n", "dropout is \"1\", which is not a share"},
        {HEAD "mlp,8,2,1,uniform,16,relu,,yes,,,,,\n", "batchnorm is \"yes\""},
        {HEAD "mlp,8,2,1,uniform,9999999999,relu,,0,,,,,\n", "batch is \"9999999999\""},
        {HEAD "transformer,,9,2,,16,,0.5,,100,96,5,200,77\n", "heads is \"5\", which is not a divisor of the width"},
        {HEAD "cnn,64,9,2,uniform,16,relu,,0,,,,,\n", "has no column \"channels\", which a network of the family cnn"},
        {"input\n8\n", "has no column \"family\"; give it with --family"},
    };
    struct plm_generated n;
    struct plm_error error = {0};
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(read_text(bad[i].text, PLM_FAMILIES, &n, &error), PLM_EFORMAT);
        assert_contains(error.text, bad[i].part);
    }
}

/* ---- a dataset ---- */

static struct plm_install install;
static const struct plm_card card = {.id = "a100-40gb"};

static struct plm_dataset_settings settings_make(void)
{
    return (struct plm_dataset_settings){.install = &install,
                                         .card = &card,
                                         .python = "python3",
                                         .script = "/nowhere/__main__.py",
                                         .workloads = "/nowhere",
                                         .kept = unit_path("rows.csv.partial"),
                                         .folder = "/nowhere",
                                         .family = {PLM_FAMILY_MLP},
                                         .families = 1,
                                         .rows = 3,
                                         .jobs = 1};
}

static size_t columns_count(const struct plm_dataset *d)
{
    char buffer[128];
    size_t count = 0;
    while (plm_dataset_column(d, count, buffer))
        count++;
    return count;
}

static char *line_make(const struct plm_dataset *d, size_t row, const struct plm_dataset_answer *answer)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "%zu 0 ", row);
    plm_dataset_put(out, d, &d->row[row], answer);
    fclose(out);
    return text;
}

/* Every line has a cell for each column, whatever is known. */
static void test_line(void **state)
{
    const struct plm_labels labels = {.known = true,
                                      .allocated = 5,
                                      .reserved = 7,
                                      .device_used = 11,
                                      .oom = true,
                                      .step_ms = 2.5,
                                      .metric = {.1, .2, .3, .4, .5}};
    struct plm_layer layer = {.kind = PLM_LAYER_LINEAR, .elements = 4, .width = 2, .parameters = 6, .flops = 8};
    const struct plm_example example = {.number = {[PLM_EXAMPLE_BATCH] = 2}, .layer = &layer, .layers = 1};
    const struct plm_dataset_answer answers[] = {
        {.labels = &labels, .example = &example, .torch = "2.15.0", .stack = "none", .status = "ok"},
        {.labels = NULL, .example = &example, .torch = "", .stack = "none", .status = "it failed, \"so\""},
        {.labels = &labels, .example = NULL, .torch = "2.15.0", .stack = "none", .status = "ok"},
    };
    struct plm_dataset_settings s = settings_make();
    struct plm_error error = {0};
    struct plm_dataset d;
    struct plm_csv table;
    char *text = NULL;
    size_t size;
    FILE *out;
    (void)state;
    assert_int_equal(plm_dataset_make(&s, &d, &error), 0);
    assert_int_equal(d.rows, 3);
    for (size_t i = 0; i < COUNT(answers); i++) {
        char *line = line_make(&d, i, &answers[i]);
        plm_dataset_take(&d, line);
        free(line);
    }
    out = open_memstream(&text, &size);
    assert_int_equal(plm_dataset_write(out, &d, NULL, &error), 0);
    fclose(out);
    assert_int_equal(plm_csv_take("out", text, size, &table, &error), 0);
    assert_int_equal(table.columns, columns_count(&d));
    assert_string_equal(plm_csv_cell(&table, 0, plm_csv_column(&table, "device_used")), "11");
    assert_string_equal(plm_csv_cell(&table, 0, plm_csv_column(&table, "oom")), "1");
    assert_string_equal(plm_csv_cell(&table, 0, plm_csv_column(&table, "fp32a")), "0.5");
    assert_string_equal(plm_csv_cell(&table, 0, plm_csv_column(&table, "layers")), "linear:4:2:6:8:");
    assert_string_equal(plm_csv_cell(&table, 1, plm_csv_column(&table, "status")), "it failed, \"so\"");
    assert_string_equal(plm_csv_cell(&table, 1, plm_csv_column(&table, "reserved")), "");
    assert_string_equal(plm_csv_cell(&table, 1, plm_csv_column(&table, "x_batch")), "2");
    assert_string_equal(plm_csv_cell(&table, 2, plm_csv_column(&table, "step_ms")), "2.5");
    plm_csv_free(&table);
    plm_dataset_free(&d);
}

/* Columns of both, those of the older table first; rows too. */
static void test_append(void **state)
{
    static const char older_text[] = "family,mine,row\nscript,\"a,b\",9\n";
    const struct plm_dataset_answer answer = {.torch = "", .stack = "none", .status = "no"};
    struct plm_dataset_settings s = settings_make();
    struct plm_error error = {0};
    struct plm_dataset d;
    struct plm_csv older, table;
    char *text = NULL;
    size_t size;
    FILE *out;
    (void)state;
    s.rows = 1;
    assert_int_equal(plm_dataset_make(&s, &d, &error), 0);
    text = line_make(&d, 0, &answer);
    plm_dataset_take(&d, text);
    free(text);
    assert_int_equal(plm_csv_take("older", strdup(older_text), strlen(older_text), &older, &error), 0);
    out = open_memstream(&text, &size);
    assert_int_equal(plm_dataset_write(out, &d, &older, &error), 0);
    fclose(out);
    assert_int_equal(plm_csv_take("out", text, size, &table, &error), 0);
    assert_int_equal(table.rows, 2);
    assert_int_equal(table.columns, columns_count(&d) + 1);
    assert_string_equal(plm_csv_cell(&table, 0, plm_csv_column(&table, "mine")), "a,b");
    assert_string_equal(plm_csv_cell(&table, 1, plm_csv_column(&table, "mine")), "");
    assert_string_equal(plm_csv_cell(&table, 1, plm_csv_column(&table, "row")), "1");
    assert_string_equal(plm_csv_cell(&table, 1, plm_csv_column(&table, "status")), "no");
    plm_csv_free(&table);
    plm_csv_free(&older);
    plm_dataset_free(&d);
}

/* A file that was cut in a line has the lines before it; one with other settings is refused. */
static void test_resume(void **state)
{
    struct plm_layer layer = {.kind = PLM_LAYER_LINEAR, .elements = 400, .width = 2, .parameters = 6, .flops = 8};
    const struct plm_example example = {.layer = &layer, .layers = 1};
    const struct plm_dataset_answer answer = {.example = &example, .torch = "", .stack = "none", .status = "ok"};
    struct plm_dataset_settings s = settings_make();
    struct plm_error error = {0};
    struct plm_dataset d;
    char *line, *kept;
    FILE *out;
    (void)state;
    assert_int_equal(plm_dataset_make(&s, &d, &error), 0);
    assert_int_equal(plm_dataset_resume(&d, false, &error), 0);
    out = fopen(s.kept, "a");
    line = line_make(&d, 1, &answer);
    fputs(line, out);
    fputs("7 0 a row that is not asked for\n", out);
    fputs("2 0 too,few,cells\n", out);
    fprintf(out, "0 0 %.*s", (int)strlen(line + 4) - 6, line + 4); /* cut in its last cell */
    fclose(out);
    plm_dataset_free(&d);
    assert_int_equal(plm_dataset_make(&s, &d, &error), 0);
    if (plm_dataset_resume(&d, false, &error))
        fail_msg("%s", error.text);
    assert_null(d.row[0].line);
    assert_string_equal(d.row[1].line, line + 4);
    assert_null(d.row[2].line);
    free(line);
    plm_dataset_free(&d);
    kept = unit_read(s.kept, NULL); /* without the half of a line: the next one is added behind it */
    assert_int_equal(strncmp(kept, "plimsoll dataset --family mlp", 29), 0);
    assert_string_equal(strstr(kept, "2 0 too"), "2 0 too,few,cells\n");
    free(kept);
    s.seed = 3;
    assert_int_equal(plm_dataset_make(&s, &d, &error), 0);
    assert_int_equal(plm_dataset_resume(&d, false, &error), PLM_EINVAL);
    assert_contains(error.text, "was started with --family mlp --rows 3 --seed 0 --gpu a100-40gb");
    unit_write(s.kept, SAYS("plimsoll dataset \n1 0 a row\n"));
    assert_int_equal(plm_dataset_resume(&d, false, &error), PLM_EINVAL);
    assert_null(strchr(error.text, '\n'));
    assert_contains(error.text, "does not say which options it was started with; -f starts over");
    assert_int_equal(plm_dataset_resume(&d, true, &error), 0);
    assert_null(d.row[1].line);
    plm_dataset_clean(&d);
    assert_int_equal(access(s.kept, F_OK), -1);
    plm_dataset_free(&d);
}

/* How the rows of a chunk ended. What has no room in a line is not taken for the next one. */
static void test_ends(void **state)
{
    const struct plm_chunk chunk = {.folder = unit_folder(), .name = "ends"};
    struct plm_chunk_end end[4];
    char errors[2048];
    const size_t cut = 1023; /* where a reader of 1024 bytes begins anew */
    (void)state;
    unit_write(unit_path("ends.csv.done"), SAYS("11,0,0\n12,1,1\n13,2,-2147483648\n14,3,-9\n15,4,0\nx\n"));
    memset(errors, '.', sizeof errors);
    memcpy(errors, "1 no", 4);
    memcpy(errors + cut, "3 wrong\n3 killed\n", 18);
    unit_write(unit_path("ends.csv.errors"), errors, cut + 17);
    plm_chunk_ends(&chunk, end, COUNT(end));
    assert_true(end[0].pid == 11 && end[3].pid == 14);
    assert_string_equal(end[0].why, "");
    assert_memory_equal(end[1].why, "no...", 5);
    assert_string_equal(end[2].why, "killed by signal 2147483648");
    assert_string_equal(end[3].why, "killed");
    unit_write(unit_path("ends.csv.errors"), errors, cut + 8);
    plm_chunk_ends(&chunk, end, COUNT(end));
    assert_string_equal(end[3].why, "killed by signal 9");
    plm_chunk_clear(&chunk);
}

/* A file, a link or a folder of that name which no dataset began is neither used nor removed, also not with `anew`. */
static void test_strangers(void **state)
{
    struct plm_dataset_settings s = settings_make();
    struct plm_error error = {0};
    struct plm_dataset d;
    struct stat there;
    char *text;
    (void)state;
    unit_write(unit_path("thesis"), "plimsoll dat", 12);
    for (int kind = 0; kind < 4; kind++) {
        if (kind == 1)
            assert_int_equal(mkdir(s.kept, 0700), 0);
        else if (kind == 2)
            assert_int_equal(symlink(unit_path("thesis"), s.kept), 0);
        else if (kind == 3)
            assert_int_equal(symlink(unit_path("not-there"), s.kept), 0);
        else
            unit_write(s.kept, "", 0);
        assert_int_equal(plm_dataset_make(&s, &d, &error), 0);
        assert_int_equal(plm_dataset_resume(&d, true, &error), PLM_EINVAL);
        assert_contains(error.text, "`plimsoll dataset` did not make it");
        plm_dataset_clean(&d);
        plm_dataset_free(&d);
        assert_int_equal(lstat(s.kept, &there), 0);
        assert_int_equal(remove(s.kept), 0);
    }
    assert_int_equal(access(unit_path("not-there"), F_OK), -1);
    text = unit_read(unit_path("thesis"), NULL);
    assert_string_equal(text, "plimsoll dat");
    free(text);
    /* Begun, and another file has the name when the table is written. */
    assert_int_equal(plm_dataset_make(&s, &d, &error), 0);
    assert_int_equal(plm_dataset_resume(&d, false, &error), 0);
    assert_int_equal(rename(unit_path("thesis"), s.kept), 0);
    plm_dataset_clean(&d);
    plm_dataset_free(&d);
    assert_int_equal(unlink(s.kept), 0);
}

/* Figures of a table that no dataset wrote were measured; those of one that did are made again. */
static void test_carried(void **state)
{
    static const char *const text[] = {HEAD "mlp,8,2,1,uniform,16,relu,,0,,,,,\n",
                                       "input,output,depth,arch,batch,activation,dropout,batchnorm,device_mib,gputl\n"
                                       "8,2,1,uniform,16,relu,,0,1500,34.5\n",
                                       "input,output,depth,arch,batch,activation,dropout,batchnorm,gputl,x_layers,"
                                       "measured_gputl\n8,2,1,uniform,16,relu,,0,.3,4,34.5\n"};
    static const char *const expected[] = {"", "measured_device_mib measured_gputl ", "measured_gputl "};
    (void)state;
    for (size_t i = 0; i < COUNT(text); i++) {
        struct plm_dataset_settings s = settings_make();
        struct plm_error error = {0};
        struct plm_dataset d;
        char buffer[128], found[256] = "";
        const char *name;
        s.from = unit_path("from.csv");
        unit_write(s.from, text[i], strlen(text[i]));
        if (plm_dataset_make(&s, &d, &error))
            fail_msg("%s", error.text);
        for (size_t k = 0; (name = plm_dataset_column(&d, k, buffer)); k++)
            if (!strncmp(name, "measured_", 9))
                strcat(strcat(found, name), " ");
        assert_string_equal(found, expected[i]);
        plm_dataset_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mlp),       cmocka_unit_test(test_cnn),          cmocka_unit_test(test_transformer),
        cmocka_unit_test(test_seed),      cmocka_unit_test(test_plan),         cmocka_unit_test(test_read),
        cmocka_unit_test(test_line),      cmocka_unit_test(test_read_refused), cmocka_unit_test(test_append),
        cmocka_unit_test(test_resume),    cmocka_unit_test(test_ends),         cmocka_unit_test(test_carried),
        cmocka_unit_test(test_strangers),
    };
    return RUN(tests);
}
