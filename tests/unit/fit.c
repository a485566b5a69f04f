/* Fits and settings for jobs that are made by hand: what each must come to can be worked out. */
#include "fit/fit.h"

#include <stdlib.h>

#include "analysis/job.h"
#include "common/error.h"
#include "common/card.h"
#include "fit/bounded.h"
#include "fit/ladder.h"
#include "fit/replay.h"
#include "fit/tune.h"
#include "unit.h"

/* 30 MiB that are given back before 40 MiB are asked for: both segments are held, only one is needed. */
static struct plm_block two_blocks[] = {
    {.address = 0x10000000, .bytes = 30 * MIB, .asked = 30 * MIB, .alloc_at = 0, .free_at = 1},
    {.address = 0x20000000, .bytes = 40 * MIB, .asked = 40 * MIB, .alloc_at = 2, .free_at = PLM_MOMENT_NEVER},
};
static uint32_t two_order[] = {0 << 1, 0 << 1 | 1, 1 << 1};
static struct plm_summary_count config[] = {
    {.name = (char *)"torch", .detail = (char *)"2.15.0"},
    {.name = (char *)"allocator", .detail = (char *)"default"},
};

struct made {
    struct plm_summary_device device;
    struct plm_job_conv_kept kept;
    struct plm_lane lane;
    struct plm_job job;
};

static struct made *make(struct made *m, struct plm_block *block, size_t blocks, uint32_t *order, size_t moments,
                         uint64_t reserved)
{
    *m = (struct made){.device = {.reserved_peak = reserved, .used_peak = reserved},
                       .kept = {.lock = PTHREAD_MUTEX_INITIALIZER}};
    m->lane = (struct plm_lane){
        .summary = &m->device, .block = block, .blocks = blocks, .order = order, .moments = moments, .kept = &m->kept};
    m->job = (struct plm_job){.summary = {.config = {config, COUNT(config), COUNT(config)},
                                          .ended = true,
                                          .device = &m->device,
                                          .devices = 1},
                              .lane = &m->lane,
                              .lanes = 1};
    return m;
}

static struct made *two(struct made *m)
{
    return make(m, two_blocks, COUNT(two_blocks), two_order, COUNT(two_order), 70 * MIB);
}

/* Of jobs that tell nothing of their card. */
static struct plm_ladder_context assumed(void)
{
    return plm_ladder_context(&(struct plm_summary){0}, &(struct plm_summary_device){0}, NULL);
}

static void needs(void **state)
{
    const uint64_t context = assumed().bytes;
    struct plm_need need;
    struct plm_fit fit;
    uint64_t minimum;
    struct made m;
    (void)state;
    assert_int_equal(plm_fit_open(&two(&m)->job, &fit, NULL), 0);
    assert_true(fit.repeats);
    assert_string_equal(fit.doubt, "");
    assert_int_equal(fit.least, 40 * MIB);
    assert_int_equal(plm_fit_need(&fit, &fit.settings, &need, NULL), 0);
    assert_int_equal(need.reserved, 70 * MIB);
    assert_int_equal(need.need, 70 * MIB + context);
    assert_int_equal(need.low, 70 * MIB + assumed().low);
    assert_int_equal(need.high, 70 * MIB + assumed().high);
    assert_int_equal(need.calls, 2);
    assert_int_equal(plm_fit_minimum(&fit, &fit.settings, &minimum, NULL), 0);
    assert_int_equal(minimum, 40 * MIB + context);
    plm_fit_close(&fit);
}

static struct plm_card card(const char *id, uint64_t usable)
{
    struct plm_card c = {.memory_total = usable + 100 * MIB, .memory_usable = usable};
    strcpy(c.id, id);
    return c;
}

