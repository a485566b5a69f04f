/* What depends on a release of PyTorch: the tables, and that what cannot be proved is left alone in a release that
   nobody looked at. The PyTorch here is fake_torch.c under the names of its libraries. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "device/context.h"
#include "device/internal.h"
#include "record/reader.h"
#include "torch/facts.h"
#include "torch/kernels.h"
#include "unit.h"

static void numbers(void **state)
{
    (void)state;
    assert_int_equal(plm_torch_number("2.11.0+cu128"), 2011);
    assert_int_equal(plm_torch_number("2.16.0a0+git12"), 2016);
    assert_int_equal(plm_torch_number("3.0"), 3000);
    assert_int_equal(plm_torch_number(NULL), 0);
    assert_int_equal(plm_torch_number(""), 0);
    assert_int_equal(plm_torch_number("2"), 0);
    assert_int_equal(plm_torch_number("2.x"), 0);
    assert_int_equal(plm_torch_number("-2.6"), 0);
    assert_int_equal(plm_torch_of(2009), PLM_TORCH_2_6);
    assert_int_equal(plm_torch_of(2010), PLM_TORCH_2_10);
    assert_int_equal(plm_torch_of(2012), PLM_TORCH_2_10);
    assert_int_equal(plm_torch_of(2013), PLM_TORCH_2_15); /* pytorch/pytorch#183591 */
    assert_int_equal(plm_torch_of(0), PLM_TORCHES - 1);
}

static void rows(void **state)
{
    (void)state;
    for (int i = 0; i < PLM_TORCH_FACTS; i++) {
        const struct plm_torch_row *r = plm_torch_row((enum plm_torch_fact)i);
        assert_true(r->name && *r->name && r->seen && *r->seen && r->without);
        assert_true(r->since && (!r->until || r->until >= r->since));
        assert_int_equal(r->kind <= PLM_TORCH_IS_PREFIX, r->library != NULL);
        assert_true(r->kind == PLM_TORCH_IS_RULE || *r->without);
        assert_true(r->kind != PLM_TORCH_IS_LAYOUT || r->until); /* nobody can have looked at what is to come */
        assert_false(plm_torch_holds((enum plm_torch_fact)i, 0));
        assert_false(plm_torch_holds((enum plm_torch_fact)i, r->since - 1u));
        assert_true(plm_torch_holds((enum plm_torch_fact)i, r->since));
    }
    assert_true(plm_torch_holds(PLM_TORCH_CALLBACK, 2015));
    assert_false(plm_torch_holds(PLM_TORCH_CALLBACK, 2016));
    assert_true(plm_torch_holds(PLM_TORCH_BY_AGE, 2016));
    assert_false(plm_torch_rule(PLM_TORCH_2_10, PLM_TORCH_BY_AGE));
    assert_true(plm_torch_rule(PLM_TORCH_2_15, PLM_TORCH_BY_AGE));
}

static void lists(void **state)
{
    (void)state;
    assert_int_equal(plm_torch_lists(2006, 12040)->blocks, 320);
    assert_int_equal(plm_torch_lists(2011, 13000)->blocks, 320);
    assert_int_equal(plm_torch_lists(2015, 12080)->blocks, 320);
    assert_int_equal(plm_torch_lists(2012, 13000)->blocks, 2240);
    assert_int_equal(plm_torch_lists(0, 0)->blocks, 320);
    assert_null(plm_torch_lists(2016, 13000));
    assert_null(plm_torch_lists(2016, 12080));
    assert_ptr_equal(plm_torch_kernel_find("reduce_kernel_more", 13), plm_torch_kernel(4));
    assert_null(plm_torch_kernel_find("reduce_kernels", 14));
}

/* ---- the device with a PyTorch of some release ---- */

enum { OBSERVED = 1, ASKED = 2, STREAMS = 4, WRONG = 128 };

static void copy(const char *from, const char *to)
{
    size_t size;
    char *bytes = unit_read(from, &size);
    unit_write(to, bytes, size);
    free(bytes);
}

/* In a child. Says by bits what the device makes use of. */
static int use(const char *folder)
{
    static const char *const names[] = {"libc10.so", "libc10_cuda.so", "libtorch_cpu.so", "libtorch_cuda.so"};
    void *library[COUNT(names)], **table;
    void (*report)(void *, int64_t, size_t, size_t, int16_t);
    uint64_t peaks[2 * PLM_DEVICES_MAX];
    char path[4096];
    int used = 0, *count;

    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/lib/%s", folder, names[i]);
        library[i] = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library[i])
            return WRONG;
    }
    table = dlsym(library[1], "fake_table");
    plm_asked_start();
    used |= table[2 + 2] != table[2] ? ASKED : 0;
    used |= plm_observe(true) ? OBSERVED : 0;
    count = dlsym(library[2], "fake_callbacks");
    if (*count != (used & OBSERVED ? 2 : 0) || plm_observe_sequence() != (used & OBSERVED ? 41 : -1))
        return WRONG;
    report = (void (*)(void *, int64_t, size_t, size_t, int16_t))dlsym(RTLD_DEFAULT, PLM_TORCH_REPORT_NAME);
    report((void *)512, 512, 512, 2 * MIB, 1); /* device 0 of type CUDA */
    report((void *)1024, 2048, 2560, 20 * MIB, 1);
    report((void *)1024, -2048, 512, 4 * MIB, 1);
    /* The peaks of a step are the most there was in it; the next begins with what is there. */
    plm_device_block_step_peaks(peaks);
    if (peaks[0] != 2560 || peaks[1] != 20 * MIB)
        return WRONG;
    plm_device_block_step_peaks(peaks);
    if (peaks[0] != 512 || peaks[1] != 4 * MIB)
        return WRONG;
    count = dlsym(library[1], "fake_streams");
    return used | (*count ? STREAMS : 0);
}

