/* What calls in a record come to: flops and bytes by the definitions of the operations, and the steps that are counted.
   */
#include "time/works.h"

#include <math.h>
#include <stdio.h>

#include "common/error.h"
#include "record/create.h"
#include "record/pen.h"
#include "time/kernels.h"
#include "unit.h"

#define assert_near(a, b) assert_true(fabs((double)(a) - (double)(b)) <= 1e-9 * fabs((double)(b)))

/* ---- writing and reading ---- */

static struct plm_writer writer;
static struct plm_pen pen;
static struct plm_works works;
static uint64_t now;

static void begin(void)
{
    struct plm_record_file file;
    struct plm_error error;
    assert_int_equal(plm_record_create(unit_path("works.plm"), true, &file, &error), 0);
    plm_record_close(&file);
    writer = (struct plm_writer){0};
    pen = (struct plm_pen){.writer = &writer};
    assert_int_equal(plm_writer_open(&writer, unit_path("works.plm")), 0);
    plm_writer_past(&writer, 1);
    now = 1000;
    plm_pen_at(&pen, now);
}

/* The first piece of work. */
static const struct plm_work *end(void)
{
    struct plm_error error;
    plm_pen_close(&pen);
    assert_int_equal(plm_writer_close(&writer), 0);
    if (plm_works_read(unit_path("works.plm"), &works, &error) < 0)
        fail_msg("%s", error.text);
    return works.work;
}

static void later(void)
{
    now += 1000;
    plm_pen_at(&pen, now);
}

static void launch_of(const char *name, struct plm_ev_launch launch)
{
    launch.name = plm_pen_intern(&pen, name);
    plm_pen_launch(&pen, 0, &launch);
}

static void operands(struct plm_ev_operands o)
{
    o.context = 1;
    plm_pen_operands(&pen, 0, &o);
}

static void allocate(uint64_t bytes)
{
    plm_pen_block_alloc(&pen, 0, &(struct plm_ev_block_alloc){.address = 4096, .bytes = bytes, .context = 1});
}

static void moves(const struct plm_work *w, double read, double written, double flops)
{
    assert_near(w->read, read);
    assert_near(w->written, written);
    assert_near(w->flops, flops);
}

/* ---- libraries ---- */

/* By the numbers of cudaDataType and cublasComputeType_t in NVIDIA's documentation. */
static void products(void **state)
{
    static const struct {
        uint8_t type, out, compute;
        double bytes, out_bytes;
        enum plm_work_type computes;
    } types[] = {
        {0, 0, 68, 4, 4, PLM_WORK_FP32}, {0, 0, 77, 4, 4, PLM_WORK_TF32},   {0, 0, 74, 4, 4, PLM_WORK_FP16},
        {0, 0, 75, 4, 4, PLM_WORK_BF16}, {1, 1, 70, 8, 8, PLM_WORK_FP64},   {2, 2, 68, 2, 2, PLM_WORK_FP16},
        {2, 0, 68, 2, 4, PLM_WORK_FP16}, {14, 14, 68, 2, 2, PLM_WORK_BF16}, {28, 14, 68, 1, 2, PLM_WORK_FP8},
        {29, 2, 68, 1, 2, PLM_WORK_FP8}, {3, 10, 72, 1, 4, PLM_WORK_FP8},   {99, 99, 68, 4, 4, PLM_WORK_FP32},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(types); i++)
        for (uint32_t batch = 0; batch < 3; batch += 2) {
            const double times = batch ? batch : 1;
            const struct plm_work *w;
            begin();
            plm_pen_gemm(&pen, 0,
                         &(struct plm_ev_gemm){.m = 3,
                                               .n = 5,
                                               .k = 7,
                                               .batch = batch,
                                               .type_a = types[i].type,
                                               .type_b = types[i].type,
                                               .type_c = types[i].out,
                                               .type_d = types[i].out,
                                               .compute = types[i].compute});
            w = end();
            moves(w, (3 * 7 + 5 * 7) * times * types[i].bytes, 3 * 5 * times * types[i].out_bytes,
                  2 * 3 * 5 * 7 * times);
            assert_int_equal(w->class, PLM_WORK_GEMM);
            assert_int_equal(w->type, types[i].computes);
            assert_int_equal(w->bytes_per, types[i].bytes);
            assert_true(w->sized && w->m == 3 && w->n == 5 && w->k == 7 && w->batch == (uint32_t)times);
            plm_works_free(&works);
        }
}

static const struct plm_work *convolution(struct plm_ev_convolution c)
{
    c.axes = 2;
    c.batch = 2;
    c.axis[0] = (struct plm_ev_axis){.in = 10, .out = 5, .filter = 3, .stride = 2};
    c.axis[1] = (struct plm_ev_axis){.in = 12, .out = 12, .filter = 5, .stride = 1};
    begin();
    plm_pen_convolution(&pen, 0, &c);
    return end();
}

