/* A synthetic job of two processes: what is added up from its record. */
#include "analysis/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "record/create.h"
#include "record/writer.h"
#include "analysis/job.h"
#include "fit/ladder.h"
#include "unit.h"

static struct plm_record_file file;
static struct plm_summary s;

static void block(int device, bool alloc, uint64_t at, uint64_t bytes)
{
    if (alloc)
        plm_put_block_alloc(device, &(struct plm_ev_block_alloc){.address = at, .bytes = bytes});
    else
        plm_put_block_free(device, &(struct plm_ev_block_free){at, bytes});
}

static void reserved(int device, uint64_t bytes)
{
    plm_put_reserved(device, &(struct plm_ev_reserved){bytes});
}

static void memory(int device, bool alloc, uint64_t bytes, enum plm_record_memory kind)
{
    const uint32_t owner = kind == PLM_RECORD_LIBRARY ? plm_record_text("libnccl") : 0;
    if (alloc)
        plm_put_memory_alloc(device, &(struct plm_ev_memory_alloc){64, bytes, kind, owner});
    else
        plm_put_memory_free(device, &(struct plm_ev_memory_free){64, bytes, kind, owner});
}

static void step(uint32_t number)
{
    plm_put_step(0, &(struct plm_ev_step){number, 0});
}

static void readback(const char *name, uint64_t bytes)
{
    plm_put_readback(0, &(struct plm_ev_readback){bytes, plm_record_text(name), 0});
}

static void refused(const char *library, const char *symbol)
{
    plm_put_refused(0, &(struct plm_ev_refused){plm_record_text(library), plm_record_text(symbol)});
}

/* Three steps: the second has the peak, with a temporary block of 200 MiB. */
static void train(uint64_t weights)
{
    memory(0, true, 20 * MIB, PLM_RECORD_LIBRARY);
    memory(0, true, 512 * MIB, PLM_RECORD_MALLOC);
    reserved(0, 512 * MIB);
    block(0, true, 4096, weights);
    step(1);
    block(0, true, 8192, 200 * MIB);
    block(0, false, 8192, 200 * MIB);
    step(2);
    memory(0, true, 128 * MIB, PLM_RECORD_MALLOC);
    reserved(0, 640 * MIB);
    memory(0, false, 128 * MIB, PLM_RECORD_MALLOC);
    reserved(0, 512 * MIB);
    step(3);
    block(0, true, 8192, 10 * MIB);
    memory(0, false, 20 * MIB, PLM_RECORD_LIBRARY);
    step(INT32_MAX); /* damage: nobody adds up so many, or takes them for negative */
    step(UINT32_MAX);
}

static int record_job(void **state)
{
    static const char *const config[][2] = {
        {"argv[0]", "python"}, {"argv[1]", "train\xff \"it\".py"},
        {"torch", "2.15.0"},   {"cuda", "13.2"},
        {"gpu", "rtx3060"},    {"rank", "1"},
        {"exit", "0"},         {"seconds", "1.5"},
    };
    const struct plm_ev_launches launches = {1000};
    int status;
    (void)state;
    assert_int_equal(plm_record_create(unit_path("job.plm"), false, &file, NULL), 0);
    setenv("PLIMSOLL_RECORD", unit_path("job.plm"), 1);
    for (size_t i = 0; i < COUNT(config); i++)
        plm_record_config(config[i][0], config[i][1]);
    train(100 * MIB);
    memory(1, true, 2 * MIB, PLM_RECORD_MALLOC); /* a second device, looked at by the same process */
    refused("cublas", "cublasXtSgemm");
    refused("cublas", "cublasXtSgemm");
    readback("aten::_local_scalar_dense", 4);
    readback("aten::nonzero", 8);
    plm_record_note("static-runtime", "libbitsandbytes.so");
    plm_put_launches(0, &launches);
    fflush(NULL);
    if (!fork()) {
        plm_record_config("rank", "0");
        train(50 * MIB);
        plm_put_launches(0, &launches);
        _exit(0);
    }
    wait(&status);
    plm_record_close(&file);
    return plm_summary_read(unit_path("job.plm"), &s, NULL);
}

static int drop(void **state)
{
    (void)state;
    plm_summary_free(&s);
    return 0;
}

static void totals(void **state)
{
    (void)state;
    assert_int_equal(s.processes, 2);
    assert_int_equal(s.steps, 3);
    assert_int_equal(s.launches, 2000);
    assert_int_equal(s.blocks, 8);
    assert_true(s.ended && !s.missing.why[0] && s.seconds >= 0);
    assert_string_equal(plm_summary_config(&s, "torch"), "2.15.0");
    assert_null(plm_summary_config(&s, "nothing"));
    assert_true(plm_summary_has_note(&s, "static-runtime"));
    assert_false(plm_summary_has_note(&s, "cpu-only-torch"));
    assert_int_equal(s.unmodelled.count, 1);
    assert_string_equal(s.unmodelled.item[0].name, "cublasXtSgemm");
    assert_string_equal(s.unmodelled.item[0].detail, "cublas");
    assert_int_equal(s.unmodelled.item[0].calls, 2);
}

