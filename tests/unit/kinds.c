#include "world/kinds.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "base/ranges.h"
#include "unit.h"

/* ---- sets of ranks ---- */

static void text_of(const char *expected, size_t most, size_t count, const uint32_t *number)
{
    char *text = plm_ranges_text(number, count, most);
    assert_string_equal(text, expected);
    free(text);
}

static void ranges_written(void **state)
{
    (void)state;
    text_of("", 9, 0, NULL);
    text_of("5", 9, 1, (const uint32_t[]){5});
    text_of("0-7", 9, 8, (const uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7});
    text_of("1-17/8", 9, 3, (const uint32_t[]){1, 9, 17});
    text_of("0,4", 9, 2, (const uint32_t[]){0, 4});
    text_of("0,3,5-6", 9, 4, (const uint32_t[]){0, 3, 5, 6});
    text_of("3,2,1", 9, 3, (const uint32_t[]){3, 2, 1}); /* their order is told */
    text_of("0-1,8-9 and 2 more", 2, 6, (const uint32_t[]){0, 1, 8, 9, 16, 17});
}

static void ranges_read(void **state)
{
    static const char *const bad[] = {"",  ",",   "1,",  "-1", "3-1",        "0-7/0", "0-7/2",
                                      "8", "0-8", "1 2", "0-", "4294967296", "0-7,0"};
    struct plm_ranges r;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(plm_ranges_parse(&r, bad[i], 8), PLM_EFORMAT);
    assert_int_equal(plm_ranges_parse(&r, "0,2-6/2,7", 8), 0);
    assert_int_equal(r.count, 3);
    assert_int_equal(r.item[1].first, 2);
    assert_int_equal(r.item[1].count, 3);
    assert_int_equal(r.item[1].stride, 2);
    plm_ranges_free(&r);
}

/* ---- axes ---- */

static void check_axis(const struct plm_mesh *mesh, int axis, uint32_t stride, uint32_t size, const char *name)
{
    assert_true(axis < mesh->axes);
    assert_int_equal(mesh->axis[axis].stride, stride);
    assert_int_equal(mesh->axis[axis].size, size);
    assert_string_equal(mesh->axis[axis].name, name);
}

static void mesh_of_groups(void **state)
{
    /* As Megatron makes them for 2 tensor parallel, 4 stages, 2 data parallel: with groups of ends, and of both. */
    static const struct plm_mesh_group group[] = {
        {"default_pg", "0-15"},
        {"DATA_PARALLEL_GROUP", "0,2"},
        {"MODEL_PARALLEL_GROUP", "0-1,4-5,8-9,12-13"},
        {"TENSOR_MODEL_PARALLEL_GROUP", "0-1"},
        {"PIPELINE_MODEL_PARALLEL_GROUP", "0-12/4"},
        {"EMBEDDING_GROUP", "0,12"},
        {"7", "1-13/4"},
    };
    const struct plm_mesh mesh = plm_mesh_make(16, group, COUNT(group));
    (void)state;
    assert_int_equal(mesh.axes, 3);
    check_axis(&mesh, 0, 1, 2, "tensor");
    check_axis(&mesh, 1, 2, 2, "data");
    check_axis(&mesh, 2, 4, 4, "pipeline");
    assert_int_equal(plm_mesh_stages(&mesh, 0), 2);
    assert_int_equal(plm_mesh_place(&mesh, 0, 11), 1);
    assert_int_equal(plm_mesh_place(&mesh, 1, 11), 1);
    assert_int_equal(plm_mesh_place(&mesh, 2, 11), 2);
}

static void mesh_of_nothing(void **state)
{
    static const struct plm_mesh_group tp[] = {{"mesh_tp", "8-15"}, {"odd", "0,3,5"}, {"bad", "x"}, {"far", "0-99"}};
    struct plm_mesh mesh = plm_mesh_make(64, NULL, 0);
    (void)state;
    assert_int_equal(mesh.axes, 1);
    check_axis(&mesh, 0, 1, 64, "");
    assert_int_equal(plm_mesh_stages(&mesh, 64), 0);
    assert_int_equal(plm_mesh_stages(&mesh, 2), 0); /* PyTorch makes a communicator for each pair */
    assert_int_equal(plm_mesh_stages(&mesh, 0), -1);
    mesh = plm_mesh_make(64, tp, COUNT(tp));
    assert_int_equal(mesh.axes, 2);
    check_axis(&mesh, 0, 1, 8, "tp");
    check_axis(&mesh, 1, 8, 8, "");
    assert_int_equal(plm_mesh_stages(&mesh, 0), -1);
    assert_int_equal(plm_mesh_stages(&mesh, 8), -1); /* two have that size */
    mesh = plm_mesh_make(1, NULL, 0);
    assert_int_equal(mesh.axes, 0);
    mesh = plm_mesh_make(4, (const struct plm_mesh_group[]){{"TENSOR_AND_EXPERT_PARALLEL_GROUP", "0-1"}}, 1);
    check_axis(&mesh, 0, 1, 2, "tensor and expert");
}

