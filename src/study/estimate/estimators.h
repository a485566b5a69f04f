/* The function of every method, for the table of methods.c. What they take and give is in method.h. */
#ifndef PLM_ESTIMATE_ESTIMATORS_H
#define PLM_ESTIMATE_ESTIMATORS_H

#include "study/estimate/method.h"

typedef int plm_method_function(const struct plm_capture *capture, const struct plm_question *question,
                                struct plm_answer *answer);

plm_method_function plm_method_accelerate, plm_method_activations;
plm_method_function plm_method_deepspeed_zero2, plm_method_deepspeed_zero2_offload, plm_method_deepspeed_zero3,
    plm_method_deepspeed_zero3_offload_optimizer, plm_method_deepspeed_zero3_offload;
plm_method_function plm_method_dnnmem, plm_method_dnnmem_x;
plm_method_function plm_method_faketensor_a, plm_method_faketensor_b, plm_method_faketensor_c;
plm_method_function plm_method_horus, plm_method_horus_1000;
plm_method_function plm_method_llmem;
plm_method_function plm_method_schedtune;
plm_method_function plm_method_virtual;

/* xmem_explain.c */
typedef int plm_method_explainer(const struct plm_capture *capture, const struct plm_question *question,
                                 const struct plm_page *page, struct plm_json *json);
plm_method_explainer plm_explain_xmem, plm_explain_xmem_plus;

/* For an answer that the job is not the kind the method was made for, or that there is none. The first reason stays. */
__attribute__((format(printf, 2, 3))) void plm_answer_outside(struct plm_answer *answer, const char *format, ...);
__attribute__((format(printf, 2, 3))) int plm_answer_none(struct plm_answer *answer, const char *format, ...);

#endif