static void product_is(const struct plm_work *w, uint32_t m, uint32_t n, uint32_t k, uint32_t batch)
{
    assert_int_equal(w->m, m);
    assert_int_equal(w->n, n);
    assert_int_equal(w->k, k);
    assert_int_equal(w->batch, batch);
}

/* Two groups of 3 channels to 4, by filters of 3 x 5 that move by 2 x 1: 2 x 10 x 12 pixels become 2 x 5 x 12
   positions. Each output is a sum of 3 x 15 products. */
static void convolutions(void **state)
{
    struct plm_ev_convolution c = {.groups = 2, .in_channels = 6, .out_channels = 8};
    const double flops = 2.0 * 120 * 8 * 3 * 15;
    const struct plm_work *w = convolution(c);
    (void)state;
    product_is(w, 120, 4, 45, 2);
    moves(w, (240 * 6 + 8 * 3 * 15) * 4, 120 * 8 * 4, flops);
    assert_near(w->input, 240 * 6 * 4);
    assert_near(w->output, 120 * 8 * 4);
    assert_int_equal(w->class, PLM_WORK_CONVOLUTION);
    assert_int_equal(w->type, PLM_WORK_FP32);
    assert_true(w->filter == 15 && w->stride == 2 && w->sized && !w->channels_last);
    plm_works_free(&works);
    c.operation = PLM_CONVOLUTION_BACKWARD_DATA;
    c.tf32 = c.channels_last = 1;
    w = convolution(c);
    product_is(w, 240, 3, 30, 2); /* of 4 x 15 taps a pixel meets every second */
    assert_near(w->flops, flops);
    assert_true(w->type == PLM_WORK_TF32 && w->channels_last && w->operation == PLM_CONVOLUTION_BACKWARD_DATA);
    plm_works_free(&works);
    c.operation = PLM_CONVOLUTION_BACKWARD_FILTER;
    product_is(convolution(c), 4, 45, 120, 2);
    plm_works_free(&works);
}

/* One channel in each of several groups is no product; one channel alone is. Numbers of cudnnDataType_t. */
static void kinds_of_convolutions(void **state)
{
    static const struct {
        uint32_t groups, channels;
        uint8_t type;
        enum plm_work_class class;
        enum plm_work_type computes;
        uint8_t bytes;
    } rows[] = {{6, 6, 0, PLM_WORK_DEPTHWISE, PLM_WORK_FP32, 4},
                {1, 1, 1, PLM_WORK_CONVOLUTION, PLM_WORK_FP64, 8},
                {0, 1, 2, PLM_WORK_CONVOLUTION, PLM_WORK_FP16, 2},
                {3, 6, 9, PLM_WORK_CONVOLUTION, PLM_WORK_BF16, 2}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plm_work *w = convolution((struct plm_ev_convolution){
            .groups = rows[i].groups, .in_channels = rows[i].channels, .out_channels = 6, .data_type = rows[i].type});
        assert_int_equal(w->class, rows[i].class);
        assert_int_equal(w->type, rows[i].computes);
        assert_int_equal(w->bytes_per, rows[i].bytes);
        assert_near(w->input, 240.0 * rows[i].channels * rows[i].bytes);
        plm_works_free(&works);
    }
}

/* Three layers in two directions: the first has 10 inputs, the others what both directions of the layer before give. An
   LSTM has four gates, a GRU three. */
static void recurrent(void **state)
{
    static const double gates[] = {1, 1, 4, 3};
    (void)state;
    for (uint8_t mode = 0; mode < COUNT(gates); mode++) {
        const double weights = gates[mode] * 16 * 2 * (10 + 2 * 32 + 3 * 16);
        const struct plm_work *w;
        begin();
        plm_pen_rnn(&pen, 0,
                    &(struct plm_ev_rnn){.operation = PLM_RNN_TRAINING,
                                         .mode = mode,
                                         .data_type = 2,
                                         .layers = 3,
                                         .directions = 2,
                                         .input_size = 10,
                                         .hidden_size = 16,
                                         .steps = 5,
                                         .batch = 4,
                                         .rows = 20});
        w = end();
        product_is(w, 4, (uint32_t)gates[mode] * 16, 16, 5 * 3 * 2);
        moves(w, (weights + 20 * 10) * 2, 20.0 * 16 * 2 * 3 * 2, 2 * 20 * weights);
        assert_true(w->class == PLM_WORK_RNN && w->type == PLM_WORK_FP16 && w->operation == PLM_RNN_TRAINING &&
                    w->sized);
        plm_works_free(&works);
    }
    begin();
    plm_pen_rnn(&pen, 0,
                &(struct plm_ev_rnn){.layers = 1, .input_size = 10, .hidden_size = 16, .steps = 5, .rows = 20});
    assert_near(end()->flops, 2.0 * 20 * 16 * (10 + 16)); /* one layer, one direction */
    plm_works_free(&works);
}