/* Groups that, side by side, are not the world say nothing of its axes. */
static void mesh_of_irregular_groups(void **state)
{
    static const struct {
        uint32_t world;
        const char *ranks;
        int axes; /* 1: the group was left out */
    } group[] = {
        {16, "0-4/2", 1}, /* three, two apart: 6 do not divide 16, though 2 do */
        {16, "0-2", 1},   {16, "0-6/2", 3}, /* four, two apart: strides 1, 2 and 8 */
        {8, "2,4", 1}, /* begins where the next group of its kind would */
        {8, "1,3", 3},    {16, "3-3/4", 1}, /* one rank */
        {16, "3-2/1", 1}, {16, "4-7,4-7", 1}, {8, "3,3", 1}, /* a rank twice: zero apart */
        {8, "0-1,4", 1},  {8, "0,4-5", 1}, /* three, not two four apart */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(group); i++) {
        const struct plm_mesh mesh =
            plm_mesh_make(group[i].world, &(const struct plm_mesh_group){"mesh_tp", group[i].ranks}, 1);
        assert_int_equal(mesh.axes, group[i].axes);
        assert_string_equal(mesh.axis[0].name, "");
    }
}

/* Edges that are no multiples of each other cannot both be digits: the first one stays. */
static void edges_that_do_not_nest(void **state)
{
    static const struct plm_mesh_group group[] = {{"mesh_a", "0-1"}, {"mesh_b", "0-2"}, {"mesh_c", "0-18/6"}};
    const struct plm_mesh mesh = plm_mesh_make(24, group, COUNT(group));
    (void)state;
    assert_int_equal(mesh.axes, 3);
    check_axis(&mesh, 0, 1, 2, "a");
    check_axis(&mesh, 1, 2, 3, "");
    check_axis(&mesh, 2, 6, 4, "c");
}

/* A power of two has as many axes of two ranks as its exponent; there is room for twelve, and the sizes multiply to the
   world. */
static void as_many_axes_as_there_is_room_for(void **state)
{
    (void)state;
    for (uint32_t bits = 11; bits <= 14; bits++) {
        char ranks[14][32];
        struct plm_mesh_group group[14];
        struct plm_mesh mesh;
        uint32_t world = 1;
        for (uint32_t i = 0; i < bits; i++) {
            snprintf(ranks[i], sizeof ranks[i], "0,%u", 1u << i);
            group[i] = (struct plm_mesh_group){"mesh_x", ranks[i]};
        }
        mesh = plm_mesh_make(1u << bits, group, bits);
        assert_int_equal(mesh.axes, bits < 12 ? bits : 12);
        for (int i = 0; i < mesh.axes; i++) {
            assert_int_equal(mesh.axis[i].stride, world);
            world *= mesh.axis[i].size;
        }
        assert_int_equal(world, 1u << bits);
    }
}

/* What frameworks write around a name goes, what a user called a dimension stays as it is; the first name counts. */
static void names_of_axes(void **state)
{
    static const struct {
        const char *group, *name;
    } names[] = {
        {"7", ""},
        {"", ""},
        {"0123456789", ""},
        {"default_pg", ""},
        {"DEFAULT", ""},
        {"undefined", ""},
        {"dim_0", ""},
        {"mesh_TP_x", "TP_x"},
        {"7b", "7b"},
        {"t", "t"},
        {"_EXPERT_MODEL_PARALLEL_GROUP", "expert"},
        {"CONTEXT_PARALLEL_GROUP", "context"},
        {"My_Own_GROUP", "my own"},
        {"My_Own_group", "my own"},
        {"__GROUP", "_GROUP"}, /* nothing would be left */
    };
    char text[PLM_AXIS_NAME];
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct plm_mesh_group group[] = {{names[i].group, "0-1"}, {names[i].name[0] ? "mesh_u" : "5", "2-3"}};
        const struct plm_mesh mesh = plm_mesh_make(8, group, 2);
        check_axis(&mesh, 0, 1, 2, names[i].name);
        assert_string_equal(plm_axis_name(&mesh.axis[0], text, sizeof text),
                            names[i].name[0] ? names[i].name : "ranks");
        assert_string_equal(plm_axis_name(&mesh.axis[1], text, sizeof text), "ranks 2 apart");
    }
}

