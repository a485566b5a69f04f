/* Tables of runs explored: components, the map, ranks, histograms, classes, thin places, and tables that are refused. */
#include "study/learn/explore.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/draw.h"
#include "common/error.h"
#include "base/spearman.h"
#include "base/csv.h"
#include "study/learn/tsne.h"
#include "unit.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

/* ---- components ---- */

/* Two columns with the correlation r have the eigenvalues 1 + r and 1 - r, along (1, 1) and (1, -1). */
static void test_two_columns(void **state)
{
    /* Deviations (-1, -1, 1, 1) and (-1, 1, 1, 3) less 1: r = 4 / sqrt(4 * 8). */
    static const double x[] = {9, 100, 9, 300, 11, 300, 11, 500};
    const double r = 1 / sqrt(2);
    double standard[2];
    struct plm_pca p;
    (void)state;
    plm_pca_make(x, 4, 2, &p);
    NEAR(p.mean[0], 10);
    NEAR(p.mean[1], 300);
    NEAR(p.scale[0], 1);
    NEAR(p.scale[1], 100 * sqrt(2));
    NEAR(p.share[0], (1 + r) / 2);
    NEAR(p.share[1], (1 - r) / 2);
    NEAR(p.weight[0], sqrt(0.5));
    NEAR(p.weight[1], sqrt(0.5));
    NEAR(fabs(p.weight[2]), sqrt(0.5));
    NEAR(p.weight[2], -p.weight[3]);
    plm_pca_standardize(&p, x, standard);
    NEAR(plm_pca_project(&p, standard, 0), sqrt(0.5) * (-1 - sqrt(2)));
    plm_pca_free(&p);
}

/* Columns that have nothing to do with each other share the variance; one that never varies weighs nothing. */
static void test_independent_columns(void **state)
{
    static const double x[] = {1, 1, 0, 7, 1, 0, 1, 7, 0, 1, 1, 7, 0, 0, 0, 7};
    struct plm_pca p;
    (void)state;
    plm_pca_make(x, 4, 4, &p);
    for (size_t i = 0; i < 3; i++) {
        NEAR(p.share[i], 1.0 / 3);
        NEAR(p.weight[i * 4 + 3], 0);
    }
    NEAR(p.share[3], 0);
    NEAR(p.scale[3], 0);
    plm_pca_free(&p);
}

static void test_vectors_are_orthonormal(void **state)
{
    enum { ROWS = 60, FEATURES = 9 };
    static double x[ROWS * FEATURES];
    double sum = 0;
    struct plm_pca p;
    (void)state;
    for (size_t i = 0; i < ROWS * FEATURES; i++)
        x[i] = (double)((i * i * 7919 + i * 104729) % 1000) + (i % FEATURES == 4 ? x[i - 4] : 0);
    plm_pca_make(x, ROWS, FEATURES, &p);
    for (size_t a = 0; a < FEATURES; a++) {
        sum += p.share[a];
        assert_true(!a || p.share[a] <= p.share[a - 1]);
        for (size_t b = 0; b < FEATURES; b++) {
            double dot = 0;
            for (size_t k = 0; k < FEATURES; k++)
                dot += p.weight[a * FEATURES + k] * p.weight[b * FEATURES + k];
            NEAR(dot, a == b);
        }
    }
    NEAR(sum, 1);
    plm_pca_free(&p);
}

/* ---- the map ---- */

enum { CLUSTERS = 4, EACH = 30, DIMENSIONS = 6, POINTS = CLUSTERS * EACH };

/* Clusters of width 1 around corners that are 20 apart; the start tells nothing of them. */
static void clusters_make(double *x, double *start)
{
    uint64_t random = 1;
    for (size_t i = 0; i < POINTS; i++)
        for (size_t k = 0; k < DIMENSIONS; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            x[i * DIMENSIONS + k] = (double)(random >> 40) / (1 << 24) + (i % CLUSTERS == k ? 20 : 0);
        }
    for (size_t i = 0; i < 2 * (size_t)POINTS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        start[i] = 1e-4 * ((double)(random >> 40) / (1 << 24) - 0.5);
    }
}