/* Scores and their weighted sum: two products forward, five backward. Keys and values have half as many heads. */
static void attention(void **state)
{
    (void)state;
    for (int backward = 0; backward < 2; backward++) {
        const double rows = 2 * 4 * 10 * 8, columns = 2 * 2 * 30 * 8, product = 2.0 * 8 * 10 * 30 * (8 + 6) / 2;
        const struct plm_work *w;
        begin();
        plm_pen_attention(&pen, 0,
                          &(struct plm_ev_attention){.operation = backward ? PLM_ATTENTION_BACKWARD : 0,
                                                     .data_type = 2,
                                                     .batch = 2,
                                                     .heads = 4,
                                                     .key_heads = 2,
                                                     .queries = 10,
                                                     .keys = 30,
                                                     .head_size = 8,
                                                     .value_size = 6});
        w = end();
        product_is(w, 10, 30, 8, 8);
        if (backward)
            moves(w, (3 * rows + 2 * columns) * 2, (rows + 2 * columns) * 2, 5 * product);
        else
            moves(w, (rows + 2 * columns) * 2, rows * 2, 2 * product);
        assert_true(w->class == PLM_WORK_ATTENTION && w->operation == backward && w->sized);
        plm_works_free(&works);
    }
}

/* Bytes of ncclDataType_t, in its order: int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16, two
   of fp8. */
static void collectives(void **state)
{
    static const double bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1, 4};
    (void)state;
    for (uint8_t type = 0; type < COUNT(bytes); type++) {
        const struct plm_work *w;
        begin();
        plm_pen_collective(&pen, 0,
                           &(struct plm_ev_collective){
                               .operation = PLM_COLLECTIVE_BROADCAST, .data_type = type, .ranks = 8, .count = 100});
        w = end();
        moves(w, 100 * bytes[type], 100 * bytes[type], 0);
        assert_true(w->class == PLM_WORK_COLLECTIVE && w->operation == PLM_COLLECTIVE_BROADCAST && w->m == 8 &&
                    w->sized);
        plm_works_free(&works);
    }
}

static void copies(void **state)
{
    static const struct {
        uint8_t operation, host, async;
        double read;
        bool pinned;
    } rows[] = {{PLM_COPY_FILL, PLM_COPY_NO_HOST, 1, 0, false},
                {PLM_COPY_HOST_TO_DEVICE, PLM_COPY_PAGEABLE, 0, 100, false},
                {PLM_COPY_DEVICE_TO_HOST, PLM_COPY_PINNED, 1, 100, true}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        begin();
        plm_pen_copy(&pen, 0,
                     &(struct plm_ev_copy){
                         .operation = rows[i].operation, .host = rows[i].host, .async = rows[i].async, .bytes = 100});
        launch_of("vectorized", (struct plm_ev_launch){.grid_x = 1, .block_x = 1});
        moves(end(), rows[i].read, 100, 0);
        assert_int_equal(works.work[0].pinned, rows[i].pinned);
        assert_int_equal(works.work[0].async, rows[i].async);
        assert_int_equal(works.work[0].operation, rows[i].operation);
        plm_works_free(&works);
    }
}

/* ---- kernels ---- */

/* How often a kernel goes over the largest input and output of its operator, one name of each kind that PyTorch has.
   What it is taken for follows from its source; a change of the table is noticed. */
