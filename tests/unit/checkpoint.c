/* Checkpoints as PyTorch Lightning leaves them (tests/unit/checkpoints.py): which numbers come under which name, what follows
   from the shapes, and what is refused. */
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "study/estimate/method.h"
#include "study/learn/network.h"
#include "unit.h"

static int make(void **state)
{
    char command[9000];
    (void)state;
    snprintf(command, sizeof command, "python3 '%s/tests/unit/checkpoints.py' '%s'", getenv("PLM_SOURCE"),
             unit_folder());
    return system(command);
}

static const char *path_of(const char *name)
{
    char file[64];
    snprintf(file, sizeof file, "%s.ckpt", name);
    return unit_path(file);
}

static struct plm_network taken(const char *name, int bin)
{
    struct plm_error error = {0};
    struct plm_network n;
    if (plm_checkpoint_read(path_of(name), bin, &n, &error))
        fail_msg("%s", error.text);
    return n;
}

/* A tensor of so many rows and columns, whose numbers are counted from `first` on. */
static void holds(struct plm_network *n, const char *name, size_t rows, size_t columns, float first)
{
    const struct plm_network_tensor *t = plm_network_find(n, name);
    if (!t)
        fail_msg("no tensor %s", name);
    assert_int_equal(t->rows, rows);
    assert_int_equal(t->columns, columns);
    for (size_t i = 0; i < rows * columns; i++)
        if (t->value[i] < first + (float)i || t->value[i] > first + (float)i)
            fail_msg("%s: number %zu is %g, not %g", name, i, (double)t->value[i], (double)first + (double)i);
}

/* Two members. Of the first: 2 x 8 numbers, 2, four times 2 and a counter, 3 x 2, 3: 36 in all. */
static void test_mlp(void **state)
{
    struct plm_network n = taken("mlp", 0);
    (void)state;
    assert_string_equal(n.method->name, "gpumemnet-mlp");
    assert_int_equal(n.family, PLM_FAMILY_MLP);
    assert_int_equal(n.features, 8);
    assert_string_equal(n.feature[1].name, "batch");
    assert_true(n.feature[1].low < -1e29 && n.feature[1].high > 1e29); /* not known: nothing lies outside */
    assert_int_equal(n.outputs, 3);
    assert_int_equal(n.length, 0);
    assert_int_equal(n.kind, PLM_NETWORK_CLASSES);
    assert_string_equal(n.target, "measured_device_mib");
    assert_true(n.first >= 1000 && n.first <= 1000 && n.width >= 1000 && n.width <= 1000); /* 1 GB from 1 GB on */
    assert_int_equal(n.tensors, 16); /* neither counters nor the weights of the loss */
    holds(&n, "mlp.0.0.weight", 2, 8, 1);
    holds(&n, "mlp.0.0.bias", 2, 1, 17);
    holds(&n, "mlp.0.0.scale", 2, 1, 19);
    holds(&n, "mlp.0.0.shift", 2, 1, 21);
    holds(&n, "mlp.0.0.mean", 2, 1, 23);
    holds(&n, "mlp.0.0.variance", 2, 1, 25);
    holds(&n, "mlp.0.out.weight", 3, 2, 28);
    holds(&n, "mlp.0.out.bias", 3, 1, 34);
    holds(&n, "mlp.1.0.weight", 4, 8, 37);
    holds(&n, "mlp.1.out.weight", 3, 4, 90);
    plm_network_free(&n);
    n = taken("folder", 5); /* Lightning names the folder by itself */
    holds(&n, "mlp.0.0.weight", 2, 8, 1);
    assert_true(n.width >= 5000 && n.width <= 5000);
    plm_network_free(&n);
}

/* Other families have classes of 8 GB from nothing on. */
static void test_families(void **state)
{
    struct plm_network n = taken("cnn", 0);
    (void)state;
    assert_int_equal(n.family, PLM_FAMILY_CNN);
    assert_int_equal(n.features, 10);
    assert_true(n.first >= 0 && n.first <= 0 && n.width >= 8000 && n.width <= 8000);
    plm_network_free(&n);
    n = taken("many", 0); /* 256 classes are the most */
    assert_int_equal(n.outputs, 256);
    plm_network_free(&n);
}

