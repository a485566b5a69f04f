/*
 * Operators as people call them. Constant; any thread; nothing fails.
 */
#ifndef PLM_REPORT_OPERATORS_H
#define PLM_REPORT_OPERATORS_H

/* ".item()" for "aten::_local_scalar_dense"; other names are as PyTorch has them. The result belongs to `name` or to
   nobody. */
const char *plm_report_operator_shown(const char *name);
/* The same without "aten::", where there is little room. */
const char *plm_report_operator_brief(const char *name);

#endif