static void test_clusters_stay_apart(void **state)
{
    static double x[POINTS * DIMENSIONS], map[2 * POINTS], again[2 * POINTS];
    double middle[2] = {0};
    (void)state;
    clusters_make(x, map);
    memcpy(again, map, sizeof map);
    plm_tsne(x, POINTS, DIMENSIONS, 10, 400, map);
    plm_tsne(x, POINTS, DIMENSIONS, 10, 400, again);
    assert_memory_equal(map, again, sizeof map);
    for (size_t i = 0; i < POINTS; i++) {
        double same = 0, other = INFINITY;
        for (size_t k = 0; k < POINTS; k++) {
            const double d = hypot(map[2 * i] - map[2 * k], map[2 * i + 1] - map[2 * k + 1]);
            if (i % CLUSTERS == k % CLUSTERS)
                same = fmax(same, d);
            else
                other = fmin(other, d);
        }
        assert_true(isfinite(same) && same < other);
        middle[0] += map[2 * i];
        middle[1] += map[2 * i + 1];
    }
    assert_true(fabs(middle[0]) < 1e-6 && fabs(middle[1]) < 1e-6);
}

/* Of ten rows each has three neighbours at the most, whatever is asked for. */
static void test_few_neighbours(void **state)
{
    static double x[POINTS * DIMENSIONS], map[2 * POINTS], again[2 * POINTS];
    (void)state;
    clusters_make(x, map);
    memcpy(again, map, sizeof map);
    plm_tsne(x, 10, DIMENSIONS, 30, 50, map);
    plm_tsne(x, 10, DIMENSIONS, 3, 50, again);
    assert_memory_equal(map, again, 20 * sizeof *map);
}

/* Equal rows, and too few for any neighbour: finite places. */
static void test_odd_maps(void **state)
{
    static double x[40], map[20] = {1e-4, 2e-4, -1e-4, 0, 3e-4, 1e-4};
    (void)state;
    plm_tsne(x, 10, 4, 30, 50, map);
    for (size_t rows = 1; rows <= 4; rows++)
        plm_tsne(x, rows, 4, 30, 50, map);
    for (size_t i = 0; i < 20; i++)
        assert_true(isfinite(map[i]));
}

/* ---- ranks ---- */

static void test_spearman(void **state)
{
    /* The example of every textbook: hours and IQ of ten people, -29/165. */
    static const double iq[] = {106, 86, 100, 101, 99, 103, 97, 113, 112, 110};
    static const double hours[] = {7, 0, 27, 50, 28, 29, 20, 12, 6, 17};
    static const double ties[] = {1, 2, 2, 3}, up[] = {1, 20, 300, 4000};
    static const double same[] = {5, 5, 5, 5};
    (void)state;
    NEAR(plm_spearman(iq, hours, 10), -29.0 / 165);
    NEAR(plm_spearman(up, up, 4), 1);
    /* Ranks 1, 2.5, 2.5, 4 with 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5). */
    NEAR(plm_spearman(ties, up, 4), 4.5 / sqrt(4.5 * 5));
    assert_true(isnan(plm_spearman(same, up, 4)));
}

/* ---- histograms ---- */

static void test_few_numbers(void **state)
{
    static const double value[] = {-1, 0, 0, 2, 2, 2};
    struct plm_explore_histogram h;
    (void)state;
    plm_explore_histogram_make(value, 6, &h);
    assert_true(h.one_by_one);
    assert_int_equal(h.bins, 3);
    assert_int_equal(h.count[0], 1);
    assert_int_equal(h.count[1], 2);
    assert_int_equal(h.count[2], 3);
    NEAR(h.value[2], 2);
}

static void test_linear_bins(void **state)
{
    double value[64];
    struct plm_explore_histogram h;
    (void)state;
    for (size_t i = 0; i < 64; i++)
        value[i] = 100 + (double)i;
    plm_explore_histogram_make(value, 64, &h);
    assert_false(h.one_by_one || h.logarithmic);
    assert_int_equal(h.bins, 8); /* two times the cube root of 64 */
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(h.count[i], 8);
    NEAR(plm_explore_edge(&h, 4), 131.5);
}