static void kernels_by_name(void **state)
{
    static const struct {
        const char *name;
        enum plm_work_class class;
        float reads, writes;
    } rows[] = {
        {"flash_fwd_splitkv_kernel", PLM_WORK_ATTENTION, 0, 0},
        {"flash_bwd_convert_dq_kernel", PLM_WORK_ELEMENTWISE, 1, 1},
        {"flash_bwd_dot_do_o_kernel", PLM_WORK_REDUCTION, 2, 0},
        {"flash_bwd_dq_dk_dv_loop", PLM_WORK_ATTENTION, 0, 0},
        {"fmha_cutlassF_f16_aligned_64x64", PLM_WORK_ATTENTION, 0, 0},
        {"fmha_cutlassB_f16_aligned_64x64", PLM_WORK_ATTENTION, 0, 0},
        {"conv_depthwise2d_forward_kernel", PLM_WORK_DEPTHWISE, 1, 1},
        {"DepthwiseConv2d_cu", PLM_WORK_DEPTHWISE, 1, 1},
        {"cudnnBatchNormalizationForwardInference", PLM_WORK_NORMALIZATION, 1, 1},
        {"cudnnBatchNormalizationForwardTrainingEx", PLM_WORK_NORMALIZATION, 2, 1},
        {"cudnnBatchNormalizationBackwardEx", PLM_WORK_NORMALIZATION, 4, 1},
        {"batch_norm_collect_statistics_kernel", PLM_WORK_NORMALIZATION, 1, 0},
        {"batch_norm_transform_input_kernel", PLM_WORK_NORMALIZATION, 1, 1},
        {"batch_norm_backward_reduce_kernel", PLM_WORK_NORMALIZATION, 2, 0},
        {"batch_norm_backward_elemt_kernel", PLM_WORK_NORMALIZATION, 2, 1},
        {"batch_norm_backward_kernel", PLM_WORK_NORMALIZATION, 4, 1},
        {"batch_norm_update_stats", PLM_WORK_NORMALIZATION, 0, 0},
        {"layer_norm_grad_input_kernel", PLM_WORK_NORMALIZATION, 2, 1},
        {"ComputeInternalGradientsCUDAKernel", PLM_WORK_NORMALIZATION, 2, 0},
        {"RowwiseMomentsCUDAKernel", PLM_WORK_NORMALIZATION, 1, 0},
        {"ComputeFusedParamsCUDAKernel", PLM_WORK_NORMALIZATION, 0, 0},
        {"vectorized_layer_norm_kernel", PLM_WORK_NORMALIZATION, 1, 1},
        {"LayerNormForwardCUDAKernel", PLM_WORK_NORMALIZATION, 1, 1},
        {"cunn_SpatialSoftMaxForward", PLM_WORK_SOFTMAX, 2, 1},
        {"cunn_SpatialSoftMaxBackward", PLM_WORK_SOFTMAX, 3, 1},
        {"softmax_warp_backward", PLM_WORK_SOFTMAX, 2, 1},
        {"cunn_SoftMaxBackward", PLM_WORK_SOFTMAX, 2, 1},
        {"softmax_warp_forward", PLM_WORK_SOFTMAX, 1, 1},
        {"cunn_SoftMaxForward", PLM_WORK_SOFTMAX, 1, 1},
        {"multi_tensor_apply_kernel", PLM_WORK_LISTS, 1, 1},
        {"reduce_kernel", PLM_WORK_REDUCTION, 1, 1},
        {"krn_partials_per_segment", PLM_WORK_GATHER, 0, 0},
        {"compute_num_of_partial_segments", PLM_WORK_GATHER, 0, 0},
        {"DeviceScanKernel", PLM_WORK_GATHER, 0, 0},
        {"DeviceSelectSweepKernel", PLM_WORK_GATHER, 0, 0},
        {"DeviceUniqueByKeySweepKernel", PLM_WORK_GATHER, 0, 0},
        {"DeviceRadixSortOnesweepKernel", PLM_WORK_SORT, 1, 1},
        {"DeviceRadixSortHistogramKernel", PLM_WORK_SORT, 1, 0},
        {"DeviceRadixSortExclusiveSumKernel", PLM_WORK_SORT, 0, 0},
        {"DeviceRadixSortSingleTileKernel", PLM_WORK_SORT, 1, 1},
        {"bitonicSortKVInPlace", PLM_WORK_SORT, 1, 1},
        {"sort_postprocess_kernel", PLM_WORK_SORT, 1, 1},
        {"sbtopk::gatherTopK", PLM_WORK_SORT, 1, 1},
        {"computeBlockDigitTopK", PLM_WORK_SORT, 1, 1},
        {"embedding_backward_feature_kernel", PLM_WORK_GATHER, 1, 1},
        {"vectorized_gather_kernel", PLM_WORK_GATHER, 1, 1},
        {"_scatter_gather_elementwise", PLM_WORK_GATHER, 1, 1},
        {"_scatter_elementwise", PLM_WORK_GATHER, 1, 1},
        {"index_elementwise_kernel", PLM_WORK_GATHER, 1, 1},
        {"SmallIndexKernel", PLM_WORK_GATHER, 1, 1},
        {"EmbeddingBag_updateOutputKernel", PLM_WORK_GATHER, 1, 1},
        {"max_pool_forward_nchw", PLM_WORK_POOLING, 1, 1},
        {"upsample_nearest2d_out_frame", PLM_WORK_POOLING, 1, 1},
        {"nll_loss_forward_reduce_cuda_kernel_2d", PLM_WORK_REDUCTION, 0, 0},
        {"CatArrayBatchedCopy", PLM_WORK_ELEMENTWISE, 1, 1},
        {"distribution_nullary_kernel", PLM_WORK_ELEMENTWISE, 0, 1},
        {"fused_dropout_kernel_vec", PLM_WORK_ELEMENTWISE, 1, 1},
        {"unrolled_elementwise_kernel", PLM_WORK_ELEMENTWISE, 1, 1},
        {"vectorized_kernel", PLM_WORK_ELEMENTWISE, 1, 1},
        {"triton_poi_fused_add_0", PLM_WORK_GENERATED, 1, 0},
        {"nobody_knows", PLM_WORK_OTHER, 1, 1},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plm_time_kernel_form form = plm_time_kernel_form(rows[i].name);
        if (form.class != rows[i].class || fabsf(form.reads - rows[i].reads) > 0 ||
            fabsf(form.writes - rows[i].writes) > 0)
            fail_msg("%s", rows[i].name);
    }
}

