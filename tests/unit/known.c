/* What records can decide, and how far their figures are trusted, for jobs that are made by hand. */
#include "fit/known.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/job.h"
#include "common/card.h"
#include "common/error.h"
#include "fit/fit.h"
#include "fit/ladder.h"
#include "fit/outcome.h"
#include "unit.h"

enum { CONTEXT = 550 }; /* MiB: of a job that tells nothing of its card, between 100 and 700 */

struct made {
    struct plm_summary_count config[8];
    struct plm_step step[6];
    struct plm_summary_device device[2];
    struct plm_lane lane[2];
    struct plm_job job;
};

/* One device that holds so many MiB in two steps that are alike. */
static struct made *job_make(struct made *m, uint64_t mib, const char *status, const char *bounded)
{
    *m = (struct made){.config = {{.name = (char *)"gpu", .detail = (char *)"own"}}};
    m->job = (struct plm_job){.summary = {.config = {m->config, 1, COUNT(m->config)},
                                          .ended = true,
                                          .steps = 2,
                                          .device = m->device,
                                          .devices = 1},
                              .lane = m->lane,
                              .lanes = 1};
    if (status)
        m->config[m->job.summary.config.count++] =
            (struct plm_summary_count){.name = (char *)"exit", .detail = (char *)(uintptr_t)status};
    if (bounded)
        m->config[m->job.summary.config.count++] =
            (struct plm_summary_count){.name = (char *)"bounded", .detail = (char *)(uintptr_t)bounded};
    for (int i = 0; i < 6; i++)
        m->step[i] = (struct plm_step){mib * MIB, mib * MIB, mib * MIB};
    for (int i = 0; i < 2; i++) {
        m->device[i] = (struct plm_summary_device){.rank = i,
                                                   .allocated_peak.bytes = mib * MIB,
                                                   .reserved_peak = mib * MIB,
                                                   .used_peak = mib * MIB,
                                                   .step = m->step,
                                                   .steps = 2};
        m->lane[i] = (struct plm_lane){.summary = &m->device[i]};
    }
    return m;
}

/* --until-exit: the whole command is what is asked about. */
static void all_of_it(struct made *m)
{
    m->config[m->job.summary.config.count++] =
        (struct plm_summary_count){.name = (char *)"until-exit", .detail = (char *)"yes"};
}

/* ---- how it ended ---- */

