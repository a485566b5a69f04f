/* Cards in a table, and files of constants. */
#include "time_common.h"

/* ---- cards ---- */

static void figures_missing(void **state)
{
    static const struct {
        size_t at;
        const char *name;
    } needed[] = {{offsetof(struct plm_card, bandwidth_gbs), "bandwidth_gbs"},
                  {offsetof(struct plm_card, fp32_tflops), "fp32_tflops"}};
    const struct plm_speeds speeds = plain_speeds();
    const struct plm_timing_options options = {0};
    struct plm_error error;
    (void)state;
    time_steps(slow_gpu, &speeds);
    plm_timing_free(&timing);
    for (size_t i = 0; i < COUNT(needed); i++) {
        struct plm_card card = round_card;
        memset((char *)&card + needed[i].at, 0, sizeof(double));
        assert_int_equal(plm_timing_make(&works, plm_works_main(&works), &card, &speeds, &options, &timing, &error),
                         PLM_ENOTFOUND);
        assert_contains(error.text, needed[i].name);
        assert_contains(error.text, "round");
    }
    plm_works_free(&works);
}

static const char *speeds_file(const struct plm_speeds *speeds)
{
    const char *path = unit_path("speeds.ini");
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    plm_speeds_write(out, speeds);
    assert_int_equal(fclose(out), 0);
    return path;
}

/* Known cards by what is asked for, those that lack a figure at the end; types that a card does not have. */
static void tables(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    struct plm_card card[3] = {round_card, round_card, round_card};
    const struct plm_install install = {0};
    const struct plm_time_question question = {.install = &install, .speeds = speeds_file(&speeds)};
    struct plm_time_table table;
    struct plm_error error;
    (void)state;
    time_steps(half, &speeds);
    snprintf(card[0].id, sizeof card[0].id, "nothing");
    card[0].bandwidth_gbs = 0;
    snprintf(card[1].id, sizeof card[1].id, "old");
    card[1].fp16_tflops = 0;
    snprintf(card[2].id, sizeof card[2].id, "quick");
    card[2].fp32_tflops = card[2].fp16_tflops = 200;
    assert_int_equal(plm_time_table_make(&works, plm_works_main(&works), card, 3, &question, &table, &error), 0);
    table.row[1].price = 0.01;
    table.row[2].price = 1;
    plm_time_table_sort(&table, PLM_TIME_BY_STEP);
    assert_string_equal(table.row[0].card->id, "quick");
    assert_string_equal(table.row[2].card->id, "nothing");
    assert_false(table.row[2].known);
    assert_contains(table.row[2].why, "bandwidth_gbs");
    assert_int_equal(table.row[1].lacks, 1u << PLM_WORK_FP16);
    assert_int_equal(table.row[0].lacks, 0);
    plm_time_table_sort(&table, PLM_TIME_BY_DOLLAR);
    assert_string_equal(table.row[0].card->id, "old");
    assert_near(plm_time_per_dollar(&table.row[1]), 3600e9 / table.row[1].timing.step, 1e-9);
    plm_time_table_sort(&table, PLM_TIME_BY_NAME);
    assert_string_equal(table.row[0].card->id, "old");
    plm_time_table_free(&table);
    assert_non_null(plm_time_lane(&works, 0));
    assert_null(plm_time_lane(&works, 1));
    forget();
}

static struct plm_time_row row_of(const struct plm_card *card, double step, double mfu, double price, bool known)
{
    return (struct plm_time_row){
        .card = card, .known = known, .price = price, .gpus = 1, .timing = {.step = step, .mfu = mfu}};
}

/* Known ones first, then the larger figure, then the shorter step, then the name. */
static void orders_of_tables(void **state)
{
    static const struct plm_card card[] = {{.id = "a"}, {.id = "b"}, {.id = "c"}, {.id = "d"}, {.id = "e"}};
    static const struct {
        enum plm_time_order order;
        const char *ids;
    } rows[] = {{PLM_TIME_BY_STEP, "dbcae"},
                {PLM_TIME_BY_DOLLAR, "cdbae"},
                {PLM_TIME_BY_MFU, "acdbe"},
                {PLM_TIME_BY_NAME, "abcde"}};
    struct plm_time_row row[] = {row_of(&card[4], 0, 0.9, 1, false), row_of(&card[0], 4e9, 0.5, 0, true),
                                 row_of(&card[2], 3e9, 0.4, 1, true), row_of(&card[3], 1e9, 0.1, 6, true),
                                 row_of(&card[1], 3e9, 0.1, 6, true)};
    struct plm_time_table table = {.row = row, .rows = COUNT(row)};
    (void)state;
    assert_near(plm_time_per_dollar(&row[2]), 1200, 1e-9); /* steps of 3 s in an hour that costs 1 */
    row[2].gpus = 4;
    assert_near(plm_time_per_dollar(&row[2]), 300, 1e-9); /* the hour of each of four costs 1 */
    row[2].gpus = 1;
    assert_true(plm_time_per_dollar(&row[1]) <= 0 && plm_time_per_dollar(&row[0]) <= 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        plm_time_table_sort(&table, rows[i].order);
        for (size_t k = 0; k < COUNT(row); k++)
            assert_int_equal(row[k].card->id[0], rows[i].ids[k]);
    }
}

