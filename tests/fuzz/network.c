/* Weights of networks: files of foreign origin. What is taken must answer with numbers, whatever is asked. */
#include <math.h>

#include "base/error.h"
#include "study/learn/network.h"
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
    if (plm_network_load(fuzz_file(data, size), &n, &error)) {
        fuzz_sentence(&error);
        return 0;
    }
    for (int end = 0; end < 3; end++) {
        for (size_t i = 0; i < n.features; i++)
            view.x[i] = end == 0 ? n.feature[i].low : end == 1 ? n.feature[i].high : 1e30;
        plm_network_method_find(n.method)->run(&n, &view, output);
        plm_network_answer(&n, output, &answer);
        plm_learned_range(n.feature, n.features, view.x, &answer);
        check_answer(&answer);
    }
    plm_network_free(&n);
    return 0;
}
