/* What is read from a record before anything is timed: steps, samples, sites, devices, damage. */
#include "time_common.h"

/* ---- steps, samples, sites ---- */

/* No optimizer: a call of the model is a step, and the first does not count. */
static void passes(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    struct plm_error error;
    (void)state;
    record_begin(unit_path("pass.plm"));
    for (int i = 0; i < 4; i++) {
        plm_pen_pass(&pen, 0, &(struct plm_ev_pass){plm_pen_intern(&pen, "model"), 32});
        plm_pen_module(&pen, 0, &(struct plm_ev_module){plm_pen_intern(&pen, "model"), PLM_PHASE_FORWARD});
        pause_us(1);
        kernel_us(i ? 999 : 50000, 0);
        plm_pen_module(&pen, 0, &(struct plm_ev_module){0, PLM_PHASE_FORWARD});
        pause_us(1);
    }
    record_end();
    assert_int_equal(plm_works_read(unit_path("pass.plm"), &works, &error), 0);
    assert_int_equal(plm_works_main(&works)->unit, PLM_STEP_PASS);
    assert_string_equal(works.card, "round");
    ask(&round_card, &speeds, 0);
    assert_int_equal(timing.steps, 3);
    assert_near(timing.step, 1 * MS, 0.02);
    assert_near(timing.samples_per_second, 32000, 0.03);
    forget();
}

/* Neither: the whole command. */
static void whole(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    struct plm_error error;
    (void)state;
    record_begin(unit_path("whole.plm"));
    for (int i = 0; i < 4; i++)
        kernel_us(999, 0);
    record_end();
    assert_int_equal(plm_works_read(unit_path("whole.plm"), &works, &error), 0);
    assert_int_equal(plm_works_main(&works)->unit, PLM_STEP_WHOLE);
    ask(&round_card, &speeds, 0);
    assert_near(timing.step, 4 * MS, 0.02);
    assert_true(timing.samples_per_second <= 0);
    forget();
}

static void sites_body(void)
{
    plm_pen_context(&pen, 0,
                    &(struct plm_ev_context){1, plm_pen_intern(&pen, "fc1"), plm_pen_intern(&pen, "aten::linear"),
                                             plm_pen_intern(&pen, "aten::addmm"), PLM_PHASE_FORWARD, 0});
    plm_pen_context(&pen, 0,
                    &(struct plm_ev_context){2, plm_pen_intern(&pen, "fc2"), plm_pen_intern(&pen, "aten::linear"),
                                             plm_pen_intern(&pen, "aten::addmm"), PLM_PHASE_FORWARD, 0});
    kernel_in((struct plm_ev_call){.context = 1}, 299);
    kernel_in((struct plm_ev_call){.context = 2}, 699);
}

static void sites(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    time_steps(sites_body, &speeds);
    assert_int_equal(timing.operators.count, 1);
    assert_string_equal(timing.operators.item[0].name, "aten::linear");
    assert_near(timing.operators.item[0].ns, 1 * MS, 0.02);
    assert_int_equal(timing.modules.count, 2);
    assert_string_equal(timing.modules.item[0].name, "fc2");
    assert_near(timing.modules.item[0].ns, 700 * US, 0.02);
    assert_near(timing.modules.item[1].bound[PLM_BOUND_BANDWIDTH], 300 * US, 0.02);
    assert_string_equal(timing.classes.item[0].name, "elementwise");
    forget();
}

static void two_devices(void)
{
    kernel_us(1, 0);
    for (int i = 0; i < 3; i++)
        plm_pen_launch(&pen, 1,
                       &(struct plm_ev_launch){.name = plm_pen_intern(&pen, "vectorized_elementwise_kernel"),
                                               .grid_x = 1,
                                               .block_x = 256,
                                               .counts = PLM_COUNT_ELEMENTS,
                                               .count = 1});
}

/* Of several devices of a rank the one that it calls most. */
static void the_busiest_device(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    time_steps(two_devices, &speeds);
    assert_int_equal(works.lanes, 2);
    assert_int_equal(plm_time_lane(&works, 0)->device, 1);
    assert_int_equal(plm_works_main(&works)->device, 1);
    forget();
}

/* ---- cards ---- */

static struct plm_works lanes(struct plm_work_lane *lane, size_t count)
{
    return (struct plm_works){.lane = lane, .lanes = count};
}

/* Of a rank the lane with most calls; a process that tells none is rank 0; whoever asks for none gets the busiest of
   all. */
