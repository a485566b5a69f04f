/* Verdicts on jobs that are made by hand, and the formats that carry them. */
#include "report/check.h"

#include <stdlib.h>

#include "fit/ladder.h"
#include "common/error.h"
#include "unit.h"

static struct plm_summary_count config[] = {
    {.name = (char *)"argv[0]", .detail = (char *)"python"},
    {.name = (char *)"argv[1]", .detail = (char *)"a<b>&\"c\".py"},
    {.name = (char *)"argv[2]", .detail = (char *)"x:1,2\n50%\x1b\xff"},
    {.name = (char *)"seconds", .detail = (char *)"1.5"},
};
static struct plm_summary_device device[] = {
    {.rank = 0, .device = 0, .allocated_peak.bytes = 1 * GIB, .reserved_peak = 2 * GIB, .used_peak = 2 * GIB},
    {.rank = 1,
     .device = 0,
     .allocated_peak.bytes = 2 * GIB,
     .reserved_peak = 3 * GIB,
     .used_peak = 3 * GIB,
     .other_end = 4 * GIB},
};
static struct plm_lane lane[] = {{.summary = &device[0]}, {.summary = &device[1]}};

static struct plm_job job_with(size_t lanes)
{
    return (struct plm_job){
        .summary = {.config = {config, COUNT(config), COUNT(config)}}, .lane = lane, .lanes = lanes};
}

static void limits(void **state)
{
    const struct plm_job one = job_with(1), two = job_with(2);
    const struct plm_ladder_context assumed = plm_ladder_context(&one.summary, &device[0], NULL);
    const uint64_t context = assumed.bytes;
    struct plm_check c;
    (void)state;
    c = plm_check_job(&one, &(struct plm_limit){.max = 2 * GIB + context}, NULL, false);
    assert_int_equal(c.outcome, PLM_CHECK_OK);
    assert_int_equal(c.bytes, 2 * GIB + context);
    assert_string_equal(c.sentence, "ok: 2.5 GiB of 2.5 GiB device memory");
    c = plm_check_job(&one, &(struct plm_limit){.max = 2 * GIB + context - 1}, NULL, false);
    assert_int_equal(c.outcome, PLM_CHECK_TOO_MUCH);
    assert_string_equal(c.sentence, "too much: 2.5 GiB of 2.5 GiB device memory, 1 B over");
    c = plm_check_job(&one, &(struct plm_limit){.what = PLM_CHECK_RESERVED, .max = GIB}, NULL, true);
    assert_string_equal(c.sentence, "too much: 2147483648 of 1073741824 reserved by PyTorch, 1073741824 over");
    c = plm_check_job(&one, &(struct plm_limit){.what = PLM_CHECK_ALLOCATED, .max = GIB}, NULL, false);
    assert_string_equal(c.sentence, "ok: 1.0 GiB of 1.0 GiB allocated");
    /* The device that needs most decides, at the high end with what a second run reserved. */
    c = plm_check_job(&two, &(struct plm_limit){.max = 3 * GIB}, NULL, false);
    assert_string_equal(c.sentence, "too much: 3.5 GiB of 3.0 GiB device memory, 550.0 MiB over (rank 1, device 0)");
    c = plm_check_job(&two, &(struct plm_limit){.max = 4 * GIB, .pessimistic = true}, NULL, false);
    assert_int_equal(c.bytes, 4 * GIB + assumed.high);
    assert_string_equal(c.sentence,
                        "too much: up to 4.7 GiB of 4.0 GiB device memory, 700.0 MiB over (rank 1, device 0)");
}

/* Growth of 1 GiB over 2 GiB: 50 %. */
static void growth(void **state)
{
    static const struct {
        const char *text, *sentence;
        enum plm_check_outcome outcome;
    } rows[] = {
        {"0%", "too much: 3.0 GiB reserved by PyTorch (rank 1, device 0); +50 % (+1.0 GiB) from b\\x1b.plm, limit +0 %",
         PLM_CHECK_TOO_MUCH},
        {"49.9 %",
         "too much: 3.0 GiB reserved by PyTorch (rank 1, device 0); +50 % (+1.0 GiB) from b\\x1b.plm, limit "
         "+49.9 %",
         PLM_CHECK_TOO_MUCH},
        {"50%", "ok: 3.0 GiB reserved by PyTorch (rank 1, device 0); +50 % (+1.0 GiB) from b\\x1b.plm, limit +50 %",
         PLM_CHECK_OK},
        {"1023MiB",
         "too much: 3.0 GiB reserved by PyTorch (rank 1, device 0); +50 % (+1.0 GiB) from b\\x1b.plm, limit "
         "+1023.0 MiB",
         PLM_CHECK_TOO_MUCH},
        {"1g", "ok: 3.0 GiB reserved by PyTorch (rank 1, device 0); +50 % (+1.0 GiB) from b\\x1b.plm, limit +1.0 GiB",
         PLM_CHECK_OK},
    };
    const struct plm_job one = job_with(1), two = job_with(2);
    struct plm_limit limit = {.what = PLM_CHECK_RESERVED, .base = &one, .against = "b\x1b.plm"};
    struct plm_check c;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(plm_check_growth_parse(rows[i].text, &limit), 0);
        c = plm_check_job(&two, &limit, NULL, false);
        assert_string_equal(c.sentence, rows[i].sentence);
        assert_int_equal(c.outcome, rows[i].outcome);
        assert_int_equal(c.before, 2 * GIB);
    }
    /* Less, or the same, is no growth; an amount is a limit beside it. */
    assert_int_equal(plm_check_growth_parse("0%", &limit), 0);
    c = plm_check_job(&one, &limit, NULL, false);
    assert_string_equal(c.sentence, "ok: 2.0 GiB reserved by PyTorch; same as b\\x1b.plm, limit +0 %");
    limit.base = &two;
    c = plm_check_job(&one, &limit, NULL, false);
    assert_string_equal(c.sentence, "ok: 2.0 GiB reserved by PyTorch; -33 % (-1.0 GiB) from b\\x1b.plm, limit +0 %");
    limit.max = GIB;
    c = plm_check_job(&one, &limit, NULL, false);
    assert_int_equal(c.outcome, PLM_CHECK_TOO_MUCH);
    assert_string_equal(c.sentence, "too much: 2.0 GiB of 1.0 GiB reserved by PyTorch, 1.0 GiB over; -33 % (-1.0 GiB) "
                                    "from b\\x1b.plm, limit +0 %");
    for (const char *const *text = (const char *const[]){"", "%", "5", "-5%", "nan%", "5%%", "1e2%", "five", NULL};
         *text; text++)
        assert_int_equal(plm_check_growth_parse(*text, &limit), PLM_EINVAL);
}