/* Types and numbers of pointers are parameters of the templates, as the Itanium C++ ABI writes them. */
static void kernels_by_parameters(void **state)
{
    static const struct {
        const char *name;
        unsigned bytes, from, pointers;
        bool strided;
    } rows[] = {
        {"vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EE", 4, 0, 3, false},
        {"vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEE", 4, 0, 3, false},
        {"vectorized_elementwise_kernelILi4EN13BinaryFunctorIfffE", 4, 0, 3, false},
        {"vectorized_elementwise_kernelILi4EN11FillFunctorIfEE", 4, 0, 1, false},
        {"vectorized_elementwise_kernelILi4EN3c104HalfEESt5arrayIPcLm2EE", 2, 0, 2, false},
        {"vectorized_elementwise_kernelILi4EN3c108BFloat16E", 2, 0, 2, false},
        {"flash_fwd_kernelI6half_tE", 2, 0, 2, false},
        {"flash_fwd_kernelI10bfloat16_tE", 2, 0, 2, false},
        {"reduce_kernelIdE", 8, 0, 2, false},
        {"elementwiseIddE", 8, 0, 2, false},
        {"_ZN2at6native18elementwise_kernelILi128ELi4ESt5arrayIPcLi20EE", 4, 0, 16, true},
        {"unrolled_elementwise_kernel_float16_copy_kernel_cuda", 2, 4, 2, false},
        {"unrolled_elementwise_kernel_bfloat16_copy_kernel_cuda", 2, 4, 2, false},
        {"unrolled_elementwise_kernel_float8_copy_kernel_cuda", 1, 2, 2, false},
        {"unrolled_elementwise_kernel_LoadWithCast", 4, 2, 2, false},
        {"unrolled_elementwise_kernel_HalfE_LoadWithCast", 2, 4, 2, false},
    };
    struct plm_time_kernel_form form;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        form = plm_time_kernel_form(rows[i].name);
        if (form.bytes_per != rows[i].bytes || form.from_bytes != rows[i].from || form.pointers != rows[i].pointers ||
            form.strided != rows[i].strided)
            fail_msg("%s: %u %u %u", rows[i].name, form.bytes_per, form.from_bytes, form.pointers);
    }
    form = plm_time_kernel_form("flash_fwd_kernelI23Flash_fwd_kernel_traitsILi96ELi64ELi128E");
    assert_true(form.head == 96 && form.rows == 64 && !form.backward);
    form = plm_time_kernel_form("flash_bwd_kernelI23Flash_bwd_kernel_traitsILi32E");
    assert_true(form.head == 32 && form.rows == 128 && form.backward);
    form = plm_time_kernel_form("fmha_cutlassF_f32_aligned_32x128_gmem_sm80");
    assert_true(form.head == 0 && form.rows == 32 && !form.backward);
    form = plm_time_kernel_form("fmha_cutlassB_f32_notaligned");
    assert_true(form.head == 0 && form.rows == 64 && form.backward);
    form = plm_time_kernel_form("fmha_cutlassF_aligned_0");
    assert_int_equal(form.rows, 64);
    assert_true(plm_time_kernel_form("conv_depthwise2d_grad_weight_kernel").backward);
    assert_false(plm_time_kernel_form("conv_depthwise2d_forward_kernelILi3E").backward);
    assert_int_equal(plm_time_kernel_form("conv_depthwise2d_forward_kernelILi255E").taps, 65025);
    assert_int_equal(plm_time_kernel_form("reduce_kernelILi128ELi16E").columns, 16);
    assert_int_equal(plm_time_kernel_form("reduce_kernelILi128ELi17E").columns, 0);
}

/* ---- launches ---- */

static const struct plm_ev_launch elements = {.call = {.context = 1},
                                              .grid_x = 2,
                                              .grid_y = 3,
                                              .block_x = 32,
                                              .block_y = 4,
                                              .block_z = 2,
                                              .shared_bytes = 77,
                                              .counts = PLM_COUNT_ELEMENTS,
                                              .count = 1000000};

/* A million elements: so many bytes are read and written of each. */
static void elements_of_kernels(void **state)
{
    static const struct {
        const char *name;
        uint64_t result; /* that the operator allocated; 0: nothing */
        double read, written;
    } rows[] = {
        {"vectorized_elementwise_kernelSt5arrayIPcLm3E", 0, 8, 4},
        {"vectorized_elementwise_kernelSt5arrayIPcLm1E", 0, 0, 4},
        {"vectorized_elementwise_kernel_HalfE_arrayIPcLm3E", 0, 4, 2},
        {"_18elementwise_kernelSt5arrayIPcLm3E", 0, 4, 4}, /* one of them is small, as a rule */
        {"_18elementwise_kernelSt5arrayIPcLm2E", 0, 4, 4},
        {"vectorized_elementwise_kernelSt5arrayIPcLm2E", 2000000, 2, 2}, /* so its elements have two bytes */
        {"vectorized_elementwise_kernelSt5arrayIPcLm2E", 2000384, 2, 2},
        {"vectorized_elementwise_kernelSt5arrayIPcLm2E", 2042048, 4, 4}, /* too much for that: a 50th and 2 KiB */
        {"vectorized_elementwise_kernelSt5arrayIPcLm2E", 1999999, 4, 4},
        {"vectorized_elementwise_kernelSt5arrayIPcLm3E", 8000000, 16, 8},
        {"vectorized_elementwise_kernelSt5arrayIPcLm3E", 1000000, 8, 1}, /* a comparison */
        {"unrolled_elementwise_kernel_float16_copy", 0, 4, 2},
        {"unrolled_elementwise_kernel_LoadWithCast", 4000000, 2, 4},
        {"unrolled_elementwise_kernel_LoadWithCast", 2000000, 4, 2},
        {"unrolled_elementwise_kernel_LoadWithCast", 8000000, 2, 8},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plm_work *w;
        begin();
        if (rows[i].result)
            allocate(rows[i].result);
        launch_of(rows[i].name, elements);
        w = end();
        moves(w, rows[i].read * 1e6, rows[i].written * 1e6, 0);
        assert_near(w->bytes_per, rows[i].written);
        assert_true(w->sized && w->grid == 6 && w->block == 256 && w->shared == 77);
        plm_works_free(&works);
    }
    begin();
    launch_of("a routine", (struct plm_ev_launch){.routine = 1, .grid_x = 7, .block_x = 7});
    assert_true(end()->grid == 0 && works.work[0].block == 0); /* nothing is known of it */
    plm_works_free(&works);
}

