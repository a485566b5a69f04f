/*
 * Horus' model of utilization: how busy a training keeps the GPU, learned from runs of other networks.
 *
 * Boosted trees over the features of a description. plm_horus_train() makes them from a table of runs (docs/methods.md
 * has the columns); the trees belong to the caller. Any thread. Fails with one sentence that names the file, and the
 * line where there is one.
 */
#ifndef PLM_ESTIMATE_HORUS_H
#define PLM_ESTIMATE_HORUS_H

struct plm_boosted;
struct plm_boosted_settings;
struct plm_error;

#define PLM_HORUS_METHOD "horus-utilization"

int plm_horus_train(const char *path, const struct plm_boosted_settings *settings, struct plm_boosted *boosted,
                    struct plm_error *error);
/* Do trees that were read from a file answer from these features? PLM_EFORMAT with a sentence if not. */
int plm_horus_check(const char *path, const struct plm_boosted *boosted, struct plm_error *error);

#endif
