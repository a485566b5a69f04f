/* The functions of every method, for the table of methods.c. What they take and give is in method.h. */
#ifndef PLM_ESTIMATE_ESTIMATORS_H
#define PLM_ESTIMATE_ESTIMATORS_H

#include "study/estimate/method.h"

plm_method_estimate plm_method_accelerate, plm_method_activations;
plm_method_estimate plm_method_deepspeed_zero2, plm_method_deepspeed_zero2_offload, plm_method_deepspeed_zero3,
    plm_method_deepspeed_zero3_offload_optimizer, plm_method_deepspeed_zero3_offload;
plm_method_estimate plm_method_dnnmem;
plm_method_estimate plm_method_faketensor_a, plm_method_faketensor_b, plm_method_faketensor_c;
plm_method_estimate plm_method_horus, plm_method_horus_1000, plm_method_horus_utilization;
plm_method_estimate plm_method_llmem;

plm_method_prepare plm_prepare_virtual, plm_prepare_xmem, plm_prepare_xmem_plus, plm_prepare_dnnmem_x,
    plm_prepare_schedtune;
/* study/learn/method.c */
plm_method_prepare plm_prepare_gpumemnet_mlp, plm_prepare_gpumemnet_transformer, plm_prepare_dnnperf,
    plm_prepare_extratrees, plm_prepare_extratrees_all, plm_prepare_plimsoll_learned;
plm_method_judge plm_judge_learned;
plm_method_explain plm_explain_learned;

plm_method_judge plm_judge_virtual, plm_judge_xmem, plm_judge_dnnmem_x, plm_judge_schedtune;
plm_method_explain plm_explain_xmem;
plm_method_forget plm_forget_xmem, plm_forget_dnnmem_x;

/* For an answer that the job is not the kind the method was made for, or that there is none. The first reason stays. */
__attribute__((format(printf, 2, 3))) void plm_answer_outside(struct plm_answer *answer, const char *format, ...);
__attribute__((format(printf, 2, 3))) void plm_answer_none(struct plm_answer *answer, const char *format, ...);

#endif
