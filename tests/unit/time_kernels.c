/* How long kernels, products and collectives take, on a card whose figures are round. */
#include "time_common.h"

/* ---- writing ---- */

static void gemm(uint32_t m, uint32_t n, uint32_t k, uint32_t batch)
{
    plm_pen_gemm(&pen, 0,
                 &(struct plm_ev_gemm){.call = call_on(0), .m = m, .n = n, .k = k, .batch = batch, .compute = 68});
}

/* ---- who waits for whom ---- */

/* 4 MB to one block of 100 threads. */
static void reduction(const char *name)
{
    plm_pen_launch(&pen, 0,
                   &(struct plm_ev_launch){.name = plm_pen_intern(&pen, name),
                                           .grid_x = 1,
                                           .grid_y = 1,
                                           .grid_z = 1,
                                           .block_x = 100,
                                           .block_y = 1,
                                           .block_z = 1,
                                           .counts = PLM_COUNT_REDUCTION,
                                           .count = 1000000,
                                           .count_2 = 0});
}

static void reduction_of_one(void)
{
    reduction("_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfEEvT1_");
}

static void reduction_of_four(void)
{
    reduction("_ZN2at6native13reduce_kernelILi128ELi4ENS0_8ReduceOpIfEEvT1_");
}

/* 100 threads with 8 bytes each under way for 100 ns: 8 bytes a ns, 500 us for 4 MB. With four results side by side each
   has four times as many. */
static void reductions(void **state)
{
    struct plm_speeds speeds = plain_speeds();
    (void)state;
    speeds.thread_bytes = 8;
    speeds.memory_latency_ns = 100;
    time_steps(reduction_of_one, &speeds);
    assert_near(timing.busy, (500 + 1) * US, 1e-6);
    forget();
    time_steps(reduction_of_four, &speeds);
    assert_near(timing.busy, (125 + 1) * US, 1e-6);
    forget();
}

static void strided(void)
{
    plm_pen_launch(&pen, 0,
                   &(struct plm_ev_launch){.name = plm_pen_intern(&pen, "_ZN2at6native18elementwise_kernelILi128E"),
                                           .grid_x = 100000,
                                           .block_x = 128,
                                           .counts = PLM_COUNT_ELEMENTS,
                                           .count = 1000000});
}

/* 100 instructions for each of 1,000,000 elements at 5,000 a ns: 20 us. Where a multiprocessor has 64 units for fp32, it
   still issues 128 instructions in a cycle: 10 us. Before Volta it does not. */
static void instructions(void **state)
{
    static const struct {
        int major, cores;
        double us;
    } cards[] = {{8, 1280, 20}, {8, 640, 10}, {6, 640, 20}};
    struct plm_speeds speeds = plain_speeds();
    (void)state;
    speeds.strided_ops = 100;
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++) {
        struct plm_card card = round_card;
        card.major = cards[i].major;
        card.cuda_cores = cards[i].cores;
        played = &card;
        time_steps(strided, &speeds);
        played = &round_card;
        assert_near(timing.busy, (cards[i].us + 1) * US, 1e-6);
        forget();
    }
}

/* The gradients of weight and bias: layer norm goes over x and dy for them, group norm over sums that it has already. */
static void norms(void **state)
{
    (void)state;
    assert_float_equal(plm_time_kernel_form("_ZN2at6native35GammaBetaBackwardCUDAKernelTemplateIffLj32E").reads, 2, 0);
    assert_float_equal(plm_time_kernel_form("_ZN2at6native28GammaBetaBackwardCUDAKernel1IfEEvlll").reads, 0, 0);
    assert_float_equal(plm_time_kernel_form("_ZN2at6native28GammaBetaBackwardCUDAKernel2IfEEvlll").reads, 0, 0);
}

static bool last;
static uint8_t number_type; /* cudnnDataType_t */

static void convolution(void)
{
    struct plm_ev_convolution c = {.data_type = number_type,
                                   .channels_last = last,
                                   .axes = 2,
                                   .groups = 1,
                                   .batch = 1,
                                   .in_channels = 64,
                                   .out_channels = 64};
    for (int i = 0; i < 2; i++)
        c.axis[i].in = c.axis[i].out = 1000, c.axis[i].filter = c.axis[i].stride = 1;
    plm_pen_convolution(&pen, 0, &c);
}