static const struct plm_ev_launch bare = {
    .call = {.context = 1}, .grid_x = 10, .grid_y = 2, .grid_z = 3, .block_x = 128};

/* 1000 numbers of 4 bytes are given, 3000 bytes are allocated. */
static void sizes_by_operator(void **state)
{
    static const struct {
        const char *name;
        double read, written;
        int operation;
    } rows[] = {
        {"cunn_SpatialSoftMaxBackward", 12000, 3000, 0},
        {"batch_norm_collect_statistics", 4000, 0, 1},
        {"cudnnBatchNormalizationForward", 8000, 3000, 1},
        {"vectorized_layer_norm_kernel", 4000, 3000, 0},
        {"distribution_nullary", 0, 3000, 0},
        {"vectorized_gather_kernel", 3000, 3000, 0},
        {"RadixSortHistogram", 4000, 0, 0},
        {"RadixSortOnesweep", 4000, 4000, 0},
        {"triton_poi_fused", 5000, 0, 0},
        {"nobody_knows", 4000, 3000, 0},
    };
    const struct plm_ev_operands given = {.tensors = 2, .element_bytes = 4, .elements = 1000, .bytes = 5000};
    const struct plm_work *w;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        begin();
        operands(given);
        allocate(100);
        allocate(3000); /* the largest counts */
        allocate(200);
        launch_of(rows[i].name, bare);
        w = end();
        moves(w, rows[i].read, rows[i].written, 0);
        assert_int_equal(w->operation, rows[i].operation);
        assert_true(w->sized);
        plm_works_free(&works);
    }
    begin();
    operands(given);
    launch_of("softmax_warp_forward", bare); /* in place */
    moves(end(), 4000, 4000, 0);
    plm_works_free(&works);
    begin();
    launch_of("softmax_warp_forward", bare); /* of nothing */
    w = end();
    assert_false(w->sized);
    plm_works_free(&works);
    begin();
    launch_of("batch_norm_update_stats", bare); /* goes over nothing that has a size */
    assert_true(end()->sized);
    plm_works_free(&works);
    begin();
    launch_of("triton_poi_fused", bare);
    assert_false(end()->sized);
    plm_works_free(&works);
}

/* 60 blocks of 128 threads sort 20 pairs of 16 bytes each, however much there is. */
static void sorts_are_bounded(void **state)
{
    (void)state;
    begin();
    operands((struct plm_ev_operands){.tensors = 1, .element_bytes = 8, .elements = 1000000});
    launch_of("RadixSortOnesweep", bare);
    moves(end(), 60.0 * 128 * 20 * 16, 60.0 * 128 * 20 * 16, 0);
    plm_works_free(&works);
}

/* Ten launches of the same kernel in one operator go over a tenth each; one of another operator does not. */
static void slices(void **state)
{
    (void)state;
    begin();
    operands((struct plm_ev_operands){.tensors = 1, .element_bytes = 4, .elements = 1000});
    allocate(2000);
    for (int i = 0; i < 10; i++)
        launch_of("softmax_warp_forward", bare);
    allocate(2000); /* the operator again */
    launch_of("softmax_warp_forward", bare);
    end();
    assert_int_equal(works.lane[0].calls, 11);
    for (size_t i = 0; i < 11; i++)
        moves(&works.work[works.lane[0].call[i].work], i < 10 ? 400 : 4000, i < 10 ? 200 : 2000, 0);
    plm_works_free(&works);
}

/* 3 x 3 taps for each of 500 results of 4 bytes; in the backward pass for each of the 1000 inputs, if these are more.
   The filter is the second tensor that is given, or the third after a gradient. */