static void lanes_of_ranks(void **state)
{
    struct plm_work_lane lane[] = {{.rank = -1, .calls = 5},
                                   {.rank = 0, .calls = 7},
                                   {.rank = 1, .calls = 9},
                                   {.rank = 1, .calls = 9, .device = 1}};
    const struct plm_works some = lanes(lane, COUNT(lane)), none = lanes(NULL, 0);
    (void)state;
    assert_ptr_equal(plm_time_lane(&some, 0), &lane[1]);
    assert_ptr_equal(plm_time_lane(&some, 1), &lane[2]);
    assert_ptr_equal(plm_time_lane(&some, -1), &lane[2]);
    assert_null(plm_time_lane(&some, 2));
    assert_null(plm_time_lane(&none, 0));
    assert_null(plm_time_lane(&none, -1));
    assert_ptr_equal(plm_time_lane(&(struct plm_works){.lane = lane, .lanes = 1}, 0), &lane[0]);
}

/* Two steps of 32 samples in one rank and of 16 in the other are 24 on average; four replicas of them in 0.5 s are 192 a
   second. A lane that is measured in other steps, or has no samples, tells nothing. */
static void samples_of_all(void **state)
{
    static struct plm_work_step step[] = {{.samples = 32}, {.samples = 32}, {.samples = 16}, {.samples = 16}, {0}};
    struct plm_work_lane lane[] = {{.process = 1, .unit = PLM_STEP_PASS, .step = step, .steps = 2},
                                   {.process = 2, .unit = PLM_STEP_PASS, .step = step + 2, .steps = 2},
                                   {.process = 2, .unit = PLM_STEP_PASS, .step = step + 4, .steps = 1, .device = 1},
                                   {.process = 3, .unit = PLM_STEP_WHOLE, .step = step, .steps = 2},
                                   {.process = 4, .unit = PLM_STEP_PASS}};
    struct plm_works some = lanes(lane, COUNT(lane));
    (void)state;
    some.world = (struct plm_work_world){.ranks = 8, .replicas = 4};
    assert_near(plm_time_together(&some, &lane[0], 500 * MS), 192, 1e-9);
    assert_near(plm_time_together(&some, &lane[3], 500 * MS), 4 * 32 / 0.5, 1e-9);
    assert_true(plm_time_together(&some, &lane[0], 0) <= 0);
    assert_int_equal(plm_time_gpus(&some, &lane[0]), 8);
    assert_int_equal(plm_time_gpus(&some, &lane[1]), 16); /* each process drives two */
    some.world = (struct plm_work_world){.ranks = 1, .replicas = 1}; /* alone: its own */
    assert_near(plm_time_together(&some, &lane[1], 500 * MS), 32, 1e-9);
    assert_true(plm_time_together(&some, &lane[4], 500 * MS) <= 0);
}

/* A million samples at 100 a second take 2.78 hours, which cost on four GPUs of $1.5 an hour $16.67. A step of 0.5 s makes
   7,200 of them an hour, 1,200 for a dollar. */
static void prices(void **state)
{
    struct plm_time_row row = {.samples = 1e6, .together = 100, .price = 1.5, .gpus = 4, .timing.step = 500 * MS};
    (void)state;
    assert_near(plm_time_hours(&row), 1e6 / 100 / 3600, 1e-9);
    assert_near(plm_time_cost(&row), 16 + 2.0 / 3, 1e-9);
    assert_near(plm_time_per_dollar(&row), 1200, 1e-9);
    row.together = 0;
    assert_true(plm_time_hours(&row) <= 0 && plm_time_cost(&row) <= 0);
    row.price = 0;
    assert_true(plm_time_per_dollar(&row) <= 0);
}

/* ---- ranks that share their samples ---- */

struct group {
    const char *name, *ranks;
    uint32_t size;
};

static const struct plm_work_world *world_of(const char *ranks, const struct group *group, size_t groups)
{
    struct plm_error error;
    record_begin(unit_path("world.plm"));
    if (ranks)
        plm_pen_setting(&pen, "world", ranks);
    for (size_t i = 0; i < groups; i++)
        plm_pen_group(&pen, 0,
                      &(struct plm_ev_group){.name = plm_pen_intern(&pen, group[i].name),
                                             .ranks = plm_pen_intern(&pen, group[i].ranks),
                                             .size = group[i].size});
    kernel_us(1, 0);
    record_end();
    if (plm_works_read(unit_path("world.plm"), &works, &error))
        fail_msg("%s", error.text);
    return &works.world;
}

/* Of eight ranks two neighbours are along the first axis, four along the second. Ranks of one pipeline, of one tensor or
   of one sequence work on one batch; those of data parallelism, also of FSDP and of experts, have a batch each: of
   PyTorch's, torchtitan's, Megatron's and DeepSpeed's names for them. */