static double convolution_us(uint8_t type, bool channels_last)
{
    const struct plm_speeds speeds = plain_speeds();
    double us;
    number_type = type;
    last = channels_last;
    time_steps(convolution, &speeds);
    us = timing.busy / US;
    forget();
    return us;
}

/* x and y of 128 MB each are read and written once more at 1000 bytes a ns if tensor cores find the channels first;
   other units take them as they are. */
static void layouts(void **state)
{
    (void)state;
    assert_near(convolution_us(2, false) - convolution_us(2, true), 512, 1e-6);
    assert_near(convolution_us(0, false), convolution_us(0, true), 1e-9);
}

/* ---- what the driver takes ---- */

static void generated_body(void)
{
    plm_pen_operands(&pen, 0,
                     &(struct plm_ev_operands){
                         .context = 1, .tensors = 1, .elements = 1000000, .element_bytes = 4, .bytes = 4000000});
    plm_pen_launch(&pen, 0,
                   &(struct plm_ev_launch){.call = {.context = 1},
                                           .name = plm_pen_intern(&pen, "triton_poi_fused_add_0"),
                                           .grid_x = 100000,
                                           .block_x = 128});
    kernel_us(9, 0);
    gemm(512, 512, 512, 1);
}

/* What a compiler made is told apart, and each class of work has its share, the largest first. */
static void classes(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    double sum = 0;
    (void)state;
    time_steps(generated_body, &speeds);
    assert_near(timing.generated, 5 * US, 1e-6);
    assert_near(timing.flops, 2.0 * 512 * 512 * 512, 1e-9);
    assert_int_equal(timing.classes.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(!i || timing.classes.item[i].ns <= timing.classes.item[i - 1].ns);
        assert_int_equal(timing.classes.item[i].calls, 3);
        sum += timing.classes.item[i].flops;
    }
    assert_string_equal(timing.classes.item[0].name, "gemm");
    assert_string_equal(timing.classes.item[1].name, "elementwise");
    assert_string_equal(timing.classes.item[2].name, "generated");
    assert_near(timing.classes.item[2].ns, 5 * US, 1e-6);
    assert_near(sum, timing.flops, 1e-9);
    assert_near(timing.mfu, timing.flops / timing.step / 10000, 1e-9);
    assert_int_equal(timing.mfu_type, PLM_WORK_FP32);
    forget();
}

/* ---- products ---- */

static struct {
    uint32_t m, n, k, batch;
} product;

static void product_once(void)
{
    gemm(product.m, product.n, product.k, product.batch);
}

static double product_ns(uint32_t m, uint32_t n, uint32_t k, uint32_t batch, const struct plm_speeds *speeds)
{
    double busy;
    product.m = m, product.n = n, product.k = k, product.batch = batch;
    time_steps(product_once, speeds);
    busy = timing.busy;
    forget();
    return busy;
}

/* A larger product never takes less, and one that fills the card takes its flops over the peak. */
static void products_grow(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    double before = 0;
    (void)state;
    for (uint32_t m = 16; m <= 4096; m += m < 256 ? 16 : 240) {
        const double ns = product_ns(m, 512, 512, 1, &speeds);
        assert_true(ns >= before * (1 - 1e-9));
        before = ns;
    }
    assert_near(product_ns(5120, 5120, 5120, 1, &speeds), 2.0 * 5120 * 5120 * 5120 / 10000, 0.05);
}

/* Ten multiprocessors: eleven tiles take as long as twenty. They are too short along k to be split. */
static void products_in_waves(void **state)
{
    struct plm_speeds speeds = plain_speeds();
    struct plm_card slow = round_card;
    double ten, eleven, twenty;
    (void)state;
    speeds.floor_us = 0;
    slow.fp32_tflops = 1; /* so that its memory does not bound it */
    played = &slow;
    ten = product_ns(32, 32, 64, 10, &speeds);
    eleven = product_ns(32, 32, 64, 11, &speeds);
    twenty = product_ns(32, 32, 64, 20, &speeds);
    played = &round_card;
    assert_near(ten, 2.0 * 32 * 32 * 64 / 100, 0.01); /* of one multiprocessor: 100 flops a ns */
    assert_near(eleven, 2 * ten, 0.01);
    assert_near(twenty, eleven, 1e-6);
}

static void product_split(void)
{
    gemm(32, 32, 1 << 20, 1);
}