static void depthwise(void **state)
{
    static const struct {
        const char *name;
        uint8_t second, third;
        double taps, numbers, read;
    } rows[] = {
        {"conv_depthwise2d_forward_kernel", 4, 4, 35, 500, 4000},
        {"conv_depthwise2d_forward_kernel", 0, 4, 9, 500, 4000},
        {"conv_depthwise2d_forward_kernelILi5E", 0, 0, 25, 500, 4000},
        {"conv_depthwise2d_backward_kernel", 4, 4, 22, 1000, 9000},
        {"conv_depthwise2d_backward_kernelILi3E", 4, 0, 9, 1000, 9000},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct plm_work *w;
        begin();
        operands((struct plm_ev_operands){.tensors = 2,
                                          .element_bytes = 4,
                                          .elements = 1000,
                                          .bytes = 9000,
                                          .second_dimensions = rows[i].second,
                                          .second_3 = 5,
                                          .second_4 = 7,
                                          .third_dimensions = rows[i].third,
                                          .third_3 = 2,
                                          .third_4 = 11});
        allocate(2000);
        launch_of(rows[i].name, bare);
        w = end();
        moves(w, rows[i].read, 2000, 2 * rows[i].taps * rows[i].numbers);
        assert_near(w->filter, rows[i].taps);
        assert_int_equal(w->operation, strstr(rows[i].name, "backward") != NULL);
        plm_works_free(&works);
    }
}

/* (2, 100, 4, 32) queries, (2, 50, 4, 32) keys: 8 heads. In the backward pass the gradient is the first tensor and the
   keys are the third. Without them the grid tells: 10 blocks of 64 queries, 6 heads; and what was allocated how large
   they are. */
static void attention_of_kernels(void **state)
{
    const struct plm_ev_operands given = {.tensors = 3,
                                          .element_bytes = 2,
                                          .elements = 25600,
                                          .first_dimensions = 4,
                                          .first_1 = 2,
                                          .first_2 = 100,
                                          .first_3 = 4,
                                          .first_4 = 32,
                                          .second_dimensions = 4,
                                          .second_2 = 50,
                                          .third_dimensions = 4,
                                          .third_2 = 70};
    const double row = 8 * 32 * 2;
    const struct plm_work *w;
    (void)state;
    begin();
    operands(given);
    launch_of("flash_fwd_kernelI6half_tE", bare);
    w = end();
    moves(w, (100 + 2 * 50) * row, 100 * row, 4.0 * 100 * 50 * 32 * 8);
    product_is(w, 100, 50, 32, 8);
    assert_int_equal(w->type, PLM_WORK_FP16);
    plm_works_free(&works);
    begin();
    operands(given);
    launch_of("flash_bwd_kernelI6half_tE", bare);
    w = end();
    moves(w, (3 * 100 + 2 * 70) * row, (100 + 2 * 70) * row, 10.0 * 100 * 70 * 32 * 8);
    assert_int_equal(w->operation, 1);
    plm_works_free(&works);
    begin();
    allocate(640 * 6 * 16 * 4);
    launch_of("fmha_cutlassF_f32_aligned_64x64", bare);
    w = end();
    product_is(w, 640, 640, 16, 6);
    assert_int_equal(w->type, PLM_WORK_TF32);
    plm_works_free(&works);
    begin();
    allocate(1 << 30); /* a head has no more than 256 */
    launch_of("fmha_cutlassF_f32_aligned_64x64", bare);
    product_is(end(), 640, 640, 256, 6);
    plm_works_free(&works);
    begin();
    launch_of("fmha_cutlassF_f32_aligned_64x64", bare);
    assert_false(end()->sized);
    plm_works_free(&works);
}

/* ---- steps ---- */

static void kernel(uint64_t count)
{
    struct plm_ev_launch launch = elements;
    launch.call.context = 0;
    launch.count = count;
    later();
    launch_of("vectorized_elementwise_kernel", launch);
    later();
}

static void mark_step(uint32_t optimizers)
{
    static uint32_t number;
    later();
    plm_pen_step(&pen, 0, &(struct plm_ev_step){++number, optimizers});
    later();
}

static void pass(const char *module, uint32_t samples)
{
    later();
    plm_pen_pass(&pen, 0, &(struct plm_ev_pass){plm_pen_intern(&pen, module), samples});
    later();
}

static void enter(const char *module)
{
    plm_pen_module(&pen, 0, &(struct plm_ev_module){module ? plm_pen_intern(&pen, module) : 0, PLM_PHASE_FORWARD});
}

static void steps_are(enum plm_work_step_unit unit, size_t count, const size_t *calls, const uint32_t *samples)
{
    const struct plm_work_lane *lane;
    end();
    lane = &works.lane[0];
    assert_int_equal(lane->unit, unit);
    assert_int_equal(lane->steps, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(lane->step[i].calls, calls[i]);
        assert_int_equal(lane->step[i].samples, samples[i]);
    }
    plm_works_free(&works);
}