static void endings(void **state)
{
    static const struct {
        const char *status, *bounded;
        bool ended, full_disk, oom, open, phases;
        int steps, oom_steps;
        enum plm_fit_known_what what;
        bool failed;
        const char *why;
    } rows[] = {
        {"0", "no", true, false, false, false, true, 2, 0, PLM_KNOWN_PEAK, false, ""},
        {"0", "no", true, false, false, false, false, 0, 0, PLM_KNOWN_NOTHING, false,
         "it made no step; for programs that do not train, use --until-exit"},
        {NULL, NULL, true, false, false, false, false, 0, 0, PLM_KNOWN_PEAK, false, ""}, /* imported */
        {"1", "no", true, false, false, false, true, 2, 0, PLM_KNOWN_NOTHING, true,
         "the job failed with status 1 in step 3"},
        {"1", "no", true, false, false, false, false, 0, 0, PLM_KNOWN_NOTHING, true,
         "the job failed with status 1 before its first step"},
        {"137", "no", true, false, false, false, true, 1, 0, PLM_KNOWN_NOTHING, true,
         "the job was killed by signal 9 in step 2"},
        {"255", "no", true, false, false, false, true, 1, 0, PLM_KNOWN_NOTHING, true,
         "the job failed with status 255 in step 2"},
        /* signals are numbered from 1 to 64: signal(7) */
        {"128", "no", true, false, false, false, true, 1, 0, PLM_KNOWN_NOTHING, true,
         "the job failed with status 128 in step 2"},
        {"192", "no", true, false, false, false, true, 1, 0, PLM_KNOWN_NOTHING, true,
         "the job was killed by signal 64 in step 2"},
        {"193", "no", true, false, false, false, true, 1, 0, PLM_KNOWN_NOTHING, true,
         "the job failed with status 193 in step 2"},
        {NULL, "no", false, false, false, false, true, 1, 0, PLM_KNOWN_NOTHING, true,
         "the record ends in step 2: the job is still running, or plimsoll was killed"},
        {"0", "no", true, true, false, false, true, 2, 0, PLM_KNOWN_NOTHING, false,
         "the disk was full: the record is incomplete"},
        {"1", "yes", true, false, true, true, true, 0, 0, PLM_KNOWN_TOO_LITTLE, true,
         "it ran out of memory at 11.6 GiB in step 1"},
        {"1", "no", true, false, true, true, true, 0, 0, PLM_KNOWN_NOTHING, true,
         "it ran out of memory at 11.6 GiB in step 1"},
        {NULL, NULL, true, false, true, true, true, 3, 3, PLM_KNOWN_NOTHING, true,
         "it ran out of memory at 11.6 GiB in step 4"},
        {"0", "yes", true, false, true, false, true, 3, 1, PLM_KNOWN_ENOUGH, false,
         "its GPU was full at 11.6 GiB in step 2, and it continued with less"},
        {"0", "yes", true, false, true, true, true, 1, 1, PLM_KNOWN_NOTHING, true,
         "its GPU was full at 11.6 GiB in step 2, and nothing shows that it continued"},
    };
    struct plm_fit_known known;
    struct plm_outcome outcome;
    struct made m;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        job_make(&m, 11300, rows[i].status, rows[i].bounded);
        m.job.summary.ended = rows[i].ended;
        snprintf(m.job.summary.missing.why, 32, "%s", rows[i].full_disk ? "the disk was full" : "");
        m.job.summary.steps = m.device[0].steps = rows[i].steps;
        m.device[0].out_of_memory = rows[i].oom;
        m.device[0].oom_steps = rows[i].oom_steps;
        m.device[0].oom_open = rows[i].open;
        m.lane[0].phases = rows[i].phases;
        known = plm_fit_known(&m.job);
        assert_string_equal(known.why, rows[i].why);
        assert_int_equal(known.what, rows[i].what);
        assert_int_equal(known.failed, rows[i].failed);
        assert_int_equal(known.used, 11300 * MIB);
        if (known.what == PLM_KNOWN_PEAK)
            continue;
        plm_outcome_of(&m.job, &outcome);
        assert_false(outcome.done);
        assert_contains(outcome.why, rows[i].why);
    }
    job_make(&m, 1, "0", "no");
    m.job.summary.steps = m.device[0].steps = 0;
    all_of_it(&m);
    assert_int_equal(plm_fit_known(&m.job).what, PLM_KNOWN_PEAK);
    job_make(&m, 1, "0", "no");
    m.job.lanes = 0;
    m.job.summary.devices = 0;
    assert_string_equal(plm_fit_known(&m.job).why, "the job put nothing on the GPU");
    /* What a run without the limit came to is about a job that failed for want of memory. */
    for (int i = 0; i < 3; i++) {
        job_make(&m, 11300, i == 1 ? "0" : "1", i == 2 ? "no" : "yes");
        m.device[0].out_of_memory = true;
        m.config[m.job.summary.config.count++] =
            (struct plm_summary_count){.name = (char *)"unbounded-need", .detail = (char *)"59592674304"};
        assert_int_equal(plm_fit_known(&m.job).needs, i ? 0 : 59592674304);
    }
    /* Of several devices that were full, the last one ended the job. */
    job_make(&m, 11300, "1", "yes");
    m.job.lanes = m.job.summary.devices = 2;
    m.device[0].out_of_memory = m.device[1].out_of_memory = true;
    for (int last = 0; last < 2; last++) {
        m.device[last].oom_steps = 3;
        m.device[!last].oom_steps = 1;
        assert_string_equal(plm_fit_known(&m.job).why, "it ran out of memory at 11.6 GiB in step 4");
    }
}

/* ---- cards ---- */

static struct plm_card card(const char *id, uint64_t mib)
{
    struct plm_card c = {.memory_total = (mib + 100) * MIB, .memory_usable = mib * MIB, .major = 8, .minor = 6};
    strcpy(c.id, id);
    return c;
}

static void verdicts_are(const struct plm_fit_table *t, const enum plm_verdict *expected)
{
    for (size_t i = 0; i < t->rows; i++) {
        assert_int_equal(t->row[i].answer.verdict, expected[i]);
        assert_int_equal(t->row[i].need, 0);
    }
    assert_null(plm_fit_smallest(t, false));
}