static void verdicts(void **state)
{
    const struct plm_ladder_context context = assumed();
    const struct plm_card cards[] = {
        card("plenty", 70 * MIB + context.high),    card("flushes", 69 * MIB + context.bytes),
        card("in-range", 40 * MIB + context.low),   card("no", 39 * MIB + context.low),
        card("no-too", 39 * MIB + context.low),     card("helped", 40 * MIB + context.high),
        card("upper", 70 * MIB + context.high - 1),
    };
    const struct {
        const char *id;
        enum plm_verdict verdict;
        bool in_range;
        uint64_t retries;
    } expected[] = {
        {"no", PLM_NO_FIT, false, 0},     {"no-too", PLM_NO_FIT, false, 0}, {"in-range", PLM_TIGHT, true, 0},
        {"flushes", PLM_TIGHT, false, 1}, {"helped", PLM_TIGHT, true, 0},   {"upper", PLM_TIGHT, true, 0},
        {"plenty", PLM_FITS, false, 0},
    };
    struct plm_margin margin = {0};
    struct plm_fit_table table;
    struct plm_fit fit;
    struct made m;
    (void)state;
    assert_int_equal(plm_fit_open(&two(&m)->job, &fit, NULL), 0);
    assert_int_equal(plm_fit_table(&fit, cards, COUNT(cards), &margin, &table, NULL), 0);
    assert_int_equal(table.rows, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_string_equal(table.row[i].card->id, expected[i].id);
        assert_int_equal(table.row[i].answer.verdict, expected[i].verdict);
        assert_int_equal(table.row[i].answer.in_range, expected[i].in_range);
        assert_int_equal(table.row[i].answer.retries, expected[i].retries);
    }
    /* With expandable segments the pages of the first block serve the second: 40 MiB, whatever else. */
    assert_string_equal(table.row[4].better, "expandable_segments:True");
    assert_int_equal(table.row[4].then.verdict, PLM_FITS);
    assert_string_equal(table.row[3].better, ""); /* the upper end of the range is still above it */
    plm_fit_table_free(&table);
    plm_fit_close(&fit);
}

/* 2 KiB for each of the threads that can be resident, which CUDA documents: 28 SMs of 1536, 108 of 2048. */
/* Of two devices the smaller one may take more in the end: both must fit. */
static void widest_device(void **state)
{
    const struct plm_ladder_context context = assumed();
    const struct plm_card cards[] = {card("plenty", 170 * MIB + context.high),
                                     card("first-alone", 169 * MIB + context.high)};
    const struct plm_margin margin = {0};
    struct made m, other;
    struct plm_summary_device devices[2];
    struct plm_lane lanes[2];
    struct plm_fit_table table;
    struct plm_fit fit;
    (void)state;
    two(&other)->device.other_end = 170 * MIB; /* instead of 70 */
    other.device.device = 1;
    two(&m)->device.used_peak += MIB;
    devices[0] = m.device;
    devices[1] = other.device;
    for (int i = 0; i < 2; i++) {
        lanes[i] = i ? other.lane : m.lane;
        lanes[i].summary = &devices[i];
    }
    m.job.summary.device = devices;
    m.job.lane = lanes;
    m.job.lanes = (size_t)(m.job.summary.devices = 2);
    assert_int_equal(plm_fit_open(&m.job, &fit, NULL), 0);
    assert_int_equal(plm_fit_table(&fit, cards, COUNT(cards), &margin, &table, NULL), 0);
    assert_int_equal(table.need.need, 71 * MIB + context.bytes);
    assert_int_equal(table.need.low, 71 * MIB + context.low);
    assert_int_equal(table.need.high, 170 * MIB + context.high);
    assert_int_equal(table.row[0].answer.verdict, PLM_TIGHT);
    assert_true(table.row[0].answer.in_range);
    assert_int_equal(table.row[1].answer.verdict, PLM_FITS);
    plm_fit_table_free(&table);
    plm_fit_close(&fit);
}