static void the_axis_of_the_pipeline(void **state)
{
    static const char *const names[] = {"pp", "PP", "pipe", "pipeline", "stage", "stages"};
    struct plm_mesh mesh = plm_mesh_make(64, (const struct plm_mesh_group[]){{"mesh_tp", "0-3"}}, 1);
    (void)state;
    assert_int_equal(plm_mesh_stages(&mesh, 16), 1); /* the only one with so many ranks */
    assert_int_equal(plm_mesh_stages(&mesh, 4), 0);
    assert_int_equal(plm_mesh_stages(&mesh, 5), -1);
    assert_int_equal(plm_mesh_stages(&mesh, 0), -1);
    for (size_t i = 0; i < COUNT(names); i++) {
        mesh = plm_mesh_make(64, (const struct plm_mesh_group[]){{names[i], "0-3"}}, 1);
        assert_int_equal(plm_mesh_stages(&mesh, 0), 0);
        assert_int_equal(plm_mesh_stages(&mesh, 16), 0); /* a name counts more */
        mesh = plm_mesh_make(64, (const struct plm_mesh_group[]){{names[i], "0-60/4"}}, 1);
        assert_int_equal(plm_mesh_stages(&mesh, 0), 1);
    }
}

/* ---- kinds ---- */

/* Runs what is asked for; `need` says what a rank needs. */
static struct plm_world_kinds kinds_of(const struct plm_mesh *mesh, uint64_t (*need)(uint32_t rank), size_t *runs)
{
    struct plm_kind_search *k = plm_kind_search_new(mesh);
    struct plm_world_kinds list;
    uint32_t rank;
    for (*runs = 0; plm_kind_search_next(k, &rank); ++*runs) {
        assert_true(rank < mesh->world && *runs < 100);
        plm_kind_search_tell(k, &(struct plm_world_need){rank, need(rank), need(rank), need(rank)});
    }
    list = plm_kind_search_list(k);
    plm_kind_search_free(k);
    return list;
}

static uint32_t sum_of(const struct plm_world_kinds *list)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < list->count; i++)
        sum += list->item[i].count;
    return sum;
}

static uint64_t need_same(uint32_t rank)
{
    (void)rank;
    return 7;
}

static void all_alike(void **state)
{
    const struct plm_mesh mesh = plm_mesh_make(1024, (const struct plm_mesh_group[]){{"mesh_tp", "0-7"}}, 1);
    size_t runs;
    struct plm_world_kinds list = kinds_of(&mesh, need_same, &runs);
    (void)state;
    assert_int_equal(runs, 3);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.item[0].count, 1024);
    assert_string_equal(list.item[0].ranks, "0-1023");
    assert_string_equal(list.item[0].why, "identical along tp, ranks 8 apart (first and last compared)");
    plm_world_kinds_free(&list);
}

/* Four stages of two, of which the first holds most. */
static uint64_t need_stages(uint32_t rank)
{
    static const uint64_t stage[] = {40, 30, 30, 35};
    return stage[rank / 2];
}

static void stages(void **state)
{
    static const struct plm_mesh_group group[] = {{"mesh_pp", "0-6/2"}, {"mesh_tp", "0-1"}};
    const struct plm_mesh mesh = plm_mesh_make(8, group, 2);
    size_t runs;
    struct plm_world_kinds list = kinds_of(&mesh, need_stages, &runs);
    (void)state;
    assert_int_equal(runs, 5);
    assert_int_equal(list.count, 3);
    assert_string_equal(list.item[0].ranks, "0-1");
    assert_string_equal(list.item[0].why, "pp 0 of 4, identical along tp (first and last compared)");
    assert_string_equal(list.item[1].ranks, "6-7");
    assert_string_equal(list.item[2].ranks, "2-5");
    assert_string_equal(list.item[2].why, "pp 1-2 of 4, identical along tp (first and last compared)");
    assert_int_equal(list.item[2].outcome.rank, 2);
    assert_int_equal(sum_of(&list), 8);
    plm_world_kinds_free(&list);
}