/* It took 1000 MiB beside the context, on a card that had room for 1010. */
static void cards_without_a_peak(void **state)
{
    const struct plm_card cards[] = {card("much", 80000), card("own", CONTEXT + 1010), card("less", CONTEXT + 999),
                                     card("more", CONTEXT + 1011), card("took", CONTEXT + 1000)};
    struct plm_fit_table t;
    struct made m;
    (void)state;
    job_make(&m, 1000, "1", "yes")->device[0].out_of_memory = true;
    t = plm_fit_report(&m.job, cards, COUNT(cards)); /* less, took, own, more, much */
    verdicts_are(&t, (enum plm_verdict[]){PLM_NO_FIT, PLM_NO_FIT, PLM_NO_FIT, PLM_UNKNOWN, PLM_UNKNOWN});
    plm_fit_table_free(&t);
    /* A margin makes the played card no larger. */
    t = plm_fit_table_known(&m.job, cards, COUNT(cards), &(struct plm_margin){.bytes = MIB});
    verdicts_are(&t, (enum plm_verdict[]){PLM_NO_FIT, PLM_NO_FIT, PLM_NO_FIT, PLM_NO_FIT, PLM_UNKNOWN});
    plm_fit_table_free(&t);
    /* Where the played card is not among them, what it took is known. */
    t = plm_fit_report(&m.job, cards + 2, 3);
    verdicts_are(&t, (enum plm_verdict[]){PLM_NO_FIT, PLM_NO_FIT, PLM_UNKNOWN});
    plm_fit_table_free(&t);

    job_make(&m, 1000, "0", "yes")->device[0].out_of_memory = true;
    t = plm_fit_report(&m.job, cards, COUNT(cards));
    verdicts_are(&t, (enum plm_verdict[]){PLM_UNKNOWN, PLM_TIGHT, PLM_TIGHT, PLM_TIGHT, PLM_TIGHT});
    plm_fit_table_free(&t);

    job_make(&m, 1000, "139", "no");
    t = plm_fit_report(&m.job, cards, COUNT(cards));
    verdicts_are(&t, (enum plm_verdict[]){PLM_UNKNOWN, PLM_UNKNOWN, PLM_UNKNOWN, PLM_UNKNOWN, PLM_UNKNOWN});
    plm_fit_table_free(&t);
}

static const char *confidence(const struct made *m, char reason[256])
{
    char reasons[9][256] = {""};
    const char *level;
    int n;
    level = plm_confidence(&m->job, reasons, 9, &n);
    memcpy(reason, reasons[0], 256);
    return level;
}

/* One of a kind and several of it; the first is named. */
static void told_in_the_record(void **state)
{
    static const struct {
        char *kind;
        const char *one, *several;
    } rows[] = {
        {"loop-assumed", "how often a loop runs depends on an assumed value: a.py:1",
         "how often some loops run depends on an assumed value: a.py:1"},
        {"loop-ended", "a loop waited for a value that plimsoll did not compute and got another: a.py:1",
         "some loops waited for a value that plimsoll did not compute and got another: a.py:1"},
        {"absent-peer", "1 value came from ranks that were not run and is unknown: a.py:1",
         "2 values came from ranks that were not run and are unknown: a.py:1"},
    };
    struct made m;
    char reason[256];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int count = 0; count < 3; count++) {
            const char *const says[] = {"", rows[i].one, rows[i].several};
            struct plm_summary_count note[] = {{.name = rows[i].kind, .detail = "a.py:1"},
                                               {.name = rows[i].kind, .detail = "b.py:2"}};
            job_make(&m, 3000, "0", "no");
            m.job.summary.notes = (struct plm_counts){.item = note, .count = count};
            assert_string_equal(confidence(&m, reason), count ? "medium" : "high");
            assert_string_equal(reason, says[count]);
        }
}

