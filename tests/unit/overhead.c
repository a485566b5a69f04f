/* The model of what a process takes beside its allocations, and the ladder that is made of it. */
#include "common/overhead.h"

#include "analysis/job.h"
#include "fit/ladder.h"
#include "common/card.h"
#include "record/writer.h"
#include "unit.h"

static const struct plm_line *find(const struct plm_line *line, int lines, const char *name)
{
    for (int i = 0; i < lines; i++)
        if (!strcmp(line[i].name, name))
            return &line[i];
    return NULL;
}

static void check_lines(const struct plm_line *line, int lines)
{
    for (int i = 0; i < lines; i++) {
        assert_true(line[i].low <= line[i].bytes && line[i].bytes <= line[i].high);
        assert_true(*line[i].name && *line[i].reason && line[i].group);
    }
}

/* Public readings of nvidia-smi for an empty context lie in the range: Titan V (pytorch issue 28394), RTX 3090
   (InvokeAI issue 9413), RTX 6000 Ada (unsloth-zoo request 1053). */
static void contexts(void **state)
{
    static const struct {
        unsigned sms, threads;
        uint64_t mib;
    } rows[] = {{80, 2048, 319}, {82, 1536, 256}, {142, 1536, 426}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plm_overhead o = {.sms = rows[i].sms, .threads = rows[i].threads};
        struct plm_line line[PLM_OVERHEAD_LINES];
        assert_int_equal(plm_overhead_lines(&o, line), 1);
        check_lines(line, 1);
        assert_true(line[0].low <= rows[i].mib * MIB && rows[i].mib * MIB <= line[0].high);
        assert_true(line[0].bytes + 10 * MIB >= rows[i].mib * MIB && line[0].bytes <= rows[i].mib * MIB + 10 * MIB);
        assert_int_equal(plm_overhead_bytes(&o, 0), line[0].bytes);
    }
}

static void loading(void **state)
{
    struct plm_overhead o = {
        .sms = 28, .threads = 1536, .code = 3 * MIB, .kernels = 60, .libraries = 1u << PLM_LIBRARY_CUBLAS};
    struct plm_line lazy[PLM_OVERHEAD_LINES], eager[PLM_OVERHEAD_LINES];
    int n = plm_overhead_lines(&o, lazy), m;
    (void)state;
    check_lines(lazy, n);
    assert_int_equal(find(lazy, n, "loaded code")->bytes, 3 * MIB);
    assert_int_equal(find(lazy, n, "loaded code")->kind, PLM_LINE_COUNTED);
    assert_non_null(strstr(find(lazy, n, "library code")->reason, "cublas"));
    o.eager = true;
    o.code = 500 * MIB;
    m = plm_overhead_lines(&o, eager);
    check_lines(eager, m);
    assert_true(find(eager, m, "library code")->low > find(lazy, n, "library code")->bytes);
    assert_true(find(eager, m, "loaded code")->low > 400 * MIB);
    o.guessed = o.code; /* only intermediate code: nothing of it is certain */
    m = plm_overhead_lines(&o, eager);
    assert_int_equal(find(eager, m, "loaded code")->low, 0);
}

static void limits(void **state)
{
    struct plm_overhead o = {.sms = 10, .threads = 1024, .stack = 1024, .printf_bytes = 7 * MIB, .heap = 8 * MIB};
    struct plm_line line[PLM_OVERHEAD_LINES];
    (void)state;
    assert_int_equal(plm_overhead_lines(&o, line), 1); /* all at their defaults */
    o = (struct plm_overhead){.sms = 10, .threads = 1024, .stack = 5120, .printf_bytes = 17 * MIB, .heap = 64 * MIB};
    assert_int_equal(plm_overhead_lines(&o, line), 4);
    check_lines(line, 4);
    assert_int_equal(find(line, 4, "stacks")->bytes, 4096ull * 10 * 1024);
    assert_int_equal(find(line, 4, "printf buffer")->bytes, 10 * MIB);
    assert_int_equal(find(line, 4, "malloc heap")->bytes, 64 * MIB);
    assert_int_equal(find(line, 4, "malloc heap")->low, 0);
    assert_int_equal(plm_overhead_bytes(&o, GIB),
                     GIB + 4096ull * 10 * 1024 + 74 * MIB); /* what is not usual is on top */
}

static void graphs(void **state)
{
    const struct plm_overhead o = {.sms = 10, .threads = 1024, .graph_nodes = 1000};
    struct plm_line line[PLM_OVERHEAD_LINES];
    int n = plm_overhead_lines(&o, line);
    const struct plm_line *g = find(line, n, "CUDA graphs");
    (void)state;
    check_lines(line, n);
    assert_int_equal(g->high, 1000 * 64 * KIB); /* CUDA 11.2: 33 MB for 500 nodes (NVIDIA's forum, 244901) */
    assert_int_equal(g->kind, PLM_LINE_ASSUMED);
}

/* ---- the ladder ---- */

static void take(uint64_t at, uint64_t bytes, uint32_t kind, const char *owner)
{
    plm_put_memory_alloc(0, &(struct plm_ev_memory_alloc){at, bytes, kind, owner ? plm_record_text(owner) : 0});
}