/* Less than a thousandth makes no kind. */
static uint64_t need_nearly(uint32_t rank)
{
    return 100000 - rank;
}

static void nearly_alike(void **state)
{
    const struct plm_mesh mesh = plm_mesh_make(64, NULL, 0);
    size_t runs;
    struct plm_world_kinds list = kinds_of(&mesh, need_nearly, &runs);
    (void)state;
    assert_int_equal(runs, 2);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.item[0].why, "identical along ranks (first and last compared)");
    plm_world_kinds_free(&list);
}

/* Stages and shards make a difference, each for itself and together. */
static uint64_t need_both(uint32_t rank)
{
    return 100 - rank / 4 * 10 - rank % 4;
}

static void combinations(void **state)
{
    static const struct plm_mesh_group group[] = {{"mesh_pp", "0,4"}, {"mesh_dp", "0-3"}};
    const struct plm_mesh mesh = plm_mesh_make(8, group, 2);
    size_t runs;
    struct plm_world_kinds list = kinds_of(&mesh, need_both, &runs);
    (void)state;
    assert_int_equal(runs, 8);
    assert_int_equal(list.count, 8);
    for (size_t i = 0; i < list.count; i++)
        assert_int_equal(list.item[i].outcome.used, need_both(list.item[i].outcome.rank));
    plm_world_kinds_free(&list);
}

/* A long pipeline in which every stage holds less than the one before. */
static uint64_t need_falling(uint32_t rank)
{
    return 100000 - 500 * rank;
}

static void long_axis(void **state)
{
    const struct plm_mesh mesh = plm_mesh_make(100, NULL, 0);
    size_t runs;
    struct plm_world_kinds list = kinds_of(&mesh, need_falling, &runs);
    (void)state;
    assert_int_equal(runs, 5);
    assert_int_equal(list.count, 5);
    assert_string_equal(list.item[1].ranks, "1-49"); /* those that were not run count with the one that needs more */
    assert_string_equal(list.item[2].ranks, "50-97");
    assert_int_equal(sum_of(&list), 100);
    plm_world_kinds_free(&list);
}

/* Every stage holds more than the one before: those that were not run count with the next that was. */
static uint64_t need_rising(uint32_t rank)
{
    return 100000 + 500 * rank;
}

/* 0, 1, 50, 98 and 99 are run: neighbours of 50 need less than it does. */
static uint64_t need_uneven(uint32_t rank)
{
    return rank == 0 ? 90000 : rank == 1 ? 10000 : rank == 98 ? 20000 : rank == 99 ? 70000 : 50000;
}