/* What else a record or its stack file says, and how much it matters. */
static void told_of_its_origin(void **state)
{
    static const struct {
        const char *note, *config[4][2], *level, *reason;
    } rows[] = {
        {"history-late", {{NULL}}, "medium", "the snapshot's history starts late: an earlier peak is missing"},
        {"history-differs",
         {{NULL}},
         "medium",
         "the history does not end in the snapshot's state: sizes may be slightly wrong"},
        {"message-late", {{NULL}}, "medium", "a rank timed out waiting for a message and went on"},
        {"object-large", {{NULL}}, "medium", "an object of more than 1 MiB did not reach the other ranks: a.py:1"},
        {"conv-formula",
         {{NULL}},
         "high",
         "convolution workspaces are estimated by a formula; this --detail does not record how much they matter"},
        {"",
         {{"stack", "a.ini"}, {"stack-chosen", "card"}, {"stack-made", "measured"}},
         "high",
         "the stack file 'a.ini' (measured) was used for this GPU; `--stack none` turns it off"},
        {"",
         {{"stack", "a.ini"}, {"stack-chosen", "card"}},
         "high",
         "the stack file 'a.ini' (unknown) was used for this GPU; `--stack none` turns it off"},
        /* It has rows for some convolutions, and the job has none of them. */
        {"", {{"stack", "a.ini"}, {"stack-chosen", "card"}, {"stack-made", "written"}}, "high", ""},
        {"conv-table",
         {{"stack", "a.ini"}, {"stack-chosen", "card"}, {"stack-made", "written"}},
         "high",
         "the stack file 'a.ini' (written) was used for this GPU; `--stack none` turns it off"},
        {"", {{"stack", "a.ini"}, {"stack-chosen", "user"}}, "high", ""},
        {"",
         {{"stack", "a.ini"}, {"stack-card", "other"}, {"stack-gpu", "RTX 3060"}},
         "medium",
         "the stack file 'a.ini' is for other versions or another GPU: the card is RTX 3060"},
        {"",
         {{"stack", "a.ini"}, {"stack-card", "other"}},
         "medium",
         "the stack file 'a.ini' is for other versions or another GPU: the card is another one"},
        {"", {{"stack", "a.ini"}, {"stack-card", "same"}}, "high", ""},
    };
    struct made m;
    char reason[256];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plm_summary_count note = {.name = (char *)(uintptr_t)rows[i].note, .detail = (char *)"a.py:1"};
        job_make(&m, 3000, "0", "no");
        m.job.summary.notes = (struct plm_counts){.item = &note, .count = 1};
        for (size_t k = 0; k < COUNT(rows[i].config) && rows[i].config[k][0]; k++)
            m.config[m.job.summary.config.count++] = (struct plm_summary_count){
                .name = (char *)(uintptr_t)rows[i].config[k][0], .detail = (char *)(uintptr_t)rows[i].config[k][1]};
        assert_string_equal(confidence(&m, reason), rows[i].level);
        assert_string_equal(reason, rows[i].reason);
    }
}

/* ---- a command that ends well although a process of it failed ---- */

static void hidden(void **state)
{
    static const struct {
        int status, steps, other_status, other_steps;
        uint64_t other_mib, other_first_ns;
        enum plm_fit_known_what what;
    } rows[] = {
        {0, 2, 0, 2, 1000, 1, PLM_KNOWN_PEAK},    {7, 2, 7, 2, 1000, 5, PLM_KNOWN_NOTHING},
        {7, 2, 0, 1, 9000, 5, PLM_KNOWN_NOTHING}, {7, 2, 0, 2, 900, 5, PLM_KNOWN_PEAK}, /* it was started again */
        {7, 2, 0, 3, 1000, 4, PLM_KNOWN_NOTHING}, /* another rank, which went on */
        {7, 0, 0, 0, 999, 5, PLM_KNOWN_NOTHING},  {7, 0, 0, 0, 1000, 5, PLM_KNOWN_PEAK},
        {7, 0, 0, 1, 900, 5, PLM_KNOWN_PEAK}, /* what came before the training */
    };
    struct plm_fit_known known;
    struct made m;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        job_make(&m, 1000, "0", "no");
        m.job.lanes = (size_t)(m.job.summary.devices = 2);
        m.device[0].status = rows[i].status;
        m.device[0].steps = rows[i].steps;
        m.device[0].last_ns = 5;
        m.device[1].process = 1;
        m.device[1].first_ns = rows[i].other_first_ns;
        m.device[1].status = rows[i].other_status;
        m.device[1].steps = rows[i].other_steps;
        m.device[1].used_peak = rows[i].other_mib * MIB;
        known = plm_fit_known(&m.job);
        assert_int_equal(known.what, rows[i].what);
        assert_int_equal(known.failed, rows[i].what == PLM_KNOWN_NOTHING);
    }
    job_make(&m, 1000, "0", "yes")->device[0].last_ns = 5;
    m.device[0].status = 7; /* not even that it was enough, after a full card */
    m.device[0].out_of_memory = true;
    known = plm_fit_known(&m.job);
    assert_int_equal(known.what, PLM_KNOWN_NOTHING);
    assert_string_equal(known.why, "one of its programs failed with status 7 in step 3");
}