static int used_of(const char *fake, const char *version)
{
    static int number;
    char folder[4096], path[4200], text[64];
    int status;
    pid_t child;

    snprintf(path, sizeof path, "%d", number++);
    snprintf(folder, sizeof folder, "%s", unit_path(path));
    mkdir(folder, 0755);
    snprintf(path, sizeof path, "%s/lib", folder);
    mkdir(path, 0755);
    for (const char *const *name = (const char *const[]){"c10", "c10_cuda", "torch_cpu", "torch_cuda", NULL}; *name;
         name++) {
        snprintf(path, sizeof path, "%s/lib/lib%s.so", folder, *name);
        copy(fake, path);
    }
    if (version) {
        snprintf(path, sizeof path, "%s/version.py", folder);
        snprintf(text, sizeof text, "__version__ = '%s'\ncuda = '13.0'\n", version);
        unit_write(path, text, strlen(text));
    }
    child = fork();
    if (child == 0)
        _exit(use(folder));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void releases(void **state)
{
    (void)state;
    assert_int_equal(used_of(FAKE_TORCH, "2.15.0+cu130"), OBSERVED | ASKED | STREAMS);
    assert_int_equal(used_of(FAKE_TORCH, "2.8.0"), OBSERVED | ASKED | STREAMS);
    assert_int_equal(used_of(FAKE_TORCH, "2.5.1"), OBSERVED | ASKED | STREAMS);
    /* What is proved is used, what only a look at the release tells is not. */
    assert_int_equal(used_of(FAKE_TORCH, "2.16.0"), ASKED | STREAMS);
    assert_int_equal(used_of(FAKE_TORCH, "2.0.1"), ASKED | STREAMS);
    assert_int_equal(used_of(FAKE_TORCH, NULL), ASKED | STREAMS);
}

static void proofs(void **state)
{
    (void)state;
    assert_int_equal(used_of(FAKE_TORCH_SLOT, "2.15.0"), OBSERVED | STREAMS);
    assert_int_equal(used_of(FAKE_TORCH_STREAM, "2.15.0"), OBSERVED | ASKED);
}

/* ---- what is recorded of a block ---- */

struct taken {
    enum plm_record_event_type type;
    int device;
    uint64_t address, bytes;
};

static struct taken taken[16];
static size_t takings;

static int take(const struct plm_record_event *e, void *context)
{
    (void)context;
    if (e->type == PLM_EV_BLOCK_ALLOC || e->type == PLM_EV_BLOCK_FREE || e->type == PLM_EV_RESERVED) {
        assert_true(takings < COUNT(taken));
        taken[takings++] =
            (struct taken){e->type, e->device, e->words[0], e->type == PLM_EV_RESERVED ? 0 : e->words[1]};
    }
    return 0;
}

/* As c10::CUDACachingAllocator reports: what it takes back has a negative size. The third and fourth figures are the sums
   of its device; a device is its type, 1 for CUDA, and its index in the byte above. */
static void report_blocks(void)
{
    void (*report)(void *, int64_t, size_t, size_t, int16_t) =
        (void (*)(void *, int64_t, size_t, size_t, int16_t))dlsym(RTLD_DEFAULT, PLM_TORCH_REPORT_NAME);
    report((void *)512, 1536, 1536, 2 * MIB, 1);
    report((void *)4096, 512, 2048, 2 * MIB, 1);
    report((void *)512, -1536, 512, 2 * MIB, 1);
    report((void *)512, 2560, 2560, 2 * MIB, 1 | 3 << 8);
    report((void *)512, 0, 0, 0, 1); /* nothing */
    report((void *)512, 512, 512, 512, 0); /* of the CPU */
    report((void *)512, 512, 512, 512, 1 | (PLM_DEVICES_MAX << 8));
    report((void *)512, 512, 512, 512, (int16_t)0xff01); /* -1 */
    report((void *)4096, -512, 0, 0, 1);
}

static void reported_blocks(void **state)
{
    static const struct taken wanted[] = {
        {PLM_EV_RESERVED, 0, 2 * MIB, 0},  {PLM_EV_BLOCK_ALLOC, 0, 512, 1536}, {PLM_EV_BLOCK_ALLOC, 0, 4096, 512},
        {PLM_EV_BLOCK_FREE, 0, 512, 1536}, {PLM_EV_RESERVED, 3, 2 * MIB, 0},   {PLM_EV_BLOCK_ALLOC, 3, 512, 2560},
        {PLM_EV_RESERVED, 0, 0, 0},        {PLM_EV_BLOCK_FREE, 0, 4096, 512},
    };
    const char *path = unit_path("blocks.plm");
    struct plm_record *record;
    struct plm_error error;
    int status;
    (void)state;
    unit_record(path);
    if (!fork()) {
        report_blocks();
        _exit(0);
    }
    wait(&status);
    assert_int_equal(status, 0);
    unsetenv("PLIMSOLL_RECORD");
    assert_int_equal(plm_record_open(path, &record, &error), 0);
    assert_int_equal(plm_record_each(record, take, NULL, &error), 0);
    plm_record_free(record);
    assert_int_equal(takings, COUNT(wanted));
    for (size_t i = 0; i < takings; i++) {
        assert_int_equal(taken[i].type, wanted[i].type);
        assert_int_equal(taken[i].device, wanted[i].device);
        assert_int_equal(taken[i].address, wanted[i].address);
        assert_int_equal(taken[i].bytes, wanted[i].bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),  cmocka_unit_test(rows),   cmocka_unit_test(lists),
        cmocka_unit_test(releases), cmocka_unit_test(proofs), cmocka_unit_test(reported_blocks),
    };
    return RUN(tests);
}
