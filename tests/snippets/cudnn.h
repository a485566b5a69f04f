/* What the snippets of cuDNN share. Creations that fail, fail the snippet. */
#ifndef PLM_SNIPPETS_CUDNN_H
#define PLM_SNIPPETS_CUDNN_H

#include "snippet.h"

typedef void *P;

P dnn_handle(void);
P dnn_make(const char *kind); /* a descriptor of that kind: "TensorDescriptor" */
void dnn_drop(const char *kind, P object);
P dnn_tensor(int type, int n, int c, int h, int w);
P dnn_filter(int k, int c, int r, int s);
P dnn_convolution(int pad, int stride);
int dnn_tensor_nd(P t, int size[8], int stride[8]); /* the number of dimensions */

#endif