/* ---- several processes on one card ---- */

/* Each holds 3000 MiB, the first for the first and the second for the last six seconds of ten. */
static struct made *shared_make(struct made *m, struct plm_lane_segment segment[2], const char *status,
                                const char *bounded)
{
    job_make(m, 3000, status, bounded);
    for (uint32_t i = 0; i < 2; i++) {
        segment[i] = (struct plm_lane_segment){.bytes = 3000 * MIB, .alloc_ns = 1 + 4 * i, .free_ns = UINT64_MAX};
        m->device[i].process = i + 1;
        m->device[i].card = 1;
        m->device[i].first_ns = segment[i].alloc_ns;
        m->device[i].last_ns = 6 + 4 * i;
        m->lane[i].segment = &segment[i];
        m->lane[i].segments = 1;
    }
    m->job.lanes = (size_t)(m->job.summary.devices = 2);
    return m;
}

/* Made once for all cards, a ladder is what it is when it is made for one. */
static void assert_kept(const struct plm_job *job, const struct plm_card *cards, size_t count)
{
    struct plm_ladders kept = plm_ladders_make(job);
    for (size_t i = 0; i < job->lanes; i++)
        for (size_t k = 0; k < count; k++) {
            const struct plm_ladder once = plm_ladder_on(job, &job->lane[i], &cards[k]),
                                    many = plm_ladders_on(&kept, &job->lane[i], &cards[k]);
            assert_int_equal(many.device_used, once.device_used);
            assert_int_equal(many.beside, once.beside);
            assert_int_equal(many.low, once.low);
            assert_int_equal(many.high, once.high);
            assert_int_equal(many.lines, once.lines);
        }
    assert_int_equal(plm_ladders_job(&kept, NULL).device_used, 2 * (3000 + CONTEXT) * MIB);
    assert_int_equal(plm_ladders_job(&kept, NULL).high, 2 * (3000 + 700) * MIB);
    plm_ladders_free(&kept);
}

static void shared_card(void **state)
{
    const struct plm_card cards[] = {card("for one", 4000), card("for both", 7500)};
    struct plm_lane_segment segment[2];
    struct plm_fit_table t;
    struct plm_ladder l;
    char reason[256];
    struct made m;
    (void)state;
    plm_job_share(&shared_make(&m, segment, "0", "no")->job);
    assert_int_equal(m.lane[0].together, 6000 * MIB);
    l = plm_ladder(&m.job, &m.lane[0]);
    assert_int_equal(l.beside, (3000 + CONTEXT) * MIB);
    assert_int_equal(l.device_used, 2 * (3000 + CONTEXT) * MIB);
    assert_int_equal(l.low, 2 * (3000 + 100) * MIB);
    assert_int_equal(l.high, 2 * (3000 + 700) * MIB);
    assert_kept(&m.job, cards, COUNT(cards));
    t = plm_fit_report(&m.job, cards, COUNT(cards));
    assert_int_equal(t.row[0].answer.verdict, PLM_NO_FIT);
    assert_int_equal(t.row[1].answer.verdict, PLM_FITS);
    plm_fit_table_free(&t);
    assert_string_equal(confidence(&m, reason), "high");
    assert_string_equal(reason, "2 processes share one GPU, rank 0 and others: together they use 6.9 GiB of it");

    /* What one had given back before the other took something need not be there twice, but may be. */
    shared_make(&m, segment, "0", "no");
    segment[0].free_ns = 5;
    plm_job_share(&m.job);
    assert_int_equal(m.lane[1].together, 3000 * MIB);
    l = plm_ladder(&m.job, &m.lane[1]);
    assert_int_equal(l.device_used, (3000 + 2 * CONTEXT) * MIB);
    assert_int_equal(l.high, 2 * (3000 + 700) * MIB);

    /* One after the other; on two cards; a record that does not tell. */
    shared_make(&m, segment, "0", "no")->device[0].last_ns = 5;
    plm_job_share(&m.job);
    assert_int_equal(m.lane[0].together + m.lane[1].together, 0);
    shared_make(&m, segment, "0", "no")->device[1].card = 2;
    plm_job_share(&m.job);
    assert_int_equal(m.lane[0].together + m.lane[1].together, 0);
    shared_make(&m, segment, "0", "no");
    m.device[0].card = m.device[1].card = 0;
    plm_job_share(&m.job);
    assert_int_equal(m.lane[0].together + m.lane[1].together, 0);

    /* A bounded card was each process's own: that both went on shows nothing. */
    shared_make(&m, segment, "0", "yes")->device[0].out_of_memory = true;
    plm_job_share(&m.job);
    assert_int_equal(plm_fit_known(&m.job).what, PLM_KNOWN_NOTHING);
}

