/*
 * What every replacement library shares.
 *
 * A shim is one shared object that stands in for one NVIDIA library. Its entry points are rows of
 * data/symbols/<library>.tsv; symgen turns the rows into the export list and into the bodies of those
 * entry points that need no code of their own (see docs/HOWTO_ADD_SYMBOL.md). The rest is written by
 * hand in src/shim/<library>/.
 *
 * Nothing here allocates, prints or exits. Every function may be called from any thread. A shim
 * returns what the real library would return; it never fails in a way of its own.
 */
#ifndef PLM_SHIM_H
#define PLM_SHIM_H

#include <stddef.h>
#include <stdint.h>

/* One row of the symbol table, as the generated code hands it to the device. */
struct plm_symbol {
    const char *library;
    const char *name;
};

/* A register-sized argument whose type does not matter. */
typedef uintptr_t plm_word;

/* Exported entry points are declared with this; the version script decides what leaves the library. */
#define PLM_API __attribute__((visibility("default")))

/* A refused entry point was called: counted and named in the report. */
void plm_call_refused(const struct plm_symbol *symbol);

/* A library routine was called that would start work on the device of the calling thread. */
void plm_call_launch(const struct plm_symbol *symbol);

/* A fresh opaque handle: unique in the process, never NULL, never to be dereferenced. */
void *plm_handle_new(void);

/* Somebody asked the driver for a private table: that is a CUDA runtime linked statically into a library, which cannot
   be served. The report names it. */
void plm_static_runtime_seen(const void *return_address);

/* The program asked how many GPUs there are. */
void plm_gpus_counted(void);

#endif