/* One tile with very much to sum: splitting it keeps more than one multiprocessor busy. */
static void products_split(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    const double alone = 2.0 * 32 * 32 * (1 << 20) / 1000;
    (void)state;
    time_steps(product_split, &speeds);
    assert_true(timing.busy < alone / 4);
    assert_true(timing.busy > alone / 10);
    forget();
}

static struct plm_cost half_cost(const struct plm_speeds *speeds, uint32_t m, uint32_t n, uint32_t k)
{
    const struct plm_work w = {.class = PLM_WORK_GEMM,
                               .type = PLM_WORK_FP16,
                               .bytes_per = 2,
                               .m = m,
                               .n = n,
                               .k = k,
                               .batch = 1,
                               .sized = true};
    struct plm_machine machine;
    assert_int_equal(plm_machine_make(&round_card, speeds, &machine, NULL), 0);
    return plm_cost(&machine, &w);
}

/* Rows of m and of k are of 16 bytes, or the tensor cores take twice as long here. */
static void uneven_rows(void **state)
{
    struct plm_speeds speeds = plain_speeds();
    const double even = half_cost(&speeds, 5120, 5120, 5120).ns;
    (void)state;
    speeds.uneven_efficiency = 0.5;
    assert_near(half_cost(&speeds, 5120, 5120, 5120).ns, even, 1e-9);
    assert_near(half_cost(&speeds, 5120, 5119, 5120).ns, even, 0.01); /* n does not matter */
    assert_near(half_cost(&speeds, 5112, 5120, 5112).ns, even, 0.01);
    assert_near(half_cost(&speeds, 5119, 5120, 5120).ns, 2 * even, 0.01);
    assert_near(half_cost(&speeds, 5120, 5120, 5119).ns, 2 * even, 0.01);
}

/* Blocks of 256 threads: 8 on a multiprocessor of 2048, 2 if each has half of its shared memory, and no more than there are. */
static void occupancy(void **state)
{
    static const struct {
        double grid, shared, active, occupied;
    } expected[] = {
        {1000, 0, 1, 1}, {1000, 32768, 1, 0.25}, {1000, 40000, 1, 0.125}, {1000, 1, 1, 1}, {5, 0, 0.5, 0.0625}};
    const struct plm_speeds speeds = plain_speeds();
    struct plm_machine machine;
    (void)state;
    assert_int_equal(plm_machine_make(&round_card, &speeds, &machine, NULL), 0);
    for (size_t i = 0; i < COUNT(expected); i++) {
        struct plm_cost cost = {0};
        plm_cost_resident(&machine, expected[i].grid, 256, expected[i].shared, &cost);
        assert_near(cost.activity[PLM_METRIC_SMACT], expected[i].active, 1e-6);
        assert_near(cost.activity[PLM_METRIC_SMOCC], expected[i].occupied, 1e-6);
    }
}

static void tensor_cores(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    struct plm_card old = round_card;
    double step;
    (void)state;
    time_steps(half, &speeds);
    step = timing.step;
    assert_near(step, 2.0 * 5120 * 5120 * 5120 / 100000, 0.1);
    assert_true(timing.metric[PLM_METRIC_TENSO] > 0.9 && timing.metric[PLM_METRIC_FP32A] < 0.1);
    assert_int_equal(timing.mfu_type, PLM_WORK_FP16);
    assert_near(timing.mfu, 1, 0.1);
    plm_timing_free(&timing);
    old.tensor_cores = 0;
    old.fp16_tflops = 0;
    ask(&old, &speeds, 0);
    assert_near(timing.step, 10 * step, 0.1);
    forget();
}

/* ---- collectives ---- */

static uint32_t ranks;

static void all_reduce(void)
{
    plm_pen_collective(&pen, 0,
                       &(struct plm_ev_collective){.call = call_on(0),
                                                   .operation = PLM_COLLECTIVE_ALL_REDUCE,
                                                   .data_type = 7,
                                                   .ranks = ranks,
                                                   .count = 100000000});
}