/* Without a replay: the device that takes less may take more in the end. */
static void widest_device(void **state)
{
    struct plm_card cards[] = {card("small", 4000), card("large", 4949)};
    struct plm_fit_table t;
    struct made m;
    (void)state;
    job_make(&m, 2400 - CONTEXT, "0", "no")->device[1].used_peak -= MIB;
    m.device[1].takers = 1;
    m.device[1].taker[0] = (struct plm_taker){.name = "nccl", .high = 2400 * MIB};
    m.job.lanes = (size_t)(m.job.summary.devices = 2);
    t = plm_fit_report(&m.job, cards, COUNT(cards));
    assert_int_equal(t.row[0].need, 2400 * MIB);
    assert_int_equal(t.row[0].answer.verdict, PLM_TIGHT);
    assert_int_equal(t.row[1].answer.verdict, PLM_FITS);
    plm_fit_table_free(&t);
}

static void recommended(void **state)
{
    struct plm_card cards[] = {card("shares", 8000), card("old", 9000), card("ada", 10000), card("slice", 8500)};
    struct plm_fit_table t;
    char lacks[32];
    struct made m;
    (void)state;
    cards[0].shared_memory = true;
    cards[1].major = 7;
    cards[2].minor = 9;
    cards[3].mig = true;
    t = plm_fit_report(&job_make(&m, 1000, "0", "no")->job, cards, COUNT(cards));
    assert_string_equal(plm_fit_smallest(&t, false)->card->id, "old");
    assert_string_equal(plm_fit_smallest(&t, true)->card->id, "slice");
    plm_fit_table_free(&t);
    m.job.summary.types = 1u << PLM_TYPE_BF16 | 1u << PLM_TYPE_FP8;
    t = plm_fit_report(&m.job, cards, COUNT(cards)); /* shares, slice, old, ada */
    assert_string_equal(plm_fit_smallest(&t, false)->card->id, "ada");
    assert_null(plm_fit_smallest(&t, true));
    assert_string_equal(plm_fit_lacks_text(t.row[0].lacks, lacks), "fp8");
    assert_string_equal(plm_fit_lacks_text(t.row[2].lacks, lacks), "bf16, fp8");
    assert_string_equal(plm_fit_lacks_text(t.row[3].lacks, lacks), "");
    plm_fit_table_free(&t);
}

/* ---- confidence ---- */

/* A job that takes `mib` of its card and may take `more`, which is NCCL's. */
static struct made *job_unsure(struct made *m, uint64_t mib, uint64_t more)
{
    job_make(m, mib - CONTEXT, "0", "no");
    m->device[0].takers = 1;
    m->device[0].taker[0] = (struct plm_taker){.name = "nccl", .high = more * MIB};
    return m;
}