static void axes_that_share(void **state)
{
    static const char *const shares[] = {"tp", "TP",  "tensor", "pp", "pipe",    "pipeline", "stage",  "stages", "cp",
                                         "sp", "seq", "model",  "mp", "context", "sequence", "domain", "ulysses"};
    static const char *const own[] = {"dp", "fsdp", "dp_shard", "dp_replicate", "ep", "expert", "data", "tpx", "t"};
    (void)state;
    for (size_t i = 0; i < COUNT(shares) + COUNT(own); i++) {
        const bool shared = i < COUNT(shares);
        const char *name = shared ? shares[i] : own[i - COUNT(shares)];
        char first[40];
        snprintf(first, sizeof first, "mesh_%s", name);
        const struct group some[] = {{first, "4-5", 2}, {"mesh_dp", "1-7/2", 4}};
        const struct plm_work_world *w = world_of("8", some, COUNT(some));
        assert_int_equal(w->ranks, 8);
        assert_int_equal(w->replicas, shared ? 4 : 8);
        assert_true(w->told);
        assert_string_equal(w->shared, shared ? name : "");
        plm_works_free(&works);
    }
}

/* 2 of a tensor, 2 stages and 2 of data: two replicas. Without names all have a batch each, which nobody told. */
static void worlds(void **state)
{
    static const struct group three[] = {{"mesh_tp", "0-1", 2}, {"mesh_pp", "0-2/2", 2}, {"mesh_dp", "0-4/4", 2}},
                              nameless[] = {{"default_pg", "0-15", 16}, {"pairs", "0-1", 2}},
                              alone[] = {{"mesh_tp", "0", 1}};
    const struct plm_work_world *w;
    (void)state;
    w = world_of("8", three, COUNT(three));
    assert_int_equal(w->replicas, 2);
    assert_string_equal(w->shared, "tp, pp");
    assert_true(w->told);
    plm_works_free(&works);
    w = world_of(NULL, nameless, 2); /* the largest group has all ranks, if nothing tells how many they are */
    assert_int_equal(w->ranks, 16);
    assert_int_equal(w->replicas, 16);
    assert_false(w->told);
    plm_works_free(&works);
    w = world_of("4", nameless, 1);
    assert_int_equal(w->ranks, 4);
    plm_works_free(&works);
    w = world_of("1", alone, 1);
    assert_int_equal(w->replicas, 1);
    assert_string_equal(w->shared, "");
    plm_works_free(&works);
    w = world_of(NULL, NULL, 0);
    assert_int_equal(w->ranks, 1);
    assert_int_equal(w->replicas, 1);
    plm_works_free(&works);
}

/* ---- records ---- */

static void records_without_launches(void **state)
{
    struct plm_error error;
    (void)state;
    record_begin(unit_path("none.plm"));
    copy(PLM_COPY_PINNED, 100);
    wait_for(PLM_SYNC_DEVICE, 0, 0);
    step(1);
    record_end();
    assert_int_equal(plm_works_read(unit_path("none.plm"), &works, &error), PLM_ENOTFOUND);
    assert_contains(error.text, "no kernel launches");
    assert_true(plm_works_read(unit_path("not-there.plm"), &works, &error) < 0);
    unit_write(unit_path("none.plm"), "", 0);
    assert_true(plm_works_read(unit_path("none.plm"), &works, &error) < 0);
    unit_write(unit_path("none.plm"), "plimsoll?", 9);
    assert_true(plm_works_read(unit_path("none.plm"), &works, &error) < 0);
}

/* A record that is cut or damaged somewhere: an answer or a sentence. */
static void records_damaged(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    const struct plm_timing_options options = {.shares = true};
    size_t size;
    char *bytes;
    (void)state;
    time_steps(two_streams, &speeds);
    forget();
    bytes = unit_read(unit_path("time.plm"), &size);
    for (size_t i = 0; i < 200; i++) {
        const size_t at = 4096 + i * 24; /* the first events */
        const char before = at < size ? bytes[at] : 0;
        struct plm_error error = {0};
        if (at >= size)
            break;
        bytes[at] = (char)(before ^ 0x41);
        unit_write(unit_path("damaged.plm"), bytes, i % 5 ? size : at);
        if (plm_works_read(unit_path("damaged.plm"), &works, &error) == 0) {
            assert_int_equal(
                plm_timing_make(&works, plm_works_main(&works), &round_card, &speeds, &options, &timing, &error), 0);
            assert_true(isfinite(timing.step));
            forget();
        } else
            assert_true(*error.text);
        bytes[at] = before;
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes),          cmocka_unit_test(whole),
        cmocka_unit_test(sites),           cmocka_unit_test(the_busiest_device),
        cmocka_unit_test(lanes_of_ranks),  cmocka_unit_test(axes_that_share),
        cmocka_unit_test(samples_of_all),  cmocka_unit_test(prices),
        cmocka_unit_test(worlds),          cmocka_unit_test(records_without_launches),
        cmocka_unit_test(records_damaged),
    };
    return RUN(tests);
}
