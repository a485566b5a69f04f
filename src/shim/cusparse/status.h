/* Names and texts of the status codes that cuSPARSE and cuSPARSELt share. Any thread; never NULL. */
#ifndef PLM_CUSPARSE_STATUS_H
#define PLM_CUSPARSE_STATUS_H

const char *plm_sparse_status_name(int status);
const char *plm_sparse_status_text(int status);

#endif