static void devices(void **state)
{
    const struct plm_summary_device *child = &s.device[0], *first = &s.device[1], *second = &s.device[2];
    (void)state;
    assert_int_equal(s.devices, 3);
    assert_true(child->rank == 0 && first->rank == 1 && second->rank == 1); /* by rank */
    assert_true(first->device == 0 && second->device == 1);
    assert_int_equal(first->allocated_peak.bytes, 300 * MIB);
    assert_int_equal(child->allocated_peak.bytes, 250 * MIB);
    assert_int_equal(first->allocated, 110 * MIB);
    assert_int_equal(first->reserved_peak, 640 * MIB);
    assert_int_equal(first->libraries_peak, 20 * MIB);
    assert_int_equal(first->used_peak, 660 * MIB);
    assert_int_equal(first->takers, 1);
    assert_int_equal(first->taker[0].now, 0);
    assert_int_equal(first->taker[0].at_peak, 20 * MIB); /* not what it has at the end */
    assert_int_equal(second->used_peak, 2 * MIB);
    assert_int_equal(second->allocated_peak.bytes, 2 * MIB); /* no allocator tells of blocks there */
    assert_int_equal(second->reserved_peak, 2 * MIB);
    assert_int_equal(first->allocated_peak.step, 1);
    assert_int_equal(first->steps, 3);
    assert_int_equal(first->step[0].allocated_peak, 100 * MIB);
    assert_int_equal(first->step[1].allocated_peak, 300 * MIB);
    assert_int_equal(first->step[2].allocated_peak, 100 * MIB);
    assert_int_equal(first->step[1].reserved_peak, 512 * MIB);
    assert_int_equal(first->step[2].reserved_peak, 640 * MIB);
    assert_int_equal(first->readbacks.count, 2);
    assert_int_equal(child->readbacks.count, 0);
    assert_false(first->out_of_memory);
}

static void confidence(void **state)
{
    char reasons[8][256];
    int n = -1;
    (void)state;
    assert_string_equal(plm_confidence(&(struct plm_job){.summary = s}, reasons, 8, &n),
                        "low"); /* a size was read as empty */
    assert_int_equal(n, 3);
    assert_contains(reasons[0], "1 data-dependent size was ");
    assert_contains(reasons[1], "2 calls were refused");
    assert_contains(reasons[2], "the peak still grew in the last step, by 128.0 MiB"); /* what is reserved */
    assert_string_equal(plm_confidence(&(struct plm_job){.summary = s}, reasons, 1, &n), "low");
    assert_int_equal(n, 1);
}

/* ---- other jobs ---- */

/* Runs odd_job() in a program of its own, because a process opens its record once. */
static int summary_of_odd_job(struct plm_summary *out)
{
    struct plm_record_file other;
    char path[4096];
    int status;
    pid_t pid;
    snprintf(path, sizeof path, "%s", unit_path("odd.plm"));
    assert_int_equal(plm_record_create(path, false, &other, NULL), 0);
    fflush(NULL);
    pid = fork();
    if (!pid) {
        setenv("PLIMSOLL_RECORD", path, 1);
        setenv("SUMMARY_JOB", "odd", 1);
        execl("/proc/self/exe", "summary", NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    plm_record_close(&other);
    return plm_summary_read(path, out, NULL);
}

/* Frees more than it took, ends steps out of order, runs out of memory. */
static void odd_job(void)
{
    block(0, false, 64, MIB);
    memory(0, false, MIB, PLM_RECORD_LIBRARY);
    memory(0, true, 2 * MIB, PLM_RECORD_LIBRARY);
    step(2);
    step(1);
    step(2);
    step(UINT32_MAX);
    plm_put_gemm(0, &(struct plm_ev_gemm){.type_a = 14, .type_b = 0}); /* CUDA_R_16BF, CUDA_R_32F */
    plm_put_convolution(0, &(struct plm_ev_convolution){.data_type = 12}); /* CUDNN_DATA_FP8_E4M3 */
    plm_put_oom(0, &(struct plm_ev_oom){5 * GIB, GIB});
}

static void odd_records(void **state)
{
    struct plm_summary odd;
    (void)state;
    assert_int_equal(summary_of_odd_job(&odd), 0);
    assert_int_equal(odd.devices, 1);
    assert_int_equal(odd.device[0].allocated_peak.bytes, 0);
    assert_int_equal(odd.device[0].used_peak, 2 * MIB);
    assert_int_equal(odd.device[0].libraries_peak, 2 * MIB);
    assert_true(odd.device[0].steps >= 1 && odd.device[0].steps <= 2);
    assert_true(odd.device[0].out_of_memory && odd.device[0].oom_asked == 5 * GIB);
    assert_true(odd.device[0].oom_open && odd.device[0].oom_steps == odd.device[0].steps);
    assert_int_equal(odd.types, 1u << PLM_TYPE_BF16 | 1u << PLM_TYPE_FP8);
    assert_int_equal(s.types, 0);
    plm_summary_free(&odd);
}

static void unreadable(void **state)
{
    struct plm_summary none;
    struct plm_error error;
    (void)state;
    assert_int_equal(plm_summary_read(unit_path("absent.plm"), &none, &error), PLM_ENOTFOUND);
    assert_contains(error.text, "absent.plm");
    unit_write(unit_path("junk.plm"), "some text", 9);
    assert_int_equal(plm_summary_read(unit_path("junk.plm"), &none, &error), PLM_EFORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals),      cmocka_unit_test(devices),    cmocka_unit_test(confidence),
        cmocka_unit_test(odd_records), cmocka_unit_test(unreadable),
    };
    if (getenv("SUMMARY_JOB")) {
        odd_job();
        return 0;
    }
    return cmocka_run_group_tests(tests, record_job, drop);
}