/* Positions 1 to 6, then what embeds (4 numbers of a token, 2 wide, norms over 3 positions), a layer, and a member. */
static void test_transformer(void **state)
{
    struct plm_network n = taken("transformer", 0);
    (void)state;
    assert_string_equal(n.method->name, "gpumemnet-transformer");
    assert_int_equal(n.family, PLM_FAMILY_MLP);
    assert_int_equal(n.features, 4);
    assert_int_equal(n.length, 3);
    assert_int_equal(n.outputs, 5);
    holds(&n, "0.position", 3, 2, 1);
    holds(&n, "0.embed.0.weight", 2, 4, 7);
    holds(&n, "0.embed.0.bias", 2, 1, 15);
    holds(&n, "0.embed.0.scale", 3, 1, 17);
    holds(&n, "0.embed.0.shift", 3, 1, 20);
    holds(&n, "0.embed.0.mean", 3, 1, 23);
    holds(&n, "0.embed.0.variance", 3, 1, 26);
    holds(&n, "0.embed.1.weight", 2, 2, 30);
    holds(&n, "0.embed.1.bias", 2, 1, 34);
    holds(&n, "0.embed.1.scale", 3, 1, 36);
    holds(&n, "0.embed.1.shift", 3, 1, 39);
    holds(&n, "0.embed.1.mean", 3, 1, 42);
    holds(&n, "0.embed.1.variance", 3, 1, 45);
    holds(&n, "0.layer.0.in.weight", 6, 2, 49);
    holds(&n, "0.layer.0.in.bias", 6, 1, 61);
    holds(&n, "0.layer.0.out.weight", 2, 2, 67);
    holds(&n, "0.layer.0.out.bias", 2, 1, 71);
    holds(&n, "0.layer.0.first.weight", 4, 2, 73);
    holds(&n, "0.layer.0.first.bias", 4, 1, 81);
    holds(&n, "0.layer.0.second.weight", 2, 4, 85);
    holds(&n, "0.layer.0.second.bias", 2, 1, 93);
    holds(&n, "0.layer.0.norm1.scale", 2, 1, 95);
    holds(&n, "0.layer.0.norm1.shift", 2, 1, 97);
    holds(&n, "0.layer.0.norm2.scale", 2, 1, 99);
    holds(&n, "0.layer.0.norm2.shift", 2, 1, 101);
    holds(&n, "0.mlp.0.0.weight", 4, 6, 103);
    holds(&n, "0.mlp.0.out.bias", 5, 1, 168);
    plm_network_free(&n);
}

/* A tensor may begin behind the start of its storage. */
static void test_stored(void **state)
{
    static const char *const names[] = {"offset", "one"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct plm_network n = taken(names[i], 0);
        holds(&n, "mlp.0.0.weight", 2, 8, 1);
        plm_network_free(&n);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *name, *part;
    } bad[] = {
        {"turned", "models.0.model.0.weight is not a plain float32 tensor"},
        {"half", "models.0.model.0.weight is not a plain float32 tensor"},
        {"list", "models.0.model.0.bias is not a plain float32 tensor"},
        {"deep", "models.0.model.0.bias is not a plain float32 tensor"},
        {"none", "models.0.model.0.bias is not a plain float32 tensor"},
        {"nan", "data/1 has a value that is not a number"},
        {"features", "no family of networks has 7 features"},
        {"classes", "it has 257 classes and 0 positions"},
        {"lacks", "archive/data/0 is not in it"},
        {"cut", "data/0 is too short"},
        {"state", "it has no state_dict"},
    };
    struct plm_error error = {0};
    struct plm_network n;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(plm_checkpoint_read(path_of(bad[i].name), 0, &n, &error), PLM_EFORMAT);
        assert_contains(error.text, bad[i].part);
        assert_contains(error.text, bad[i].name);
    }
    assert_true(plm_checkpoint_read(path_of("missing"), 0, &n, &error) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mlp),    cmocka_unit_test(test_families), cmocka_unit_test(test_transformer),
        cmocka_unit_test(test_stored), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, make, NULL);
}