/* A ring of eight sends 7/8 of the 400 MB twice, at 100 bytes a ns; alone there is nobody to send to. */
static void collectives(void **state)
{
    struct plm_speeds speeds = plain_speeds();
    struct plm_card lonely = round_card;
    (void)state;
    ranks = 1;
    time_steps(all_reduce, &speeds);
    assert_true(timing.step < 10 * US);
    forget();
    ranks = 8;
    time_steps(all_reduce, &speeds);
    assert_near(timing.step, 2 * 7 / 8.0 * 400e6 / 100, 0.02);
    assert_int_equal(plm_time_bound(&timing), PLM_BOUND_COMMUNICATION);
    plm_timing_free(&timing);
    lonely.nvlink_gbs = 0; /* by PCIe: 31.5 bytes a ns */
    ask(&lonely, &speeds, 0);
    assert_near(timing.step, 2 * 7 / 8.0 * 400e6 / 31.5, 0.02);
    plm_timing_free(&timing);
    speeds.collective_latency_us = 100;
    ask(&round_card, &speeds, 0);
    assert_near(timing.step, 2 * 7 / 8.0 * 400e6 / 100 + 14 * 100 * US, 0.02);
    forget();
}

/* ---- steps, samples, sites ---- */

static void unknown_body(void)
{
    plm_pen_launch(&pen, 0,
                   &(struct plm_ev_launch){.name = plm_pen_intern(&pen, "nobody_knows"), .grid_x = 1, .block_x = 32});
    kernel_us(9, 0);
}

/* What has no size is said, and counts as the shortest kernel. */
static void unsized(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    time_steps(unknown_body, &speeds);
    assert_near(timing.kernels, 2, 1e-9);
    assert_near(timing.unsized, 1, 1e-9);
    assert_near(timing.busy, 11 * US, 0.02);
    forget();
}

static struct plm_cost sent(uint32_t operation)
{
    const struct plm_speeds speeds = plain_speeds();
    const struct plm_work w = {.class = PLM_WORK_COLLECTIVE, .operation = (uint8_t)operation, .m = 4, .read = 1000000};
    struct plm_machine machine;
    assert_int_equal(plm_machine_make(&round_card, &speeds, &machine, NULL), 0);
    return plm_cost(&machine, &w);
}

/* 1 MB of each of four ranks at 100 bytes a ns, and the least of 1 us: what a rank sends in a ring. */
static void rings(void **state)
{
    static const struct {
        uint32_t operation;
        double us;
    } expected[] = {{PLM_COLLECTIVE_ALL_REDUCE, 15}, {PLM_COLLECTIVE_REDUCE_SCATTER, 30},
                    {PLM_COLLECTIVE_ALL_GATHER, 30}, {PLM_COLLECTIVE_ALL_TO_ALL, 30},
                    {PLM_COLLECTIVE_GATHER, 30},     {PLM_COLLECTIVE_SCATTER, 30},
                    {PLM_COLLECTIVE_REDUCE, 10},     {PLM_COLLECTIVE_BROADCAST, 10}};
    (void)state;
    for (size_t i = 0; i < COUNT(expected); i++)
        assert_near(sent(expected[i].operation).ns, (expected[i].us + 1) * US, 1e-6);
}

static void list_launch(const char *name)
{
    plm_pen_launch(&pen, 0,
                   &(struct plm_ev_launch){.name = plm_pen_intern(&pen, name),
                                           .grid_x = 100,
                                           .block_x = 512,
                                           .counts = PLM_COUNT_TENSORS,
                                           .count = 1000000,
                                           .count_2 = 5ull << 32});
}

static void lists_both(void)
{
    list_launch("multi_tensor_apply_kernelINS1_28FusedOptimizerTensorListMetadataILi5EEE");
    list_launch("multi_tensor_apply_kernelINS1_18TensorListMetadataILi5EEENS1_21BinaryOpListAlphaFunctorIf");
}

/* Five lists of a million floats: an optimizer writes all but the gradients, others one. */
static void lists_of_tensors(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    time_steps(lists_both, &speeds);
    assert_int_equal(works.works, 2);
    assert_near(works.work[0].read, 2e7, 1e-9);
    assert_near(works.work[0].written, 1.6e7, 1e-9);
    assert_near(works.work[1].read, 2e7, 1e-9);
    assert_near(works.work[1].written, 4e6, 1e-9);
    forget();
}

/* ---- sizes of launches that show none ---- */

static void attention_launch(const char *name)
{
    plm_pen_launch(&pen, 0,
                   &(struct plm_ev_launch){
                       .name = plm_pen_intern(&pen, name), .grid_x = 8, .grid_y = 2, .grid_z = 3, .block_x = 128});
}