/* Values that the card would have computed, as docs/accuracy.md and docs/values.md have what they do to the confidence. */
static void unknown_values(void **state)
{
    static const struct {
        const char *note, *op, *assume;
        bool both_ends;
        const char *level;
    } rows[] = {
        {"", "", NULL, false, "high"},
        {"", "aten::item", NULL, false, "high"}, /* decides no size */
        {"", "aten::nonzero", NULL, false, "low"},
        {"", "aten::nonzero", NULL, true, "medium"},
        {"", "aten::nonzero", "all=true", true, "low"}, /* the ends are others' */
        {"selection-assumed", "", "keep=0.5", false, "medium"},
        {"selection-assumed", "aten::nonzero", "keep=0.5", false, "low"},
        {"choice-decides", "", NULL, false, "medium"},
        {"choice-decides", "", NULL, true, "medium"},
        {"choices-assumed", "", NULL, false, "high"},
    };
    char reason[256];
    struct made m;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plm_summary_count note = {.name = (char *)(uintptr_t)rows[i].note, .detail = (char *)"even"},
                                 op = {.name = (char *)(uintptr_t)rows[i].op, .detail = (char *)"", .calls = 1};
        job_make(&m, 2400 - CONTEXT, "0", "no");
        m.job.summary.notes = (struct plm_counts){.item = &note, .count = 1};
        m.device[0].readbacks = (struct plm_counts){.item = &op, .count = 1};
        m.device[0].other_end = rows[i].both_ends ? m.device[0].reserved_peak : 0;
        if (rows[i].assume)
            m.config[m.job.summary.config.count++] =
                (struct plm_summary_count){.name = (char *)"assume", .detail = (char *)(uintptr_t)rows[i].assume};
        if (strcmp(confidence(&m, reason), rows[i].level) != 0)
            fail_msg("row %zu is %s, not %s: %s", i, confidence(&m, reason), rows[i].level, reason);
    }
}

/* The range is of 600 MiB, that of the context, and what is the job's own. */
static void width(void **state)
{
    char reason[256];
    struct made m;
    (void)state;
    assert_string_equal(confidence(job_make(&m, 2400 - CONTEXT, "0", "no"), reason), "high");
    assert_string_equal(reason, "");
    assert_string_equal(confidence(job_make(&m, 599 - CONTEXT, "0", "no"), reason), "high");
    assert_string_equal(reason,
                        "the range is wide: 149.0 MiB to 749.0 MiB, 100 % of the figure, including the CUDA context");
    assert_string_equal(confidence(job_unsure(&m, 2400, 600), reason), "high");
    assert_string_equal(confidence(job_unsure(&m, 2400, 601), reason), "medium");
    assert_string_equal(reason, "the range is wide: 1.9 GiB to 3.1 GiB, 50 % of the figure");
    assert_string_equal(confidence(job_unsure(&m, 2400, 2400), reason), "medium");
    assert_string_equal(confidence(job_unsure(&m, 2400, 2401), reason), "low");
    /* What an FSDP run on two ranks said: 1008 MiB, between 498.6 MiB and 2.3 GiB. */
    job_make(&m, 458, "0", "no");
    m.device[0].takers = 1;
    m.device[0].taker[0] = (struct plm_taker){.name = "nccl", .at_peak = 60 * MIB, .low = MIB, .high = 1257 * MIB};
    assert_string_equal(confidence(&m, reason), "low");
    /* The same on a second device that takes less. */
    job_make(&m, 2400 - CONTEXT, "0", "no")->device[1].used_peak -= MIB;
    m.device[1].takers = 1;
    m.device[1].taker[0] = (struct plm_taker){.name = "nccl", .high = 2402 * MIB};
    m.job.lanes = (size_t)(m.job.summary.devices = 2);
    assert_string_equal(confidence(&m, reason), "low");
    assert_string_equal(reason, "the range is wide: 1.9 GiB to 4.8 GiB, 125 % of the figure");
    /* A job that has no peak of its own. */
    assert_string_equal(confidence(job_make(&m, 9000, "1", "no"), reason), "low");
    assert_string_equal(reason, "unknown: the job failed with status 1 in step 3");
}

/* docs/accuracy.md: they are told, and their range counts with its width. */
static void workspaces(void **state)
{
    struct plm_job_conv_marks marks = {.guessed = 3};
    struct plm_job_conv_kept kept = {PTHREAD_MUTEX_INITIALIZER, .weighed = true, .low = 200 * MIB, .high = 250 * MIB};
    char reason[256];
    struct made m;
    (void)state;
    job_make(&m, 9000, "0", "no")->lane[0].convolutions = &marks;
    m.lane[0].kept = &kept;
    assert_string_equal(confidence(&m, reason), "high");
    assert_contains(reason,
                    "the workspaces of 3 convolutions are estimated by a formula, which widens the range by 200.0 "
                    "MiB down and 250.0 MiB up");
    kept.low = 2000 * MIB;
    assert_string_equal(confidence(&m, reason), "high");
    kept.low = 2300 * MIB;
    assert_string_equal(confidence(&m, reason), "medium");
    assert_contains(reason, "the range is wide: ");
}

