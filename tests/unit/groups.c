/* Process groups: which one a communicator is found to belong to, and what the record has of them. */
#include "device/groups.h"
#include "record/reader.h"
#include "unit.h"

void plm_hook_group(const char *name, const char *ranks, const uint32_t *rank, uint32_t size, uint32_t place);
void plm_hook_group_made(uint64_t options);

static const char options[3];

static void make(const char *name, const uint32_t *rank, uint32_t size, uint32_t place, const void *with)
{
    plm_hook_group(name, "", rank, size, place);
    plm_hook_group_made((uintptr_t)with);
}

static void assert_group(const struct plm_group *group, const char *name)
{
    assert_non_null(group);
    assert_string_equal(group->name, name);
}

static void the_group_that_is_made_belongs_to_the_thread(void **state)
{
    (void)state;
    assert_null(plm_group_making());
    plm_hook_group("made", "4,2", (const uint32_t[]){4, 2}, 2, 1);
    assert_group(plm_group_making(), "made");
    assert_string_equal(plm_group_making()->ranks, "4,2");
    assert_int_equal(plm_group_making()->rank[0], 4);
    assert_int_equal(plm_group_making()->place, 1);
    plm_hook_group_made(0);
    assert_null(plm_group_making());
}

static void others_are_recorded_only(void **state)
{
    (void)state;
    plm_hook_group("others", "5-9", (const uint32_t[]){5, 6, 7, 8, 9}, 5, UINT32_MAX);
    assert_null(plm_group_making());
    plm_hook_group_made(0);
    assert_null(plm_group_find(NULL, 5, 0));
}

static void options_tell_groups_of_one_size_apart(void **state)
{
    (void)state;
    make("dp", (const uint32_t[]){0, 4, 8}, 3, 0, &options[0]);
    assert_group(plm_group_find(NULL, 3, 0), "dp"); /* the only one */
    make("tp", (const uint32_t[]){0, 1, 2}, 3, 0, &options[1]);
    assert_group(plm_group_find(&options[0], 3, 0), "dp");
    assert_group(plm_group_find(&options[1], 3, 0), "tp");
    assert_null(plm_group_find(&options[2], 3, 0));
    assert_null(plm_group_find(&options[0], 3, 1));
    assert_null(plm_group_find(NULL, 3, 0));
}

static void shared_options_are_told_apart_by_the_place(void **state)
{
    (void)state;
    make("cp", (const uint32_t[]){0, 1, 2, 3}, 4, 2, &options[2]);
    make("ep", (const uint32_t[]){0, 1, 2, 3}, 4, 3, &options[2]);
    assert_group(plm_group_find(&options[2], 4, 2), "cp");
    assert_group(plm_group_find(&options[2], 4, 3), "ep");
}

struct seen {
    struct plm_record *record;
    int groups;
};

/* The first two. */
static int look(const struct plm_record_event *event, void *context)
{
    struct seen *seen = context;
    if (event->type != PLM_EV_GROUP || seen->groups++ > 1)
        return 0;
    const bool first = seen->groups == 1;
    const struct plm_ev_group group = plm_get_group(event);
    assert_string_equal(plm_record_string(seen->record, event->process, group.name), first ? "made" : "others");
    assert_string_equal(plm_record_string(seen->record, event->process, group.ranks), first ? "4,2" : "5-9");
    assert_int_equal(group.size, first ? 2 : 5);
    assert_int_equal(group.place, first ? 1 : UINT32_MAX);
    return 0;
}

static void the_record_has_each(void **state)
{
    struct seen seen = {0};
    (void)state;
    assert_int_equal(plm_record_open(unit_path("groups.plm"), &seen.record, NULL), 0);
    assert_int_equal(plm_record_each(seen.record, look, &seen, NULL), 0);
    plm_record_free(seen.record);
    assert_int_equal(seen.groups, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_group_that_is_made_belongs_to_the_thread),
        cmocka_unit_test(others_are_recorded_only),
        cmocka_unit_test(options_tell_groups_of_one_size_apart),
        cmocka_unit_test(shared_options_are_told_apart_by_the_place),
        cmocka_unit_test(the_record_has_each),
    };
    unit_record(unit_path("groups.plm"));
    return RUN(tests);
}
