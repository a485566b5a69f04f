/*
 * Kernels and the code that holds them, shared by the runtime's registration entry points, the
 * driver's modules and libraries, and the launch paths.
 *
 * A module is a fat binary, a cubin or PTX text; only its header is looked at, to know for which
 * compute capabilities it has code. Any thread. Returns 0 or a negative enum plm_module_status.
 */
#ifndef PLM_MODULE_H
#define PLM_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "device/arguments.h"
#include "record/writer.h"

struct plm_card;

enum plm_module_status { PLM_MODULE_INVALID = -1, PLM_MODULE_NO_IMAGE = -2, PLM_MODULE_NOMEM = -3 };

struct plm_module;
struct plm_kernel {
    const char *name;
    struct plm_module *module;
    _Atomic int max_dynamic_shared; /* as set by FuncSetAttribute; 0 = the default 48 KiB limit */
    _Atomic int preferred_carveout;
    _Atomic uint64_t loaded;         /* a bit for each device that has it: see footprint.h */
    struct plm_record_name text;     /* its name in the record */
    struct plm_arguments_form form;  /* what its arguments tell about the size of its work */
};

/* `image` is a fat binary wrapper, a fat binary, an ELF cubin or PTX. It is not copied. */
int plm_module_open(const void *image, struct plm_module **out);
void plm_module_close(struct plm_module *module);
/* Code that `card` can run: an ELF of the same major and a minor not above, or PTX not above. */
bool plm_module_runs_on(const struct plm_module *module, const struct plm_card *card);
/* Which of its code `card` would run, as major * 10 + minor: *code is what it was compiled for, *binary
   what runs (the card itself where intermediate code is compiled on loading). CUB and others choose
   their launch parameters by these. */
void plm_module_version(const struct plm_module *module, const struct plm_card *card, int *code, int *binary);
/* Bytes that `card` takes for the code of the module that it would run, and for one of its kernels: the image is
   packed as a rule and is not unpacked, so that is the average. 0: not known. *guessed: there is intermediate code only. */
uint64_t plm_module_code(const struct plm_module *module, const struct plm_card *card, bool *guessed);
uint64_t plm_module_kernel_code(struct plm_module *module, const struct plm_card *card, bool *guessed);
/* How many kernels the image has, and whether a runtime registered it or the program loads it by itself. Before its
   kernels are launched. */
void plm_module_expect(struct plm_module *module, unsigned kernels, bool registered);
bool plm_module_registered(const struct plm_module *module);
/* The kernel of that name; made on first request: names are not checked against the image. */
int plm_module_kernel(struct plm_module *module, const char *name, struct plm_kernel **out);

#endif