static void job_with_libraries(void)
{
    plm_record_config("rank", "0");
    plm_put_footprint(0, &(struct plm_ev_footprint){.sms = 28, .threads = 1536});
    take(1, 100 * MIB, PLM_RECORD_MALLOC, NULL);
    plm_put_reserved(0, &(struct plm_ev_reserved){100 * MIB});
    plm_put_block_alloc(0, &(struct plm_ev_block_alloc){.address = 4096, .bytes = 90 * MIB});
    take(2, 40 * MIB, PLM_RECORD_LIBRARY, "nccl");
    take(3, 4 * MIB, PLM_RECORD_LIBRARY, "cublas");
    take(4, 6 * MIB, PLM_RECORD_MALLOC, NULL);
    plm_put_library_range(0, &(struct plm_ev_library_range){plm_record_text("nccl"), 0, MIB, GIB});
    plm_put_footprint(0, &(struct plm_ev_footprint){.sms = 28,
                                                    .threads = 1536,
                                                    .code = MIB,
                                                    .kernels = 9,
                                                    .graph_nodes = 4,
                                                    .libraries = 1u << PLM_LIBRARY_CUBLAS | 1u << PLM_LIBRARY_NCCL});
}

static void measured_context(void)
{
    plm_put_context_memory(
        0, &(struct plm_ev_context_memory){300 * MIB, 300000000, 330000000, plm_record_text("stack a100-torch2.6"), 0});
    job_with_libraries();
}

static void add_up(const struct plm_ladder *l)
{
    uint64_t sum = 0, low = 0, high = 0;
    for (int i = 0; i < l->lines; i++) {
        sum += l->line[i].bytes;
        low += l->line[i].low;
        high += l->line[i].high;
    }
    assert_int_equal(sum, l->device_used);
    assert_int_equal(low, l->low);
    assert_int_equal(high, l->high);
    check_lines(l->line, l->lines);
}

static void ladder(void **state)
{
    struct plm_job *job = unit_job(job_with_libraries);
    struct plm_ladder l = plm_ladder(job, &job->lane[0]), other;
    const struct plm_card card = {.sms = 108, .max_threads_per_sm = 2048};
    (void)state;
    add_up(&l);
    assert_int_equal(find(l.line, l.lines, "reserved")->bytes, 100 * MIB);
    assert_int_equal(find(l.line, l.lines, "nccl")->bytes, 40 * MIB);
    assert_int_equal(find(l.line, l.lines, "nccl")->low, MIB);
    assert_int_equal(find(l.line, l.lines, "nccl")->high, GIB);
    assert_int_equal(find(l.line, l.lines, "cublas")->high, 4 * MIB);
    assert_int_equal(find(l.line, l.lines, "other allocations")->bytes, 6 * MIB);
    assert_int_equal(find(l.line, l.lines, "loaded code")->bytes, MIB); /* the last that was said */
    assert_int_equal(l.libraries, 44 * MIB);
    other = plm_ladder_on(job, &job->lane[0], &card);
    add_up(&other);
    assert_int_equal(find(other.line, other.lines, "base context")->bytes, 432 * MIB);
    assert_int_equal(other.device_used - l.device_used, (432 - 84) * MIB);
    plm_job_free(job);
}

/* Damage cannot make sums overflow. */
static void damaged_footprint(void)
{
    struct plm_ev_footprint all;
    memset(&all, 0xff, sizeof all);
    plm_put_footprint(0, &all);
    take(1, MIB, PLM_RECORD_MALLOC, NULL);
}

static void damaged(void **state)
{
    struct plm_job *job = unit_job(damaged_footprint);
    (void)state;
    assert_in_range(plm_overhead_bytes(&job->lane[0].summary->overhead, 0), 1, 1ull << 50);
    plm_job_free(job);
}

/* One measured figure stands for context, code and libraries; graphs come on top. */
static void measured(void **state)
{
    struct plm_job *job = unit_job(measured_context);
    struct plm_ladder l = plm_ladder(job, &job->lane[0]);
    const struct plm_line *c = find(l.line, l.lines, "context");
    (void)state;
    add_up(&l);
    assert_int_equal(c->bytes, 300 * MIB);
    assert_int_equal(c->low, 300000000);
    assert_int_equal(c->high, 330000000);
    assert_int_equal(c->kind, PLM_LINE_MEASURED);
    assert_string_equal(c->reason, "stack a100-torch2.6");
    assert_null(find(l.line, l.lines, "library code"));
    assert_null(find(l.line, l.lines, "loaded code"));
    assert_non_null(find(l.line, l.lines, "CUDA graphs"));
    plm_job_free(job);
}

/* Whatever a record says, a ladder has room for its lines. */
static void most_lines(void **state)
{
    const uint64_t used = 1000 * MIB;
    struct plm_summary_device d = {.reserved_peak = 100 * MIB, .used_peak = used, .takers = PLM_TAKERS};
    const struct plm_lane lane = {.summary = &d};
    const struct plm_job job = {0};
    struct plm_line line[PLM_OVERHEAD_LINES];
    struct plm_ladder l;
    (void)state;
    d.overhead = (struct plm_overhead){.sms = 28,
                                       .threads = 1536,
                                       .code = MIB,
                                       .stack = 2 * PLM_STACK_DEFAULT,
                                       .printf_bytes = 2 * PLM_PRINTF_DEFAULT,
                                       .heap = 2 * PLM_HEAP_DEFAULT,
                                       .graph_nodes = 5,
                                       .libraries = ~0u};
    for (int i = 0; i < PLM_TAKERS; i++)
        d.taker[i] = (struct plm_taker){.name = "one", .at_peak = MIB, .low = MIB, .high = 2 * MIB};
    l = plm_ladder(&job, &lane);
    assert_int_equal(l.lines, 1 + PLM_TAKERS + 1 + plm_overhead_lines(&d.overhead, line));
    assert_true(l.lines <= PLM_LADDER_LINES);
    add_up(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts), cmocka_unit_test(loading), cmocka_unit_test(limits),   cmocka_unit_test(graphs),
        cmocka_unit_test(damaged),  cmocka_unit_test(ladder),  cmocka_unit_test(measured), cmocka_unit_test(most_lines),
    };
    return RUN(tests);
}