static void test_logarithmic_bins(void **state)
{
    double value[66] = {0, 0};
    struct plm_explore_histogram h;
    (void)state;
    for (size_t i = 0; i < 64; i++)
        value[i + 2] = pow(2, (double)i / 4);
    plm_explore_histogram_make(value, 66, &h);
    assert_true(h.logarithmic);
    assert_int_equal(h.below, 2);
    assert_int_equal(h.bins, 9);
    NEAR(plm_explore_edge(&h, 0), 1);
    for (size_t i = 0; i < 9; i++)
        assert_in_range(h.count[i], 6, 8); /* 64 over 9 */
    /* Most are large: a linear axis shows them. */
    for (size_t i = 2; i < 66; i++)
        value[i] = i < 10 ? (double)i : 30000 + 500 * (double)i;
    plm_explore_histogram_make(value + 2, 64, &h);
    assert_false(h.logarithmic);
    for (size_t i = 0; i < 66; i++)
        value[i] = i < 2 ? 0 : pow(2, (double)(i - 2) / 4);
    value[0] = -3; /* two sorts of numbers that are not above 0: no column of sizes */
    plm_explore_histogram_make(value, 66, &h);
    assert_false(h.logarithmic);
}

/* ---- tables ---- */

static struct plm_csv table_of(const char *text)
{
    struct plm_csv table;
    struct plm_error error;
    const char *path = unit_path("rows.csv");
    unit_write(path, text, strlen(text));
    if (plm_csv_read(path, &table, &error))
        fail_msg("%s", error.text);
    return table;
}

static const struct plm_explore_settings quick = {.iterations = 20};

static void refused(const char *text, const struct plm_explore_settings *settings, int code, const char *part)
{
    struct plm_csv table = table_of(text);
    struct plm_explore e;
    struct plm_error error;
    assert_int_equal(plm_explore_make(&table, settings, &e, &error), code);
    assert_contains(error.text, part);
    assert_null(strchr(error.text, '\n'));
    plm_csv_free(&table);
}

static void test_refused_tables(void **state)
{
    (void)state;
    refused("a,b\n1,2\n", &quick, PLM_EFORMAT, "one row");
    refused("a,b\n", &quick, PLM_EFORMAT, "a header and no rows");
    refused("family,arch\nmlp,pyramid\nmlp,uniform\n", &quick, PLM_EFORMAT, "no column of numbers");
    refused("family,row\nmlp,1\nmlp,2\n", &quick, PLM_EFORMAT, "no column of numbers");
    refused("x_batch,reserved\n8,512\n8,512\n8,512\n", &quick, PLM_EFORMAT, "every row has the same numbers");
    refused("x_batch,reserved\n8,512\nnan,513\n", &quick, PLM_EFORMAT, "rows.csv:3: x_batch is \"nan\"");
    refused("depth,reserved\n8,512\nNaN,513\n", &quick, PLM_EFORMAT, "depth is \"NaN\"");
    refused("depth,reserved\n8,512\n9,inf\n", &quick, PLM_EFORMAT, "reserved is \"inf\"");
    refused("x_batch,reserved\n8,512\n9,much\n", &quick, PLM_EFORMAT,
            "reserved is \"much\", which is not a finite number");
    refused("x_batch,reserved\n8,512\n9,-4\n", &quick, PLM_EFORMAT,
            "reserved is \"-4\", which is not an amount of memory");
    refused("x_batch,reserved\n8,512\n9,1e18\n", &quick, PLM_EFORMAT, "an amount of memory that a card could have");
    refused("x_batch,reserved\n8,512\n9,513\n", &(struct plm_explore_settings){.bin = -1}, PLM_EINVAL, "not -1");
    refused("x_batch,arch\n8,a\n9,b\n", &(struct plm_explore_settings){.target = "arch"}, PLM_EINVAL,
            "no column \"arch\" with numbers");
}

static struct plm_explore explored(const struct plm_csv *table, const struct plm_explore_settings *settings)
{
    struct plm_explore e;
    struct plm_error error;
    if (plm_explore_make(table, settings, &e, &error))
        fail_msg("%s", error.text);
    return e;
}

static const struct plm_explore_column *column(const struct plm_explore *e, const char *name)
{
    for (size_t i = 0; i < e->columns; i++)
        if (!strcmp(e->column[i].name, name))
            return &e->column[i];
    fail_msg("no column %s", name);
    return NULL;
}