static void contexts_of_cards(void **state)
{
    struct plm_card small = card("small", 0), large = card("large", 0), cards[2];
    const struct plm_margin margin = {0};
    struct plm_ladder_context context;
    struct plm_fit_table table;
    struct plm_fit fit;
    struct made m;
    (void)state;
    two(&m);
    m.device.overhead = (struct plm_overhead){.sms = 10, .threads = 1024};
    small.sms = 28;
    small.max_threads_per_sm = 1536;
    large.sms = 108;
    large.max_threads_per_sm = 2048;
    assert_int_equal(plm_ladder_context(&m.job.summary, &m.device, &large).bytes, 432 * MIB);
    context = plm_ladder_context(&m.job.summary, &m.device, &small);
    assert_int_equal(context.bytes, 84 * MIB);
    /* As much memory, but the larger card keeps more of it for itself. */
    small.memory_usable = large.memory_usable = 70 * MIB + context.high;
    cards[0] = large;
    cards[1] = small;
    assert_int_equal(plm_fit_open(&m.job, &fit, NULL), 0);
    assert_int_equal(plm_fit_table(&fit, cards, COUNT(cards), &margin, &table, NULL), 0);
    for (size_t i = 0; i < table.rows; i++)
        assert_int_equal(table.row[i].answer.verdict, table.row[i].card->sms == 28 ? PLM_FITS : PLM_NO_FIT);
    plm_fit_table_free(&table);
    plm_fit_close(&fit);
}

/* What goes at a moment is not there any more. */
static void places_after_a_free(void **state)
{
    struct plm_block block[COUNT(two_blocks)];
    uint32_t order[] = {0 << 1, 1 << 1, 0 << 1 | 1};
    struct plm_place p;
    struct made m;
    (void)state;
    memcpy(block, two_blocks, sizeof block);
    block[1].alloc_at = 1;
    block[0].free_at = 2;
    make(&m, block, COUNT(block), order, COUNT(order), 70 * MIB);
    p = plm_place_at(&m.job, &m.lane, (struct plm_at){PLM_AT_END, 0});
    assert_int_equal(p.moment, 2);
    assert_int_equal(p.allocated, 40 * MIB);
}

static void margins(void **state)
{
    struct plm_margin m;
    (void)state;
    assert_int_equal(plm_margin_parse("5%", &m), 0);
    assert_int_equal(plm_margin_usable(&m, 1000), 950);
    assert_int_equal(plm_margin_parse("1GiB", &m), 0);
    assert_int_equal(plm_margin_usable(&m, 3 * GIB), 2 * GIB);
    assert_int_equal(plm_margin_usable(&m, GIB / 2), 0);
    assert_int_not_equal(plm_margin_parse("100%", &m), 0);
    assert_int_not_equal(plm_margin_parse("-1%", &m), 0);
    assert_int_not_equal(plm_margin_parse("much", &m), 0);
    assert_int_not_equal(plm_margin_parse("", &m), 0);
}

static void candidates(void **state)
{
    struct plm_candidate *c = calloc(PLM_CANDIDATES, sizeof *c);
    (void)state;
    for (int torch = 0; torch < PLM_TORCHES; torch++) {
        size_t n = plm_candidates((enum plm_torch)torch, false, c);
        assert_in_range(n, 60, PLM_CANDIDATES - 1);
        for (size_t i = 0; i < n; i++) {
            struct plm_allocator_settings s;
            assert_int_equal(plm_allocator_settings_parse(c[i].text, (enum plm_torch)torch, &s, NULL), 0);
            assert_true(strlen(c[i].text) < PLM_CANDIDATE_TEXT - 1);
            for (size_t k = 0; k < i; k++)
                assert_string_not_equal(c[i].text, c[k].text);
        }
        assert_in_range(plm_candidates((enum plm_torch)torch, true, c), torch == PLM_TORCH_2_6 ? n : n + 1,
                        PLM_CANDIDATES - 1);
    }
    free(c);
}

static void keys(void **state)
{
    struct plm_candidate *c = calloc(PLM_CANDIDATES, sizeof *c);
    size_t n = plm_candidates(PLM_TORCH_2_15, true, c), seen = 0;
    (void)state;
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(c[i].text, "roundup_power2_divisions:[64:8,256:4,>:2]"))
            assert_int_equal(c[i].keys, 1), seen++;
        if (!strcmp(c[i].text, "max_split_size_mb:64,roundup_power2_divisions:[64:8,256:4,>:2]"))
            assert_int_equal(c[i].keys, 2), seen++;
        if (!*c[i].text)
            assert_int_equal(c[i].keys, 0), seen++;
    }
    assert_int_equal(seen, 3);
    free(c);
}

