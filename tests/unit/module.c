/* Which cards an image has code for, and its kernels by name. */
#include "device/module.h"

#include <stdio.h>

#include "common/card.h"
#include "unit.h"

static bool runs(const void *image, int major, int minor)
{
    struct plm_card card = {.major = major, .minor = minor};
    struct plm_module *m = NULL;
    bool answer;
    assert_int_equal(plm_module_open(image, &m), 0);
    answer = plm_module_runs_on(m, &card);
    plm_module_close(m);
    return answer;
}

static void ptx(void **state)
{
    (void)state;
    assert_true(runs(".version 8.0\n.target sm_75\n", 8, 6)); /* compiled for any newer card */
    assert_true(runs(".version 8.0\n.target sm_75\n", 7, 5));
    assert_false(runs(".version 8.0\n.target sm_75\n", 7, 0));
    assert_true(runs(".version 8.0\n.target sm_90a, texmode_independent\n", 9, 0));
    assert_false(runs(".version 8.0\n.target sm_90a\n", 10, 0)); /* for that card alone */
    assert_true(runs(".version 8.0\n", 6, 0));
    assert_true(runs("// comment\n.version 8.0\n.target sm_100\n", 12, 0));
}

static void elf(unsigned char image[64], unsigned abi, uint32_t flags)
{
    const uint16_t machine = 190;
    memset(image, 0, 64);
    memcpy(image,
           "\x7f"
           "ELF",
           4);
    image[8] = (unsigned char)abi;
    memcpy(image + 18, &machine, 2);
    memcpy(image + 48, &flags, 4);
}

static void cubins(void **state)
{
    unsigned char image[64];
    struct plm_module *m = NULL;
    (void)state;
    elf(image, 7, 80);
    assert_true(runs(image, 8, 0));
    assert_true(runs(image, 8, 6)); /* a higher minor runs it */
    assert_false(runs(image, 9, 0));
    assert_false(runs(image, 7, 5));
    elf(image, 7, 86);
    assert_false(runs(image, 8, 0));
    elf(image, 8, 120 << 8);
    assert_true(runs(image, 12, 0));
    elf(image, 8, 90 << 8 | 8);
    assert_true(runs(image, 9, 0));
    image[18] = 62; /* code for this processor */
    assert_int_equal(plm_module_open(image, &m), PLM_MODULE_INVALID);
}

struct entry {
    uint16_t kind, version;
    uint32_t head;
    uint64_t size;
    uint32_t packed, unused;
    uint16_t minor, major;
    uint32_t sm, name_offset, name_size;
    uint64_t flags;
    char code[16];
};

struct container {
    uint32_t magic;
    uint16_t version, head;
    uint64_t size;
    struct entry entry[3];
};

enum { KIND_PTX = 1, KIND_ELF = 2 };

static struct container container(void)
{
    static const struct {
        uint16_t kind;
        uint32_t sm;
    } rows[] = {{KIND_ELF, 70}, {KIND_ELF, 80}, {KIND_PTX, 90}};
    struct container c = {.magic = 0xba55ed50u, .version = 1, .head = 16, .size = sizeof c.entry};
    for (int i = 0; i < 3; i++) {
        c.entry[i].kind = rows[i].kind;
        c.entry[i].sm = rows[i].sm;
        c.entry[i].head = 64 - 16;
        c.entry[i].size = 16;
    }
    return c;
}

static void containers(void **state)
{
    struct container c = container();
    const struct {
        uint32_t magic, version;
        const void *data, *unused;
    } wrapper = {0x466243b1u, 1, &c, NULL}, empty = {0x466243b1u, 1, NULL, NULL};
    struct plm_module *m = NULL;
    (void)state;
    assert_int_equal(sizeof(struct entry), 64);
    for (int i = 0; i < 2; i++) {
        const void *image = i ? (const void *)&wrapper : &c;
        assert_true(runs(image, 7, 5));
        assert_true(runs(image, 8, 9));
        assert_true(runs(image, 12, 0)); /* the PTX */
        assert_false(runs(image, 6, 1));
    }
    c.size = sizeof c.entry[0]; /* the head vouches for the first entry only */
    assert_true(runs(&c, 7, 0));
    assert_false(runs(&c, 8, 0));
    c = container();
    c.entry[1].size = UINT64_MAX; /* beyond the container: not followed */
    assert_true(runs(&c, 7, 0));
    assert_false(runs(&c, 9, 0));
    c = container();
    c.size = 0; /* says nothing: the benefit of the doubt */
    assert_true(runs(&c, 6, 0));
    c.head = 8;
    assert_int_equal(plm_module_open(&c, &m), PLM_MODULE_INVALID);
    assert_int_equal(plm_module_open(&empty, &m), PLM_MODULE_INVALID);
}

/* Of what runs on a card the nearest, machine code first. */
static void nearest_code(void **state)
{
    static const struct {
        int major, minor, binary;
    } cards[] = {{8, 0, 80}, {8, 6, 86}, {8, 9, 86}, {9, 0, 90}};
    static const struct {
        uint16_t kind;
        uint32_t sm;
    } orders[][3] = {{{KIND_ELF, 80}, {KIND_ELF, 86}, {KIND_PTX, 70}},
                     {{KIND_PTX, 70}, {KIND_ELF, 86}, {KIND_ELF, 80}}};
    (void)state;
    for (size_t i = 0; i < COUNT(orders); i++) {
        struct container c = container();
        struct plm_module *m = NULL;
        for (int k = 0; k < 3; k++) {
            c.entry[k].kind = orders[i][k].kind;
            c.entry[k].sm = orders[i][k].sm;
        }
        assert_int_equal(plm_module_open(&c, &m), 0);
        for (size_t k = 0; k < COUNT(cards); k++) {
            const struct plm_card card = {.major = cards[k].major, .minor = cards[k].minor};
            int code = 0, binary = 0;
            plm_module_version(m, &card, &code, &binary);
            assert_int_equal(binary, cards[k].binary);
        }
        plm_module_close(m);
    }
}

static void no_images(void **state)
{
    struct plm_module *m = NULL;
    (void)state;
    assert_int_equal(plm_module_open(NULL, &m), PLM_MODULE_INVALID);
    assert_int_equal(plm_module_open("some other text", &m), PLM_MODULE_INVALID);
    assert_int_equal(plm_module_open("\0\0\0\0", &m), PLM_MODULE_INVALID);
    assert_int_equal(plm_module_open(".version 8.0\n", NULL), PLM_MODULE_INVALID);
    plm_module_close(NULL);
}

static void kernels(void **state)
{
    enum { MANY = 1000 };
    static struct plm_kernel *kernel[MANY];
    struct plm_module *m = NULL;
    char name[32];
    (void)state;
    assert_int_equal(plm_module_open(".version 8.0\n", &m), 0);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < MANY; i++) {
            struct plm_kernel *k = NULL;
            snprintf(name, sizeof name, "kernel_%d", i);
            assert_int_equal(plm_module_kernel(m, name, &k), 0);
            assert_true(k && k->module == m && !strcmp(k->name, name));
            assert_true(!pass || k == kernel[i]); /* the same one, though the table grew */
            kernel[i] = k;
        }
    assert_int_equal(plm_module_kernel(m, NULL, kernel), PLM_MODULE_INVALID);
    plm_module_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ptx),        cmocka_unit_test(cubins),
                                       cmocka_unit_test(containers), cmocka_unit_test(nearest_code),
                                       cmocka_unit_test(no_images),  cmocka_unit_test(kernels)};
    return RUN(tests);
}
