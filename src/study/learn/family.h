/* Families of networks, as the published sets have them. */
#ifndef PLM_LEARN_FAMILY_H
#define PLM_LEARN_FAMILY_H

enum plm_family { PLM_FAMILY_MLP, PLM_FAMILY_CNN, PLM_FAMILY_TRANSFORMER, PLM_FAMILIES };
extern const char *const plm_family_name[PLM_FAMILIES]; /* "mlp"; generate.c */

#endif