static void kinds_are(uint32_t world, uint64_t (*need)(uint32_t rank), size_t count, const char *const *ranks)
{
    const struct plm_mesh mesh = plm_mesh_make(world, NULL, 0);
    size_t runs;
    struct plm_world_kinds list = kinds_of(&mesh, need, &runs);
    assert_int_equal(list.count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(list.item[i].ranks, ranks[i]);
    assert_int_equal(sum_of(&list), world);
    plm_world_kinds_free(&list);
}

static void a_place_counts_with_the_larger_neighbour(void **state)
{
    (void)state;
    kinds_are(100, need_rising, 5, (const char *const[]){"99", "51-98", "2-50", "1", "0"});
    kinds_are(100, need_uneven, 5, (const char *const[]){"0", "99", "2-97", "98", "1"});
}

/* Places that are alike are one kind, also if others lie between. */
static uint64_t need_in_turns(uint32_t rank)
{
    static const uint64_t stage[] = {40, 30, 40, 30, 35};
    return stage[rank];
}

/* A thousandth of the larger one is the most: of 2,000 that is 2, of 1,999 it is 1. */
static uint64_t need_a_thousandth(uint32_t rank)
{
    return rank ? 1998 : 2000;
}

static uint64_t need_a_thousandth_more(uint32_t rank)
{
    return rank ? 2000 : 1998;
}

static uint64_t need_beyond_a_thousandth(uint32_t rank)
{
    return rank ? 1997 : 2000;
}

static void places_that_are_alike(void **state)
{
    const struct plm_mesh mesh = plm_mesh_make(5, NULL, 0);
    size_t runs;
    struct plm_world_kinds list = kinds_of(&mesh, need_in_turns, &runs);
    (void)state;
    assert_int_equal(list.item[0].outcome.rank, 0); /* the first of them stands for all */
    assert_int_equal(list.item[2].outcome.rank, 1);
    plm_world_kinds_free(&list);
    kinds_are(5, need_in_turns, 3, (const char *const[]){"0,2", "4", "1,3"});
    kinds_are(2, need_a_thousandth, 1, (const char *const[]){"0-1"});
    kinds_are(2, need_a_thousandth_more, 1, (const char *const[]){"0-1"});
    kinds_are(2, need_beyond_a_thousandth, 2, (const char *const[]){"0", "1"});
    kinds_are(1, need_same, 1, (const char *const[]){"0"});
    plm_kind_search_free(NULL);
}

/* An axis of up to eight is run at every place, a longer one at five. */
static void every_place_of_a_short_axis(void **state)
{
    static const struct {
        uint32_t world;
        size_t runs;
    } expected[] = {{2, 2}, {7, 7}, {8, 8}, {9, 5}};
    (void)state;
    for (size_t i = 0; i < COUNT(expected); i++) {
        const struct plm_mesh mesh = plm_mesh_make(expected[i].world, NULL, 0);
        size_t runs;
        struct plm_world_kinds list = kinds_of(&mesh, need_falling, &runs);
        assert_int_equal(runs, expected[i].runs);
        assert_int_equal(list.count, expected[i].runs);
        assert_int_equal(list.item[list.count - 1].outcome.rank, expected[i].world - 1);
        plm_world_kinds_free(&list);
    }
}

/* Three axes of eight, each with a difference at each place: 512 combinations, of which some are run. */
static uint64_t need_all_different(uint32_t rank)
{
    return 1000000 - 1000 * rank;
}

static void combinations_have_an_end(void **state)
{
    static const struct plm_mesh_group group[] = {{"mesh_a", "0-7"}, {"mesh_b", "0-56/8"}, {"mesh_c", "0-448/64"}};
    const struct plm_mesh mesh = plm_mesh_make(512, group, COUNT(group));
    size_t runs;
    struct plm_world_kinds list = kinds_of(&mesh, need_all_different, &runs);
    (void)state;
    assert_int_equal(mesh.axes, 3);
    assert_int_equal(runs, 48);
    assert_int_equal(sum_of(&list), 512);
    plm_world_kinds_free(&list);
}

/* Ranks are alike if all three figures are. */
static void one_figure_makes_a_kind(void **state)
{
    const struct plm_mesh mesh = plm_mesh_make(2, NULL, 0);
    (void)state;
    for (int figure = 0; figure < 3; figure++) {
        struct plm_kind_search *k = plm_kind_search_new(&mesh);
        struct plm_world_kinds list;
        uint32_t rank;
        while (plm_kind_search_next(k, &rank))
            plm_kind_search_tell(k, &(struct plm_world_need){rank, 1000 + 100 * (rank && figure == 0),
                                                             1000 + 100 * (rank && figure == 1),
                                                             1000 + 100 * (rank && figure == 2)});
        list = plm_kind_search_list(k);
        assert_int_equal(list.count, 2);
        plm_world_kinds_free(&list);
        plm_kind_search_free(k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_written),
        cmocka_unit_test(ranges_read),
        cmocka_unit_test(mesh_of_groups),
        cmocka_unit_test(mesh_of_nothing),
        cmocka_unit_test(mesh_of_irregular_groups),
        cmocka_unit_test(edges_that_do_not_nest),
        cmocka_unit_test(as_many_axes_as_there_is_room_for),
        cmocka_unit_test(names_of_axes),
        cmocka_unit_test(the_axis_of_the_pipeline),
        cmocka_unit_test(all_alike),
        cmocka_unit_test(every_place_of_a_short_axis),
        cmocka_unit_test(a_place_counts_with_the_larger_neighbour),
        cmocka_unit_test(places_that_are_alike),
        cmocka_unit_test(one_figure_makes_a_kind),
        cmocka_unit_test(combinations_have_an_end),
        cmocka_unit_test(stages),
        cmocka_unit_test(nearly_alike),
        cmocka_unit_test(combinations),
        cmocka_unit_test(long_axis),
    };
    return RUN(tests);
}
