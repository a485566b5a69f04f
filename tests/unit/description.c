/* The reader of model descriptions and of files that a capture left: what it takes, what it refuses. */
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "study/estimate/capture.h"
#include "study/estimate/description.h"
#include "unit.h"

#define HEAD \
    "{\"schema\": \"plimsoll.description/1\", \"model\": {\"class\": \"Net\"}, \"modules\": [{\"class\": \"Net\"}]"

static int parse(const char *text, struct plm_description **d, struct plm_error *error)
{
    *error = (struct plm_error){0};
    return plm_description_parse("job.json", text, strlen(text), d, error);
}

/* The example of docs/description.md is read as it stands there. */
static void test_documented(void **state)
{
    char path[4096], *text, *from, *to;
    struct plm_description *d;
    struct plm_error error;
    (void)state;
    snprintf(path, sizeof path, "%.4000s/docs/description.md", getenv("PLM_SOURCE"));
    text = unit_read(path, NULL);
    from = strstr(text, "```json\n") + 8;
    to = strstr(from, "```");
    *to = '\0';
    /* it is cut short: three modules are spoken of and two are there */
    from = strstr(text, "```json\n") + 8;
    to = strstr(from, "  \"buffers\"");
    assert_non_null(to);
    memset(to, ' ', strcspn(to, "\n"));
    if (plm_description_parse("job.json", from, strlen(from), &d, &error))
        fail_msg("%s", error.text);
    assert_string_equal(d->model.class_name, "ResNet");
    assert_string_equal(d->torch, "2.15.0");
    assert_int_equal(d->model.parameters, 11689512);
    assert_true(d->transformer.known && d->transformer.decoder && d->transformer.upcast_logits);
    assert_int_equal(d->transformer.vocabulary, 50257);
    assert_int_equal(d->batch.size, 200);
    assert_int_equal(d->batch.input[0].elements, 200 * 3 * 86 * 86);
    assert_string_equal(d->batch.target[0].dtype, "int64");
    assert_int_equal(d->optimizer.zero_grad, PLM_ZERO_GRAD_BEFORE_FORWARD);
    assert_true(d->optimizer.foreach);
    assert_true(d->feature[PLM_FEATURE_FLOPS] == 121483955200.0);
    assert_true(d->feature[PLM_FEATURE_BATCHNORMS] == 20 && d->feature[PLM_FEATURE_DEPTH] == 60);
    assert_int_equal(d->modules, 2);
    assert_int_equal(d->module[0].parent, -1);
    assert_string_equal(d->module[1].name, "conv1");
    assert_int_equal(d->parameter[0].module, 1);
    assert_int_equal(d->call[0].output[0].shape[1], 64);
    assert_int_equal(d->nodes, 2);
    assert_int_equal(d->node[0].module, PLM_GRAPH_NO_MODULE);
    assert_int_equal(d->node[1].input[0], 0);
    assert_int_equal(d->node[1].shares, PLM_GRAPH_NO_ALIAS);
    assert_string_equal(d->graph_missing, "control flow depends on a tensor");
    assert_int_equal(d->sighting[0].last, 178);
    assert_int_equal(d->forward_backward.births, 2);
    assert_int_equal(d->step.event[2], -2);
    plm_description_free(d);
    free(text);
}