static void test_columns(void **state)
{
    struct plm_csv t = table_of("family,row,arch,dropout,torch,x_batch,reserved,measured_name,layers,void\n"
                                "mlp,0,pyramid,0.5,2.6,8,2097152,a,linear:1,\n"
                                "mlp,1,nan,,2.6,16,4194304,b,linear:2,\n"
                                "cnn,2,uniform,0.25,2.6,32,4194304,a,linear:3,\n");
    struct plm_explore e = explored(&t, &quick);
    (void)state;
    assert_int_equal(column(&e, "family")->kind, PLM_EXPLORE_CATEGORY);
    assert_string_equal(column(&e, "family")->word[0], "cnn");
    assert_int_equal(column(&e, "family")->words[1], 2);
    assert_int_equal(column(&e, "torch")->kind, PLM_EXPLORE_CATEGORY); /* a version is no number */
    assert_int_equal(column(&e, "arch")->kind, PLM_EXPLORE_CATEGORY); /* and among words "nan" is one */
    assert_int_equal(column(&e, "dropout")->known, 2);
    assert_true(isnan(column(&e, "dropout")->value[1]));
    assert_false(column(&e, "dropout")->whole);
    assert_int_equal(column(&e, "x_batch")->role, PLM_EXPLORE_FEATURE);
    NEAR(column(&e, "x_batch")->median, 16);
    assert_int_equal(column(&e, "reserved")->role, PLM_EXPLORE_LABEL);
    assert_int_equal(column(&e, "measured_name")->role, PLM_EXPLORE_LABEL);
    assert_int_equal(column(&e, "void")->kind, PLM_EXPLORE_EMPTY);
    /* x_batch rises with reserved; dropout has two rows, too few. */
    assert_int_equal(e.givens, 2);
    assert_int_equal(e.labels, 1);
    assert_true(isnan(e.spearman[0]));
    NEAR(e.spearman[1], 3 / sqrt(12)); /* ranks 1, 2, 3 and 1, 2.5, 2.5 */
    /* Two levels of memory, one step. */
    assert_int_equal(e.stairs_count, 1);
    assert_int_equal(e.stairs[0].levels, 2);
    assert_int_equal(e.stairs[0].even, 3);
    NEAR(e.stairs[0].step, 2);
    plm_explore_free(&e);
    plm_csv_free(&t);
}

/* A GB is 1000 MiB, and its end is in the next class. The last row lies, by its features, among those of another. */
static void test_classes(void **state)
{
    struct plm_csv t = table_of("x_batch,x_layers,measured_device_mib,device_used,oom\n"
                                "1,1,999,1,0\n2,1,1.5,1,0\n1,2,0,1,0\n"
                                "101,9,1000,1,0\n102,9,1999,1,0\n101,8,1500,1,0\n"
                                "7,7,,1,0\n300,30,,1,1\n301,30,5,1,1\n3,1,1700,1,0\n");
    struct plm_explore e = explored(&t, &quick);
    char text[300];
    (void)state;
    assert_string_equal(e.column[e.memory].name, "measured_device_mib");
    assert_int_equal(e.classes, 2);
    assert_int_equal(e.class[0].rows, 3);
    assert_int_equal(e.class[1].number, 1);
    assert_int_equal(e.class[1].rows, 4);
    assert_int_equal(e.oom, 2);
    assert_int_equal(e.unclassed, 1);
    assert_string_equal(plm_explore_class_text(&e, 1, text, sizeof text), "1 to 2 GB");
    assert_int_equal(e.asked, 9);
    assert_int_equal(e.alike, 8);
    assert_int_equal(e.guessed, 4);
    assert_contains(plm_explore_parting_text(&e, text, sizeof text), "88.9 % of rows; the largest class has 44.4 %");
    plm_explore_free(&e);
    e = explored(&t, &(struct plm_explore_settings){.bin = 8, .target = "device_used", .iterations = 5});
    assert_string_equal(e.column[e.memory].name, "device_used");
    assert_int_equal(e.classes, 1);
    assert_string_equal(plm_explore_class_text(&e, 0, text, sizeof text), "0 to 8 GB");
    plm_explore_free(&e);
    plm_csv_free(&t);
}

/* ---- thin places ---- */

/* 400 rows: x_batch from 1 to 300, with one alone at 1000; 3 rows of 5 GB, none of 2 to 4; 2 of another family. */
static char *thin_table(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fputs("family,x_batch,x_layers,device_used\n", out);
    for (int i = 0; i < 400; i++)
        fprintf(out, "%s,%d,%d,%ju\n", i < 2 ? "rare" : "mlp", i == 9 ? 1000 : 11 + i % 290, 1 + i % 4,
                (uintmax_t)(i % 2     ? 100
                            : i > 393 ? 5100
                                      : 1200)
                    << 20);
    fclose(out);
    return text;
}