static void attention_both(void)
{
    attention_launch("_Z16flash_fwd_kernelI23Flash_fwd_kernel_traitsILi64ELi128ELi128ELi4EN7cutlass6half_tE");
    attention_launch("_Z16flash_bwd_kernelI23Flash_bwd_kernel_traitsILi64ELi128ELi128ELi4EN7cutlass6half_tE");
}

/* 8 blocks of 128 queries, 6 heads of 64: two products forward, five backward, of 2 * 1024 * 1024 * 64 flops a head. */
static void attention_sizes(void **state)
{
    const struct plm_speeds speeds = plain_speeds();
    const double flops = 2.0 * 1024 * 1024 * 64 * 6, row = 6 * 64 * 2;
    (void)state;
    time_steps(attention_both, &speeds);
    assert_int_equal(works.works, 2);
    assert_near(works.work[0].flops, 2 * flops, 1e-9);
    assert_near(works.work[1].flops, 5 * flops, 1e-9);
    assert_near(works.work[0].read, 3 * 1024 * row, 1e-9); /* queries, keys and values */
    assert_near(works.work[0].written, 1024 * row, 1e-9);
    assert_near(works.work[1].read, 5 * 1024 * row, 1e-9);
    assert_near(works.work[1].written, 3 * 1024 * row, 1e-9);
    forget();
}

static uint64_t gathered;

/* From a table of 4 MB. */
static void gather(void)
{
    plm_pen_operands(&pen, 0,
                     &(struct plm_ev_operands){.context = 1, .tensors = 2, .elements = 1000000, .element_bytes = 4});
    if (gathered)
        plm_pen_block_alloc(&pen, 0, &(struct plm_ev_block_alloc){.address = 4096, .bytes = gathered, .context = 1});
    plm_pen_launch(&pen, 0,
                   &(struct plm_ev_launch){.call = {.context = 1},
                                           .name = plm_pen_intern(&pen, "vectorized_gather_kernel"),
                                           .grid_x = 100,
                                           .block_x = 256});
}

/* What is gathered is as large as the result, or as the table, if that is smaller. */
static void gathers(void **state)
{
    static const uint64_t results[][2] = {{8192, 8192}, {0, 4000000}, {16000000, 4000000}};
    const struct plm_speeds speeds = plain_speeds();
    (void)state;
    for (size_t i = 0; i < COUNT(results); i++) {
        gathered = results[i][0];
        time_steps(gather, &speeds);
        assert_near(works.work[0].read, (double)results[i][1], 1e-9);
        assert_near(works.work[0].written, (double)results[i][1], 1e-9);
        forget();
    }
}

static void forms_of_filters(void **state)
{
    (void)state;
    assert_int_equal(plm_time_kernel_form("_ZN2at6native31conv_depthwise2d_forward_kernelILi3EfiEEv").taps, 9);
    assert_int_equal(plm_time_kernel_form("_ZN2at6native31conv_depthwise2d_forward_kernelILi5EfiEEv").taps, 25);
    assert_int_equal(plm_time_kernel_form("_ZN2at6native39conv_depthwise2d_forward_kernel_genericIfiEEv").taps, 0);
    assert_int_equal(plm_time_kernel_form("_ZN2at6native31conv_depthwise2d_forward_kernelILi300EfiEEv").taps, 0);
    assert_true(plm_time_kernel_form("_ZN2at6native32conv_depthwise2d_backward_kernelILi3ELi1EfiEEv").backward);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions),
        cmocka_unit_test(instructions),
        cmocka_unit_test(layouts),
        cmocka_unit_test(norms),
        cmocka_unit_test(classes),
        cmocka_unit_test(products_grow),
        cmocka_unit_test(products_in_waves),
        cmocka_unit_test(products_split),
        cmocka_unit_test(tensor_cores),
        cmocka_unit_test(uneven_rows),
        cmocka_unit_test(occupancy),
        cmocka_unit_test(collectives),
        cmocka_unit_test(unsized),
        cmocka_unit_test(attention_sizes),
        cmocka_unit_test(rings),
        cmocka_unit_test(lists_of_tensors),
        cmocka_unit_test(gathers),
        cmocka_unit_test(forms_of_filters),
    };
    return RUN(tests);
}