static uint8_t gemm_type;

static void typed(void)
{
    plm_pen_gemm(&pen, 0,
                 &(struct plm_ev_gemm){.m = 512, .n = 512, .k = 512, .batch = 1, .type_a = gemm_type, .compute = 68});
}

/* Of fp16, bf16 and fp8 a card must have what is used; fp32 all have. The host's range follows from what was asked. */
static void types_of_cards(void **state)
{
    static const struct {
        uint8_t type;
        unsigned lacks;
    } rows[] = {{0, 0}, {2, 1u << PLM_WORK_FP16}, {14, 1u << PLM_WORK_BF16}, {28, 1u << PLM_WORK_FP8}};
    const struct plm_speeds speeds = plain_speeds();
    const struct plm_install install = {0};
    char file[512];
    const struct plm_time_question question = {.install = &install, .speeds = file, .host = {true, 3}, .shares = true};
    struct plm_card card[] = {round_card, round_card};
    struct plm_error error;
    (void)state;
    snprintf(file, sizeof file, "%s", speeds_file(&speeds));
    card[0].fp16_tflops = 0;
    card[1].bf16_tflops = card[1].fp8_tflops = 100;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plm_time_table table;
        gemm_type = rows[i].type;
        time_steps(typed, &speeds);
        assert_int_equal(plm_time_table_make(&works, plm_works_main(&works), card, 2, &question, &table, &error), 0);
        assert_int_equal(table.rows, 2);
        assert_int_equal(table.row[0].lacks, rows[i].lacks);
        assert_int_equal(table.row[1].lacks, 0);
        assert_near(table.row[0].host.factor, 3, 1e-9);
        assert_near(table.row[0].host_low, 1.5, 1e-9);
        assert_near(table.row[0].host_high, 6, 1e-9);
        assert_string_equal(table.row[0].speeds, "plain");
        assert_true(table.row[0].timing.operators.count > 0);
        plm_time_table_free(&table);
        forget();
    }
}

/* ---- files of constants ---- */

static void speeds_again(void **state)
{
    struct plm_speeds s = plain_speeds(), again;
    struct plm_error error;
    (void)state;
    for (size_t i = 0; i < PLM_SPEEDS; i++) /* each another one */
        plm_speed_set(&s, &plm_speed[i],
                      plm_speed[i].least +
                          (plm_speed[i].most - plm_speed[i].least) * (double)(i + 1) / (PLM_SPEEDS + 1));
    assert_int_equal(plm_speeds_read(speeds_file(&s), NULL, NULL, &again, &error), 0);
    assert_string_equal(again.name, "plain");
    assert_string_equal(again.source, "a test");
    for (size_t i = 0; i < PLM_SPEEDS; i++)
        assert_near(plm_speed_get(&again, &plm_speed[i]), plm_speed_get(&s, &plm_speed[i]), 1e-5);
}

/* A file need not say where its constants come from; what is written of it can be read again. */
static void speeds_of_unknown_source(void **state)
{
    struct plm_speeds s = plain_speeds(), again;
    struct plm_error error;
    (void)state;
    s.source[0] = '\0';
    if (plm_speeds_read(speeds_file(&s), NULL, NULL, &again, &error))
        fail_msg("%s", error.text);
    assert_string_equal(again.name, "plain");
    assert_string_equal(again.source, "");
}

/* Each may be the least and the most that it can be. */
static void speeds_at_their_limits(void **state)
{
    struct plm_speeds s = plain_speeds(), again;
    struct plm_error error;
    (void)state;
    for (int most = 0; most < 2; most++) {
        for (size_t i = 0; i < PLM_SPEEDS; i++)
            plm_speed_set(&s, &plm_speed[i], most ? plm_speed[i].most : plm_speed[i].least);
        if (plm_speeds_read(speeds_file(&s), NULL, NULL, &again, &error))
            fail_msg("%s", error.text);
    }
}

/* Those that come with plimsoll are whole. */
static void speeds_own(void **state)
{
    struct plm_install install = {0};
    struct plm_card card = {.architecture = "ampere"};
    struct plm_speeds s;
    struct plm_error error;
    (void)state;
    snprintf(install.timing, sizeof install.timing, "%s/data/timing", getenv("PLM_SOURCE"));
    assert_int_equal(plm_speeds_read(NULL, &install, &card, &s, &error), 0);
    assert_string_equal(s.name, "ampere");
    snprintf(card.architecture, sizeof card.architecture, "of tomorrow");
    assert_int_equal(plm_speeds_read(NULL, &install, &card, &s, &error), 0);
}