static void words(void **state)
{
    enum plm_check_what what;
    (void)state;
    assert_int_equal(plm_check_what_parse("device_used", &what), 0);
    assert_int_equal(what, PLM_CHECK_USED);
    assert_int_equal(plm_check_what_parse("reserved", &what), 0);
    assert_int_equal(what, PLM_CHECK_RESERVED);
    assert_int_equal(plm_check_what_parse("allocated", &what), 0);
    assert_int_equal(what, PLM_CHECK_ALLOCATED);
    assert_int_equal(plm_check_what_parse("Reserved", &what), PLM_EINVAL);
    assert_int_equal(plm_check_what_parse("", &what), PLM_EINVAL);
}

static char *written(void (*write)(FILE *, const struct plm_check *), const struct plm_check *check)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    write(out, check);
    fclose(out);
    return text;
}

static void junit(void **state)
{
    const struct plm_job one = job_with(1);
    struct plm_check c = plm_check_job(&one, &(struct plm_limit){.max = GIB}, NULL, false);
    char *t = written(plm_check_junit, &c);
    (void)state;
    assert_contains(t, "tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\" time=\"1.500\"");
    assert_contains(t, "name=\"python a&lt;b&gt;&amp;&quot;c&quot;.py x:1,2&#10;50%\\x1b\\xff\" ");
    assert_contains(t,
                    "<failure type=\"limit\" message=\"too much: 2.5 GiB of 1.0 GiB device memory, 1.5 GiB over\"/>");
    free(t);
    c = plm_check_error(&one, &(struct plm_limit){.max = GIB}, "it \"failed\" \xef\xbf\xbf");
    t = written(plm_check_junit, &c);
    assert_contains(t, "failures=\"0\" errors=\"1\"");
    assert_contains(t, "<error type=\"error\" message=\"it &quot;failed&quot; \\uffff\"/>");
    free(t);
    c = plm_check_job(&one, &(struct plm_limit){.max = 9 * GIB}, NULL, false);
    t = written(plm_check_junit, &c);
    assert_contains(t, "failures=\"0\" errors=\"0\"");
    assert_contains(t, "<system-out>ok: 2.5 GiB of 9.0 GiB device memory</system-out>");
    assert_null(strstr(t, "<failure"));
    free(t);
}

static void github(void **state)
{
    const struct plm_job one = job_with(1);
    struct plm_check c = plm_check_job(&one, &(struct plm_limit){.max = 9 * GIB}, NULL, false);
    char *t = written(plm_check_github, &c);
    (void)state;
    assert_string_equal(t, "::notice title=GPU memory of python a<b>&\"c\".py x%3A1%2C2%0A50%25\\x1b\\xff::"
                           "ok: 2.5 GiB of 9.0 GiB device memory\n");
    free(t);
    c = plm_check_error(&one, &(struct plm_limit){.max = GIB}, "a\nb: 5 %, c");
    t = written(plm_check_github, &c);
    assert_contains(t, "::error title=");
    assert_contains(t, "::a%0Ab: 5 %25, c\n");
    free(t);
}

/* Nothing is written past the ends when all is long, and what is odd becomes something valid. */
static void extremes(void **state)
{
    char argument[2000];
    struct plm_summary_count long_config[] = {{.name = (char *)"argv[0]", .detail = argument},
                                              {.name = (char *)"argv[1]", .detail = argument},
                                              {.name = (char *)"seconds", .detail = (char *)"nan"}};
    struct plm_job job = job_with(1);
    struct plm_check c;
    (void)state;
    memset(argument, '<', sizeof argument - 1);
    argument[sizeof argument - 1] = '\0';
    job.summary.config =
        (struct plm_counts){.item = long_config, .count = COUNT(long_config), .room = COUNT(long_config)};
    c = plm_check_job(&job, &(struct plm_limit){.max = UINT64_MAX}, NULL, true);
    assert_int_equal(strlen(c.subject), sizeof c.subject - 1);
    assert_true(c.seconds == 0);
    job.summary.config.count = 0;
    c = plm_check_error(&job, &(struct plm_limit){.max = GIB}, argument);
    assert_string_equal(c.subject, "the job");
    assert_int_equal(strlen(c.sentence), sizeof c.sentence - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits), cmocka_unit_test(growth), cmocka_unit_test(words),
        cmocka_unit_test(junit),  cmocka_unit_test(github), cmocka_unit_test(extremes),
    };
    return RUN(tests);
}