static void steps(void **state)
{
    static const struct {
        int count;
        uint64_t allocated[6], reserved[6]; /* MiB */
        const char *level, *words;
    } rows[] = {
        {4, {5000, 5000, 5000, 5000}, {6000, 6000, 6000, 6000}, "high", "all steps identical, nothing refused"},
        {4, {4000, 5000, 5010, 5000}, {5000, 6000, 6000, 6000}, "high", "last 3 of 4 steps identical, nothing refused"},
        {4, {4000, 5000, 5000, 5000}, {5000, 5900, 6000, 6000}, "high", "last 2 of 4 steps identical, nothing refused"},
        {0, {0}, {0}, "medium", "no optimizer step was seen: the figures cover the whole command"},
        {1, {5000}, {6000}, "medium", "only one step was seen: optimizer state and caches settle in the second step"},
        {3,
         {5000, 5000, 4000},
         {6000, 6000, 6000},
         "medium",
         "the last two steps differ: a longer run may reach a higher peak"},
        {3,
         {5000, 5000, 5100},
         {6000, 6000, 6000},
         "medium",
         "the peak still grew in the last step, by 100.0 MiB: run more steps with --steps"},
    };
    char text[256], grounds[64];
    struct made m;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        job_make(&m, 6000, "0", "no");
        all_of_it(&m);
        m.job.summary.steps = m.device[0].steps = rows[i].count;
        for (int k = 0; k < rows[i].count; k++)
            m.step[k] = (struct plm_step){rows[i].allocated[k] * MIB, rows[i].reserved[k] * MIB, 6000 * MIB};
        assert_string_equal(confidence(&m, text), rows[i].level);
        assert_string_equal(*text ? text : plm_confidence_grounds(&m.job, grounds), rows[i].words);
    }
    /* The device on which fewest are alike decides. */
    job_make(&m, 6000, "0", "no");
    m.job.summary.devices = 2;
    m.job.summary.steps = m.device[0].steps = m.device[1].steps = 3;
    m.device[1].step = (struct plm_step[]){{MIB, MIB, MIB}, {2 * MIB, 2 * MIB, MIB}, {2 * MIB, 2 * MIB, MIB}};
    assert_string_equal(plm_confidence_grounds(&m.job, grounds), "last 2 of 3 steps identical, nothing refused");
}

/* Steps that repeat say nothing about a peak after the last of them. */
static void peak_after_the_steps(void **state)
{
    char text[256];
    struct made m;
    (void)state;
    job_make(&m, 6000, "0", "no");
    m.job.summary.steps = m.device[0].steps = 3;
    for (int k = 0; k < 3; k++)
        m.step[k] = (struct plm_step){4000 * MIB, 5000 * MIB, 5000 * MIB};
    m.device[0].allocated_peak.bytes = 5120 * MIB;
    m.device[0].allocated_peak.step = 2;
    assert_string_equal(confidence(&m, text), "high");
    m.device[0].allocated_peak.step = 3;
    assert_string_equal(confidence(&m, text), "medium");
    assert_string_equal(text, "the peak of rank 0, 5.0 GiB, came after its last counted step (3): within the steps it "
                              "allocated 3.9 GiB");
    all_of_it(&m);
    assert_string_equal(confidence(&m, text), "high");
    assert_contains(text, "came after its last counted step");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(endings),
                                       cmocka_unit_test(cards_without_a_peak),
                                       cmocka_unit_test(recommended),
                                       cmocka_unit_test(width),
                                       cmocka_unit_test(workspaces),
                                       cmocka_unit_test(steps),
                                       cmocka_unit_test(widest_device),
                                       cmocka_unit_test(shared_card),
                                       cmocka_unit_test(hidden),
                                       cmocka_unit_test(told_in_the_record),
                                       cmocka_unit_test(told_of_its_origin),
                                       cmocka_unit_test(unknown_values),
                                       cmocka_unit_test(peak_after_the_steps)};
    return RUN(tests);
}