/* What PyTorch's documentation says of each setting, and of which together: in this order, and nothing else. */
static void warnings(void **state)
{
    static const char ipc[] = "sharing tensors between processes", little[] = "little effect",
                      split[] = "large blocks are not split", larger[] = "larger than requested",
                      nothing[] = "does nothing without a memory fraction", one[] = "has only one",
                      async[] = "the driver's own pool decides";
    static const struct {
        const char *settings, *warnings[4];
    } rows[] = {
        {"", {NULL}},
        {"expandable_segments:True", {ipc}},
        {"expandable_segments:False", {NULL}},
        {"max_split_size_mb:64", {split}},
        {"expandable_segments:True,max_split_size_mb:64", {ipc, little, split}},
        {"roundup_power2_divisions:1", {NULL}}, /* to 1: every size stays */
        {"roundup_power2_divisions:4", {larger}},
        {"roundup_power2_divisions:[1:2,2:1,>:1]", {larger}},
        {"roundup_power2_divisions:[1:1,>:2]", {larger}},
        {"garbage_collection_threshold:0.6", {nothing}},
        {"garbage_collection_threshold:0.6,per_process_memory_fraction:1.0", {NULL}},
        {"garbage_collection_threshold:0.6,expandable_segments:True", {ipc, nothing, one}},
        {"backend:cudaMallocAsync", {async}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plm_allocator_settings s;
        size_t n = 0;
        assert_int_equal(plm_allocator_settings_parse(rows[i].settings, PLM_TORCH_2_15, &s, NULL), 0);
        for (; n < COUNT(rows[i].warnings) && rows[i].warnings[n]; n++) {
            assert_non_null(plm_candidate_warning(&s, n));
            assert_contains(plm_candidate_warning(&s, n), rows[i].warnings[n]);
        }
        assert_null(plm_candidate_warning(&s, n));
    }
}

/* What must be there at once: 40 MiB, since 30 are given back before; 30 MiB, if the 40 are a workspace. */
static void least(void **state)
{
    struct plm_job_conv_mark mark[] = {{.at = 1, .block = PLM_CONV_NO_BLOCK}, {.at = 2, .block = 1}};
    struct plm_job_conv_marks marks = {.mark = mark, .count = COUNT(mark), .shapes = 1};
    struct made m;
    (void)state;
    assert_int_equal(plm_replay_least(&two(&m)->lane), 40 * MIB);
    two(&m)->lane.convolutions = &marks;
    assert_int_equal(plm_replay_least(&m.lane), 30 * MIB);
    marks.count = 1;
    assert_int_equal(plm_replay_least(&m.lane), 40 * MIB);
}

static void advice(void **state)
{
    static struct plm_block one_block[] = {
        {.address = 0x10000000, .bytes = 30 * MIB, .asked = 30 * MIB, .free_at = PLM_MOMENT_NEVER}};
    static uint32_t one_order[] = {0}, held_order[] = {0 << 1, 0 << 1 | 1, 1 << 1, 2 << 1};
    struct plm_block held[3];
    const struct plm_margin margin = {0};
    struct plm_tune tune;
    struct plm_fit fit;
    struct made m;
    (void)state;
    assert_int_equal(plm_fit_open(&two(&m)->job, &fit, NULL), 0);
    assert_int_equal(plm_tune(&fit, NULL, &margin, NULL, NULL, &tune, NULL), 0);
    assert_int_equal(tune.own.need.reserved, 70 * MIB);
    assert_non_null(tune.advice);
    assert_string_equal(tune.advice->candidate.text, "expandable_segments:True");
    assert_int_equal(tune.advice->need.reserved, 40 * MIB);
    for (size_t i = 1; i < tune.rows; i++)
        assert_true(tune.row[i - 1].need.reserved <= tune.row[i].need.reserved);
    plm_tune_free(&tune);
    plm_fit_close(&fit);

    assert_int_equal(plm_fit_open(&make(&m, one_block, 1, one_order, 1, 30 * MIB)->job, &fit, NULL), 0);
    assert_int_equal(plm_tune(&fit, NULL, &margin, NULL, NULL, &tune, NULL), 0);
    assert_null(tune.advice);
    plm_tune_free(&tune);
    plm_fit_close(&fit);

    /* 30 of 4,070 MiB are less than one part in a hundred. */
    memcpy(held, two_blocks, sizeof two_blocks);
    held[2] = (struct plm_block){
        .address = 0x40000000, .bytes = 4000 * MIB, .asked = 4000 * MIB, .alloc_at = 3, .free_at = PLM_MOMENT_NEVER};
    assert_int_equal(plm_fit_open(&make(&m, held, 3, held_order, 4, 4070 * MIB)->job, &fit, NULL), 0);
    assert_int_equal(plm_tune(&fit, NULL, &margin, NULL, NULL, &tune, NULL), 0);
    assert_true(tune.row[0].need.reserved == 4040 * MIB && tune.own.need.reserved == 4070 * MIB);
    assert_null(tune.advice);
    plm_tune_free(&tune);
    plm_fit_close(&fit);
}

static void doubts(void **state)
{
    struct plm_block block[COUNT(two_blocks)];
    struct plm_error error;
    struct plm_fit fit;
    struct made m;
    (void)state;
    two(&m);
    m.device.reserved_peak = 90 * MIB;
    assert_int_equal(plm_fit_open(&m.job, &fit, &error), 0);
    assert_false(fit.repeats);
    assert_contains(fit.doubt, "reserves 70.0 MiB, but 90.0 MiB was recorded");
    plm_fit_close(&fit);

    memcpy(block, two_blocks, sizeof block);
    block[1].asked = 0;
    assert_int_equal(plm_fit_open(&make(&m, block, 2, two_order, COUNT(two_order), 70 * MIB)->job, &fit, &error), 0);
    assert_true(fit.repeats);
    assert_contains(fit.doubt, "For 1 of 2 blocks");
    plm_fit_close(&fit);

    two(&m);
    m.device.out_of_memory = true;
    assert_int_equal(plm_fit_open(&m.job, &fit, &error), PLM_ENOTFOUND);
    assert_string_equal(error.text, "unknown: it ran out of memory at 620.0 MiB before its first step");
    m.job.lanes = 0;
    assert_int_equal(plm_fit_open(&m.job, &fit, &error), PLM_ENOTFOUND);
    assert_contains(error.text, "no GPU activity");
}

/* The first 30 MiB are a workspace that a formula gave: it may be nothing or 50 MiB. One per cent is in doubt always. */
static void workspaces(void **state)
{
    const uint64_t always = 70 * MIB / 100;
    struct plm_job_conv_mark mark = {.at = 1, .block = 0, .most = 50 * MIB, .guessed = true};
    struct plm_job_conv_marks marks = {.mark = &mark, .count = 1, .guessed = 1, .shapes = 1};
    struct plm_ladder_context context = assumed();
    struct plm_fit_conv_range r;
    struct plm_ladder l;
    struct made m;
    (void)state;
    two(&m)->lane.convolutions = &marks;
    l = plm_ladder(&m.job, &m.lane);
    assert_true(m.kept.weighed);
    assert_int_equal(l.low, 40 * MIB - always + context.low);
    assert_int_equal(l.high, 70 * MIB + always + context.high); /* 50 MiB given back serve for the 40 */
    r = plm_fit_conv_range_most(&m.job);
    assert_int_equal(r.guessed, 1);
    assert_int_equal(r.low, 30 * MIB + always);
    assert_int_equal(r.high, always);
    /* Once for a job: nothing is replayed again, or this would count. */
    mark.block = PLM_CONV_NO_BLOCK;
    assert_int_equal(plm_fit_conv_range(&m.job, &m.lane).low, 30 * MIB + always);
    m.kept.weighed = false;
    assert_int_equal(plm_fit_conv_range(&m.job, &m.lane).low, always);
}

/* A gradient's workspace of 10 MiB, which may be 50, then a convolution without one, which may have 35, then 40 MiB. None
   at all reserves 40, all of it 50, what is forward alone 36 and 40: 26 more than the 50 that were recorded. */
static void workspaces_forward(void **state)
{
    struct plm_job_conv_mark mark[] = {
        {.at = 1, .block = 0, .most = 50 * MIB, .guessed = true},
        {.at = 2, .block = PLM_CONV_NO_BLOCK, .most = 35 * MIB, .forward = true, .shape = 1, .guessed = true}};
    struct plm_job_conv_marks marks = {.mark = mark, .count = COUNT(mark), .guessed = 2, .shapes = 2};
    struct plm_block block[COUNT(two_blocks)];
    struct plm_fit_conv_range r;
    struct made m;
    (void)state;
    memcpy(block, two_blocks, sizeof block);
    block[0].bytes = block[0].asked = 10 * MIB;
    make(&m, block, 2, two_order, COUNT(two_order), 50 * MIB)->lane.convolutions = &marks;
    r = plm_fit_conv_range(&m.job, &m.lane);
    assert_int_equal(r.low, 10 * MIB + 50 * MIB / 100);
    assert_int_equal(r.high, 26 * MIB + 50 * MIB / 100);
}

/* 60 MiB are held while a convolution takes 30 MiB of workspace, twice, which a formula gave. */
static void bounded(void **state)
{
    struct plm_block block[] = {{.address = 0x10000000, .bytes = 60 * MIB, .asked = 60 * MIB},
                                {.address = 0x20000000, .bytes = 30 * MIB, .asked = 30 * MIB},
                                {.address = 0x20000000, .bytes = 30 * MIB, .asked = 30 * MIB}};
    uint32_t order[] = {0 << 1, 1 << 1, 1 << 1 | 1, 2 << 1, 2 << 1 | 1};
    struct plm_job_conv_mark mark[] = {{.at = 2, .block = 1, .most = 30 * MIB, .guessed = true},
                                       {.at = 4, .block = 2, .most = 30 * MIB, .guessed = true}};
    struct plm_job_conv_marks marks = {.mark = mark, .count = 2, .guessed = 2, .shapes = 1};
    const struct plm_ladder_context context = assumed();
    struct plm_fit_conv_range range;
    struct {
        uint64_t usable;
        enum plm_verdict verdict;
        uint64_t takes, fallbacks;
    } expected[] = {
        {90 * MIB + context.high, PLM_FITS, 90 * MIB + context.bytes, 0},
        {90 * MIB + context.bytes, PLM_TIGHT, 90 * MIB + context.bytes, 0},
        {88 * MIB + context.bytes, PLM_TIGHT, 60 * MIB + context.bytes, 1},
        {60 * MIB + context.bytes, PLM_TIGHT, 60 * MIB + context.bytes, 1},
        {60 * MIB + context.low, PLM_TIGHT, 60 * MIB + context.low, 0}, /* without workspaces from the start */
        {58 * MIB + context.low, PLM_NO_FIT, 0, 0}, /* that they may be nothing does not make room for tensors */
    };
    struct plm_fit_answer answer;
    struct plm_bounded b;
    struct plm_need need;
    struct plm_fit fit;
    uint64_t minimum;
    struct made m;
    (void)state;
    make(&m, block, COUNT(block), order, COUNT(order), 90 * MIB)->lane.convolutions = &marks;
    range = plm_fit_conv_range(&m.job, &m.lane);
    assert_true(range.low >= 30 * MIB);
    expected[0].usable += range.high;
    assert_int_equal(plm_fit_open(&m.job, &fit, NULL), 0);
    assert_int_equal(fit.least, 60 * MIB);
    assert_int_equal(plm_fit_need(&fit, &fit.settings, &need, NULL), 0);
    assert_int_equal(need.low, 90 * MIB - range.low + context.low);
    assert_int_equal(plm_fit_minimum(&fit, &fit.settings, &minimum, NULL), 0);
    assert_int_equal(minimum, 60 * MIB + context.bytes);
    for (size_t i = 0; i < COUNT(expected); i++) {
        const struct plm_card c = card("some", expected[i].usable);
        assert_int_equal(plm_fit_card(&fit, &fit.settings, &need, &c, expected[i].usable, &answer, NULL), 0);
        assert_int_equal(answer.verdict, expected[i].verdict);
        assert_int_equal(answer.takes, expected[i].takes);
        assert_int_equal(answer.fallbacks, expected[i].fallbacks);
        assert_int_equal(plm_bounded(&m.job, &c, expected[i].usable, &b), 0);
        assert_int_equal(b.would, 90 * MIB + context.bytes);
        assert_int_equal(b.completes, expected[i].usable >= 60 * MIB + context.bytes);
        if (b.completes)
            assert_true(b.takes == expected[i].takes && b.fallbacks == expected[i].fallbacks);
    }
    plm_fit_close(&fit);
    m.device.reserved_peak = 92 * MIB; /* its replay does not repeat it */
    assert_int_equal(plm_bounded(&m.job, &(struct plm_card){.memory_total = GIB}, 88 * MIB, &b), PLM_EINVAL);
    m.job.lanes = 0;
    assert_int_equal(plm_bounded(&m.job, &(struct plm_card){.memory_total = GIB}, GIB, &b), PLM_EINVAL);
}

/* Exactly what it takes is enough. */
static void exactly_enough(void **state)
{
    const struct plm_ladder l = {.low = 5, .high = 10};
    (void)state;
    assert_int_equal(plm_ladder_fit(&l, 10), PLM_FITS);
    assert_int_equal(plm_ladder_fit(&l, 9), PLM_TIGHT);
    assert_int_equal(plm_ladder_fit(&l, 5), PLM_TIGHT);
    assert_int_equal(plm_ladder_fit(&l, 4), PLM_NO_FIT);
}

/* 100 MiB of one rank do not fit, 40 MiB of another do: the job does not complete, whichever comes last. */
static void bounded_ranks(void **state)
{
    struct plm_block large[] = {{.address = 0x10000000, .bytes = 100 * MIB, .asked = 100 * MIB}};
    struct plm_block small[] = {{.address = 0x10000000, .bytes = 40 * MIB, .asked = 40 * MIB}};
    uint32_t order[] = {0};
    const uint64_t context = assumed().bytes;
    const struct plm_card c = {.memory_total = GIB};
    struct made a, b;
    struct plm_lane lane[2];
    struct plm_bounded bound;
    (void)state;
    make(&a, large, 1, order, 1, 100 * MIB);
    make(&b, small, 1, order, 1, 40 * MIB);
    a.job.lane = lane;
    a.job.lanes = 2;
    for (int first = 0; first < 2; first++) {
        lane[first] = a.lane;
        lane[!first] = b.lane;
        assert_int_equal(plm_bounded(&a.job, &c, 80 * MIB + context, &bound), 0);
        assert_false(bound.completes);
        assert_int_equal(plm_bounded(&a.job, &c, 100 * MIB + context, &bound), 0);
        assert_true(bound.completes);
        assert_int_equal(bound.takes, 100 * MIB + context); /* of the one that takes most */
        assert_int_equal(bound.allocated, 100 * MIB);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needs),
        cmocka_unit_test(workspaces),
        cmocka_unit_test(workspaces_forward),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(margins),
        cmocka_unit_test(places_after_a_free),
        cmocka_unit_test(widest_device),
        cmocka_unit_test(contexts_of_cards),
        cmocka_unit_test(candidates),
        cmocka_unit_test(keys),
        cmocka_unit_test(warnings),
        cmocka_unit_test(least),
        cmocka_unit_test(advice),
        cmocka_unit_test(doubts),
        cmocka_unit_test(bounded),
        cmocka_unit_test(bounded_ranks),
        cmocka_unit_test(exactly_enough),
    };
    return RUN(tests);
}