static void test_thin(void **state)
{
    char *text = thin_table();
    struct plm_csv t = table_of(text);
    struct plm_explore e = explored(&t, &quick);
    char *all = NULL;
    size_t size;
    FILE *out = open_memstream(&all, &size);
    const struct plm_page page = {.out = out, .width = 400};
    struct plm_error error;
    (void)state;
    assert_int_equal(plm_explore_text(&page, &e, &error), 0);
    fclose(out);
    assert_contains(all, "400 rows, 4 columns: mlp 398, rare 2\n");
    assert_contains(all, "Classes of 1 GB (of 1000 MiB) by device_used:\n  0 to 1 GB               200");
    assert_contains(all, "Few rows in one memory class: 5 to 6 GB (3).");
    assert_contains(all, "No row uses from 2 to 5 GB.");
    assert_contains(all, "family: few rows with rare (2).");
    /* 15 bins from 11 to 1000; 300 is in the fifth, which ends at 11 + 989 / 3. */
    assert_contains(all, "x_batch: 1 row from 341 to 1 k, 67 % of its range.");
    assert_null(strstr(all, "x_layers"));
    assert_int_equal(e.thins, 4);
    free(all);
    free(text);
    plm_explore_free(&e);
    plm_csv_free(&t);
}

/* ---- the page ---- */

static char *page_of(const struct plm_csv *t, const struct plm_explore_settings *settings)
{
    char *page = NULL;
    size_t size;
    FILE *out = open_memstream(&page, &size);
    struct plm_error error;
    const int status = plm_explore_write(t, settings, out, &error);
    fclose(out);
    if (status == PLM_ENOTFOUND) { /* a build without the page's libraries */
        assert_contains(error.text, "this build has no page");
        free(page);
        skip();
    }
    assert_int_equal(status, 0);
    return page;
}

static void test_page(void **state)
{
    char *text = thin_table(), *page, *again, *other;
    struct plm_csv t = table_of(text);
    (void)state;
    page = page_of(&t, &quick);
    again = page_of(&t, &quick);
    other = page_of(&t, &(struct plm_explore_settings){.iterations = 20, .seed = 1});
    assert_string_equal(page, again);
    assert_true(strcmp(page, other) != 0);
    assert_contains(page, "\"schema\":\"plimsoll.explore-page/1\"");
    free(page);
    free(again);
    free(other);
    free(text);
    plm_csv_free(&t);
}

/* More rows than a page has: so many, drawn by the seed. */
static void test_many_rows(void **state)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct plm_csv t;
    struct plm_explore e;
    (void)state;
    fputs("x_batch,device_used\n", out);
    for (int i = 0; i < PLM_EXPLORE_SHOWN + 500; i++)
        fprintf(out, "%d,%d\n", i, 7 * i);
    fclose(out);
    t = table_of(text);
    e = explored(&t, &(struct plm_explore_settings){.iterations = 1});
    assert_int_equal(e.showns, PLM_EXPLORE_SHOWN);
    assert_int_equal(e.mappeds, PLM_EXPLORE_MAPPED);
    for (size_t i = 1; i < e.showns; i++)
        assert_true(e.shown[i] > e.shown[i - 1] && e.shown[i] < t.rows);
    for (size_t i = 1; i < e.mappeds; i++)
        assert_true(e.mapped[i] > e.mapped[i - 1] && e.mapped[i] < e.showns);
    NEAR(e.spearman[0], 1);
    plm_explore_free(&e);
    plm_csv_free(&t);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_columns),
        cmocka_unit_test(test_independent_columns),
        cmocka_unit_test(test_vectors_are_orthonormal),
        cmocka_unit_test(test_clusters_stay_apart),
        cmocka_unit_test(test_odd_maps),
        cmocka_unit_test(test_few_neighbours),
        cmocka_unit_test(test_spearman),
        cmocka_unit_test(test_few_numbers),
        cmocka_unit_test(test_linear_bins),
        cmocka_unit_test(test_logarithmic_bins),
        cmocka_unit_test(test_refused_tables),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_thin),
        cmocka_unit_test(test_page),
        cmocka_unit_test(test_many_rows),
    };
    return RUN(tests);
}
