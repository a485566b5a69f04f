#include "study/evaluate/published.h"

const struct plm_published plm_published[] = {
    {"xMem", 0.0359, 0.0887, 24.2, "xmem", "xmem"},
    {"DNNMem", 0.1382, 0.5367, 36.4, "dnnmem", "dnnmem-x"},
    {"SchedTune", 0.2484, 0.5055, 0.14, "schedtune", "schedtune"},
    {"LLMem", 0.7683, 0.6577, 17.4, "llmem", "llmem"},
};
const size_t plm_published_count = sizeof plm_published / sizeof plm_published[0];
