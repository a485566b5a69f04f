/* Weights of networks: files of foreign origin. What is taken must answer with numbers, whatever is asked. */
#include <math.h>

#include "common/error.h"
#include "study/estimate/model_file.h"
#include "study/learn/network.h"
#include "study/methods/methods.h"
#include "fuzz.h"

static void check_answer(const struct plm_learned_answer *a)
{
    double sum = 0;
    MUST(isfinite(a->figure) && a->figure >= 0 && isfinite(a->outside));
    for (size_t i = 0; i < a->classes; i++)
        sum += a->probability[i];
    MUST(!a->classes || fabs(sum - 1) < 1e-6);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    double number[8] = {1, 1e30, 0, 5, 1e11, 3, 2, 1};
    struct plm_learned_answer answer = {0};
    double output[PLM_LEARNED_CLASSES];
    struct plm_error error = {0};
    struct plm_network n;
    struct plm_view_edge edge = {0, 1, 1e30};
    double node[2 * PLM_DNNPERF_NODE] = {1, 0, 1e30};
    struct plm_view view = {.token = number, .tokens = 1, .node = node, .nodes = 2, .edge = &edge, .edges = 1};
    struct plm_model_file file;
    int status = plm_model_file_open(fuzz_file(data, size), &file, &error);
    const struct plm_method *method = status == 0 ? plm_methods_find_learner(file.kind) : NULL;
    if (method && method->learner->load == plm_network_load)
        status = plm_network_read(method, &file, &n);
    plm_model_file_close(&file);
    if (status)
        fuzz_sentence(&error);
    if (status || !method || method->learner->load != plm_network_load)
        return 0;
    for (int end = 0; end < 3; end++) {
        for (size_t i = 0; i < n.features; i++)
            view.x[i] = end == 0 ? n.feature[i].low : end == 1 ? n.feature[i].high : 1e30;
        plm_architecture_of(n.method)->run(&n, &view, output);
        plm_network_answer(&n, output, &answer);
        plm_learned_range(n.feature, n.features, view.x, &answer);
        check_answer(&answer);
    }
    plm_network_free(&n);
    return 0;
}