/* Each group has its heading once; a file of the card's own architecture is taken before that of Ampere. */
static void speeds_written(void **state)
{
    struct plm_speeds s = plain_speeds(), again;
    struct plm_card card = {.architecture = "speeds"};
    struct plm_install install = {0};
    struct plm_error error;
    size_t size;
    char *text;
    (void)state;
    snprintf(install.timing, sizeof install.timing, "%s", unit_folder());
    for (size_t i = 0; i < PLM_SPEEDS; i++)
        plm_speed_set(&s, &plm_speed[i], plm_speed[i].least + (plm_speed[i].most - plm_speed[i].least) * 0.375);
    text = unit_read(speeds_file(&s), &size);
    if (plm_speeds_read(NULL, &install, &card, &again, &error))
        fail_msg("%s", error.text);
    assert_string_equal(again.name, "plain");
    assert_string_equal(again.source, "a test");
    for (size_t i = 0; i < PLM_SPEEDS; i++)
        assert_near(plm_speed_get(&again, &plm_speed[i]), plm_speed_get(&s, &plm_speed[i]), 1e-5);
    assert_near(again.host_factor_high, 0.01 + 99.99 * 0.375, 1e-5); /* of 0.01 to 100 */
    assert_contains(text, "\n\n[host]\n# ");
    assert_contains(text, "\n\n[counted]\n# ");
    assert_null(strstr(strstr(text, "[host]") + 1, "[host]"));
    unit_write(unit_path("speeds.ini"), strstr(text, "[host]"), strlen(strstr(text, "[host]"))); /* nameless */
    assert_int_equal(plm_speeds_read(NULL, &install, &card, &again, &error), 0);
    assert_string_equal(again.name, "");
    free(text);
    snprintf(card.architecture, sizeof card.architecture, "of tomorrow"); /* and there is no ampere.ini here */
    assert_int_equal(plm_speeds_read(NULL, &install, &card, &again, &error), PLM_ENOTFOUND);
    assert_contains(error.text, "/ampere.ini");
}

static void speeds_wrong(void **state)
{
    const struct plm_speeds s = plain_speeds();
    size_t size;
    char *text = unit_read(speeds_file(&s), &size), *line = strstr(text, "floor_us = "), *next;
    struct plm_speeds read;
    struct plm_error error;
    const struct {
        const char *instead;
        const char *says;
    } wrong[] = {
        {"", "lacks floor_us in [kernel]"},
        {"floor_us = -1\n", "not a number from"},
        {"floor_us = 1e9\n", "not a number from"},
        {"floor_us = fast\n", "fast"},
        {"floor_us = nan\n", "not a number from"},
        {"floor_us = 1 2\n", "not a number from"},
        {"floor_us =\n", "floor_us"},
        {"floor_us = 1\nceiling_us = 1\n", "no constant ceiling_us"},
        {"gibberish\n", "speeds.ini:"},
        {"floor_us = 1e-999\n", "floor_us = 1e-999 is not a number from 0 to 1000"}, /* no such number: not 0 */
        {"floor_us = 1\nlaunch_us = 1\n", "no constant launch_us in [kernel]"},       /* it is one of [host] */
        {"floor_us = 1\n[speeds]\nauthor = me\n", "[speeds] has no author"},
    };
    (void)state;
    assert_non_null(line);
    next = strchr(line, '\n') + 1;
    *line = '\0';
    for (size_t i = 0; i < COUNT(wrong); i++) {
        char *changed;
        const int length = asprintf(&changed, "%s%s%s", text, wrong[i].instead, next);
        assert_true(length > 0);
        unit_write(unit_path("speeds.ini"), changed, (size_t)length);
        assert_int_equal(plm_speeds_read(unit_path("speeds.ini"), NULL, NULL, &read, &error), PLM_EFORMAT);
        assert_contains(error.text, wrong[i].says);
        free(changed);
    }
    unit_write(unit_path("speeds.ini"), "", 0);
    assert_true(plm_speeds_read(unit_path("speeds.ini"), NULL, NULL, &read, &error) < 0);
    assert_true(plm_speeds_read(unit_path("none.ini"), NULL, NULL, &read, &error) < 0);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_missing),        cmocka_unit_test(tables),
        cmocka_unit_test(orders_of_tables),       cmocka_unit_test(types_of_cards),
        cmocka_unit_test(speeds_again),           cmocka_unit_test(speeds_of_unknown_source),
        cmocka_unit_test(speeds_at_their_limits), cmocka_unit_test(speeds_own),
        cmocka_unit_test(speeds_wrong),           cmocka_unit_test(speeds_written),
    };
    return RUN(tests);
}
