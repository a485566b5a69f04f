/*
 * What a sweep varies: "batch=8..512", "opt=adam,sgd", "env:OMP_NUM_THREADS=1,2", "train.yaml:trainer.batch_size=8..64".
 *
 * Values are texts. A range of whole numbers doubles from its lower to its upper end, both included; with ":8" it goes
 * on in steps of 8, with ":x4" it is multiplied by 4. Several parameters make every combination of their values, or go
 * side by side (zipped). plm_sweep_parameters_free() frees what plm_sweep_parameters_add() kept. Fails with PLM_EINVAL
 * and a sentence. Pure; any thread.
 */
#ifndef PLM_SWEEP_PARAMETERS_H
#define PLM_SWEEP_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_error;

enum { PLM_SWEEP_PARAMETERS = 8, PLM_SWEEP_VALUES = 1000, PLM_SWEEP_TEXT = 256 };

enum plm_sweep_where { PLM_SWEEP_WORD, PLM_SWEEP_ENVIRONMENT, PLM_SWEEP_CONFIG };

struct plm_sweep_parameter {
    enum plm_sweep_where where;
    char name[PLM_SWEEP_TEXT]; /* "batch", "OMP_NUM_THREADS", "trainer.batch_size" */
    char file[PLM_SWEEP_TEXT]; /* the config; "": none */
    char (*value)[PLM_SWEEP_TEXT];
    size_t values;
    bool range, stepped; /* written as a range of whole numbers, with a step or factor */
    uint64_t low, high;  /* its ends */
};

struct plm_sweep_parameters {
    struct plm_sweep_parameter item[PLM_SWEEP_PARAMETERS];
    size_t count;
    bool zip;
};

int plm_sweep_parameters_add(struct plm_sweep_parameters *parameters, const char *text, struct plm_error *error);
/* After the last of them: are there as many values of each, where they go side by side, and not too many points? */
int plm_sweep_parameters_check(const struct plm_sweep_parameters *parameters, struct plm_error *error);
void plm_sweep_parameters_free(struct plm_sweep_parameters *parameters);

/* How many points of the grid there are, and the value of a parameter at one; the last parameter changes fastest. */
size_t plm_sweep_points(const struct plm_sweep_parameters *parameters);
const char *plm_sweep_value(const struct plm_sweep_parameters *parameters, size_t point, size_t parameter);

/* Whether a text is a whole number of up to 18 digits. */
bool plm_sweep_whole(const char *text, uint64_t *out);
/* The only parameter with several values, if all of them are whole numbers that rise; -1: there is no such one. */
int plm_sweep_axis(const struct plm_sweep_parameters *parameters);

#endif
