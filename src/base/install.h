/*
 * Where plimsoll's own files are: beside the program in a build tree, in ../lib/plimsoll of an
 * installation, in ../share/plimsoll of a Python wheel. Found once from the program's own path.
 */
#ifndef PLM_INSTALL_H
#define PLM_INSTALL_H

#include <stdbool.h>

struct plm_error;

struct plm_install {
    char shims[4096];         /* folder of the replacement libraries */
    char programs[4096];      /* folder of what the job finds first on its PATH: nvidia-smi */
    char device[4096];        /* libplimsoll-device.so */
    char audit[4096];         /* libplimsoll-audit.so */
    char hook[4096];          /* plimsoll_hook/__init__.py */
    char capture[4096];       /* folder of the sitecustomize.py that captures a job on the CPU */
    char sampler[4096];       /* libplimsoll-sampler.so */
    char gpus[4096];          /* folder of GPU files */
    char capabilities[4096];
    char calibrate[4096];     /* plimsoll_calibrate.py */
    char calibrate_time[4096]; /* plimsoll_calibrate_time.py */
    char learn[4096];         /* plimsoll_learn/__main__.py */
    char dataset[4096];       /* plimsoll_dataset/__main__.py */
    char server[4096];        /* plimsoll_server/__main__.py */
    char stacks[4096];        /* folder of stack files */
    char topologies[4096];    /* folder of topologies */
    char timing[4096];        /* folder of the time model's constants */
};

int plm_install_find(struct plm_install *install, struct plm_error *error);

/* Every NAME.ini of a folder of ours, in order, then those of the user's own: `kind` "gpus" is ~/.config/plimsoll/gpus, or that
   under $XDG_CONFIG_HOME. A folder that is not there is empty. Ends with the first negative status. */
typedef int plm_install_visit(const char *path, bool own, void *context, struct plm_error *error);
int plm_install_each(const char *folder, const char *kind, plm_install_visit *visit, void *context,
                     struct plm_error *error);

#endif