/* From one step of the optimizer to the next; what is before the first and after the last is not one. */
static void steps_of_an_optimizer(void **state)
{
    (void)state;
    for (uint32_t optimizers = 0; optimizers < 2; optimizers++) {
        begin();
        for (size_t i = 1; i <= 4; i++) {
            pass("net", 8 * (uint32_t)i);
            pass("net", 1); /* two of them are one step */
            for (size_t k = 0; k < i; k++)
                kernel(k);
            mark_step(optimizers);
        }
        kernel(1);
        steps_are(optimizers ? PLM_STEP_OPTIMIZER : PLM_STEP_BACKWARD, 3, (const size_t[]){2, 3, 4},
                  (const uint32_t[]){17, 25, 33});
    }
    begin();
    kernel(1);
    pass("net", 8);
    kernel(1);
    kernel(2);
    mark_step(1); /* one alone: from the first pass on */
    kernel(1);
    steps_are(PLM_STEP_OPTIMIZER, 1, (const size_t[]){2}, (const uint32_t[]){8});
}

/* The model is the module with most parts; its first pass does not count where there are others, the last one ends with
   the record. */
static void steps_of_a_model(void **state)
{
    (void)state;
    begin();
    for (size_t i = 1; i <= 4; i++) {
        pass("loss", 3);
        kernel(1);
        pass("net", 8);
        enter("net");
        enter("net.fc");
        enter(NULL);
        enter(NULL);
        for (size_t k = 0; k < i; k++)
            kernel(k);
    }
    steps_are(PLM_STEP_PASS, 3, (const size_t[]){3, 4, 4}, (const uint32_t[]){8, 8, 8});
    begin();
    for (size_t i = 0; i < 3; i++) { /* older records tell modules alone */
        later();
        enter("net");
        enter("net.fc");
        kernel(1);
        enter(NULL);
        enter(NULL);
        enter(NULL); /* once too often */
    }
    steps_are(PLM_STEP_PASS, 2, (const size_t[]){1, 1}, (const uint32_t[]){0, 0});
    begin();
    pass("net", 8);
    kernel(1);
    steps_are(PLM_STEP_PASS, 1, (const size_t[]){1}, (const uint32_t[]){8});
}

static void sites(void **state)
{
    (void)state;
    begin();
    plm_pen_setting(&pen, "rank", "5");
    plm_pen_setting(&pen, "gpu", "h100");
    plm_pen_context(&pen, 0,
                    &(struct plm_ev_context){1, plm_pen_intern(&pen, "fc"), plm_pen_intern(&pen, "aten::linear"),
                                             plm_pen_intern(&pen, "aten::addmm"), PLM_PHASE_BACKWARD, 0});
    plm_pen_context(&pen, 0, &(struct plm_ev_context){.context = 2, .phase = PLM_PHASES});
    for (uint32_t context = 0; context < 4; context++) {
        struct plm_ev_launch launch = elements;
        launch.call.context = context;
        later();
        launch_of("vectorized_elementwise_kernel", launch);
    }
    end();
    assert_int_equal(works.lane[0].rank, 5);
    assert_string_equal(works.card, "h100");
    assert_int_equal(works.works, 1); /* the same work four times */
    for (size_t i = 0; i < 4; i++) {
        const struct plm_work_site *site = &works.site[works.lane[0].call[i].site];
        assert_string_equal(site->module, i == 1 ? "fc" : "");
        assert_string_equal(site->outer, i == 1 ? "aten::linear" : "");
        assert_string_equal(site->inner, i == 1 ? "aten::addmm" : "");
        assert_int_equal(site->phase, i == 1 ? PLM_PHASE_BACKWARD : PLM_PHASE_OTHER);
    }
    plm_works_free(&works);
}

static void computing(uint32_t cpu_ns)
{
    struct plm_ev_launch launch = elements;
    launch.call = (struct plm_ev_call){.cpu_ns = cpu_ns};
    later();
    launch_of("vectorized_elementwise_kernel", launch);
}

/* 1 us apart. Three gaps of which the thread computed 1.5 us get half each; where it computed longer than there was
   time, nothing changes. */
static void gaps(void **state)
{
    static const uint32_t cpu[] = {0, 0, 0, 1500, 9000, 250}, expected[] = {0, 500, 500, 500, 1000, 250};
    (void)state;
    begin();
    for (size_t i = 0; i < COUNT(cpu); i++)
        computing(cpu[i]);
    end();
    for (size_t i = 0; i < COUNT(cpu); i++)
        assert_int_equal(works.lane[0].call[i].gap_ns, expected[i]);
    plm_works_free(&works);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(convolutions),
        cmocka_unit_test(kinds_of_convolutions),
        cmocka_unit_test(recurrent),
        cmocka_unit_test(attention),
        cmocka_unit_test(collectives),
        cmocka_unit_test(copies),
        cmocka_unit_test(kernels_by_name),
        cmocka_unit_test(kernels_by_parameters),
        cmocka_unit_test(elements_of_kernels),
        cmocka_unit_test(sizes_by_operator),
        cmocka_unit_test(sorts_are_bounded),
        cmocka_unit_test(slices),
        cmocka_unit_test(depthwise),
        cmocka_unit_test(attention_of_kernels),
        cmocka_unit_test(steps_of_an_optimizer),
        cmocka_unit_test(steps_of_a_model),
        cmocka_unit_test(sites),
        cmocka_unit_test(gaps),
    };
    return RUN(tests);
}