static void test_least(void **state)
{
    struct plm_description *d;
    struct plm_error error;
    (void)state;
    assert_int_equal(parse("{\"schema\": \"plimsoll.description/1\", \"model\": {}}", &d, &error), 0);
    assert_false(d->transformer.known || d->optimizer.known);
    assert_int_equal(d->modules + d->calls + d->nodes + d->sightings + d->step.events, 0);
    assert_string_equal(d->model.class_name, "");
    for (int i = 0; i < PLM_FEATURES; i++)
        assert_true(d->feature[i] == -1); /* not known, which is not 0 */
    plm_description_free(d);
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"", "job.json"},
        {"[]", "expected"},
        {"{}", "its schema is not plimsoll.description/1"},
        {"{\"schema\": \"plimsoll.report/1\"}", "its schema is not plimsoll.description/1"},
        {"{\"schema\": 7}", "schema"},
        {"{\"schema\": \"plimsoll.description/1\"}", "it describes no model"},
        {"{\"schema\": \"plimsoll.description/1\", \"model\": []}", "model"},
        {"{\"schema\": \"plimsoll.description/1\", \"model\": {\"parameters\": -1}}", "model.parameters"},
        {"{\"schema\": \"plimsoll.description/1\", \"model\": {\"parameters\": 1e30}}", "model.parameters"},
        {"{\"schema\": \"plimsoll.description/1\", \"model\": {\"parameters\": 99999999999999999}}", "too large"},
        {"{\"schema\": \"plimsoll.description/1\", \"model\": {\"checkpointing\": 1}}", "model.checkpointing"},
        {"{\"schema\": \"plimsoll.description/1\", \"model\": {}, \"features\": {\"flops\": -1}}", "a number from 0"},
        {"{\"schema\": \"plimsoll.description/1\", \"model\": {}, \"features\": {\"depth\": 1e39}}", "a number from 0"},
        {"{\"schema\": \"plimsoll.description/1\", \"model\": {}, \"features\": {\"depth\": \"3\"}}", "features.depth"},
        {"{\"schema\": \"plimsoll.description/1\", \"model\": {}, \"features\": 3}", "features"},
        {HEAD ", \"optimizer\": {\"zero_grad\": \"sometimes\"}}", "optimizer.zero_grad: expected before-forward"},
        {HEAD ", \"batch\": {\"inputs\": [{\"shape\": [1,1,1,1,1,1,1,1,1]}]}}", "more than eight dimensions"},
        {HEAD ", \"batch\": {\"inputs\": [{\"shape\": [4294967296, 4294967296]}]}}", "too many elements"},
        {HEAD ", \"batch\": {\"inputs\": [{\"shape\": [-3]}]}}", "batch.inputs[0].shape[0]"},
        {HEAD ", \"batch\": {\"inputs\": 7}}", "batch.inputs"},
        {"{\"schema\": \"plimsoll.description/1\", \"model\": {}, \"modules\": [{\"parent\": 0}]}",
         "must come before it"},
        {"{\"schema\": \"plimsoll.description/1\", \"model\": {}, \"modules\": [{\"parent\": -2}]}",
         "must come before it"},
        {HEAD ", \"parameters\": [{\"elements\": 3}]}", "parameters[0].module is missing"},
        {HEAD ", \"parameters\": [{\"module\": 1}]}", "parameters[0].module: it refers to an item"},
        {HEAD ", \"calls\": [{\"module\": 4294967296}]}", "calls[0].module: it refers to an item"},
        {HEAD ", \"graph\": [{\"inputs\": [0]}]}", "a node's inputs must come before it"},
        {HEAD ", \"graph\": [{\"module\": 1}]}", "graph[0].module: it refers to an item"},
        {HEAD ", \"graph\": [{\"shares\": 0}]}", "graph[0].shares: it refers to an item"},
        {HEAD ", \"sightings\": {\"tensors\": [[1, 2]]}}", "expected [bytes, first, last]"},
        {HEAD ", \"sightings\": {\"tensors\": [[1, 2, 1]]}}", "seen first at moment 0 or later"},
        {HEAD ", \"sightings\": {\"tensors\": [[1, -2, 1]]}}", "seen first at moment 0 or later"},
        {HEAD ", \"storages\": {\"step\": [-1]}}", "was not allocated"},
        {HEAD ", \"storages\": {\"step\": [5, -1, -1]}}", "was not allocated"},
        {HEAD ", \"storages\": {\"step\": [5, -9223372036854775807]}}", "was not allocated"},
        {HEAD ", \"storages\": {\"step\": [9223372036854775807]}}", "too large"},
    };
    struct plm_description *d = NULL;
    struct plm_error error;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (parse(bad[i].text, &d, &error) != PLM_EFORMAT)
            fail_msg("taken: %s", bad[i].text);
        assert_contains(error.text, bad[i].part);
        assert_null(d);
    }
}

/* ---- files of a capture ---- */

static const char *file(const char *name, const char *text)
{
    const char *path = unit_path(name);
    unit_write(path, text, strlen(text));
    return path;
}

static void test_capture(void **state)
{
    const char *description = file("d.json", "{\"command\": [\"x\", {}], \"seconds\": 2.5, \"model\": {},"
                                             " \"schema\": \"plimsoll.description/1\"}");
    const char *const one[] = {description}, *const two[] = {description, description};
    struct plm_captured c;
    struct plm_error error;
    (void)state;
    assert_int_equal(plm_captured_read(one, 1, &c, &error), 0);
    assert_non_null(c.evidence.description);
    assert_null(c.evidence.job);
    assert_null(c.evidence.trace);
    assert_true(c.evidence.description_seconds == 2.5);
    plm_captured_free(&c);
    assert_int_equal(plm_captured_read(two, 2, &c, &error), PLM_EINVAL);
    assert_contains(error.text, "are both descriptions");
    plm_captured_free(&c);
}

static void test_capture_refused(void **state)
{
    static const struct {
        const char *text, *part;
        int status;
    } bad[] = {
        {"hello", "is neither a job record nor a profiler trace nor a description", PLM_EFORMAT},
        {"{\"schema\": \"plimsoll.fit/1\"}", "is neither", PLM_EFORMAT},
        {"{\"schema\": {}}", "is neither", PLM_EFORMAT},
        {"{\"a\": ", "is neither", PLM_EFORMAT},
        {"PLIMSOLL", "", PLM_EFORMAT},
        {"{\"traceEvents\": []}", "", PLM_EFORMAT},
    };
    struct plm_captured c;
    struct plm_error error;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        const char *const path[] = {file("bad", bad[i].text)};
        assert_int_equal(plm_captured_read(path, 1, &c, &error), bad[i].status);
        assert_contains(error.text, bad[i].part);
        plm_captured_free(&c);
    }
    const char *const gone[] = {unit_path("not there")}, *const folder[] = {unit_folder()};
    assert_int_equal(plm_captured_read(gone, 1, &c, &error), PLM_ENOTFOUND);
    plm_captured_free(&c);
    assert_int_equal(plm_captured_read(folder, 1, &c, &error), PLM_EFORMAT);
    plm_captured_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documented), cmocka_unit_test(test_least),           cmocka_unit_test(test_refused),
        cmocka_unit_test(test_capture),    cmocka_unit_test(test_capture_refused),
    };
    return RUN(tests);
}
