/*
 * Writes a job record of events that happened earlier, with their own times. One thread of the record at a time, in the
 * order of their time each.
 *
 * Functions return nothing: what went wrong (a full disk) is told by plm_import_out_close. One thread.
 */
#ifndef PLM_IMPORT_OUT_H
#define PLM_IMPORT_OUT_H

#include <stdint.h>

#include "base/names.h"
#include "record/create.h"

struct plm_import_out {
    struct plm_record_file file;
    unsigned char *chunk;        /* PLM_RECORD_CHUNK bytes */
    uint64_t chunks, base_ns, last_ns;
    uint32_t used, thread;
    struct plm_names texts;
    int status;                  /* 0 or PLM_EIO */
};

/* Takes the file over. `created_ns` is the moment that times count from. */
void plm_import_out_open(struct plm_import_out *out, struct plm_record_file file, uint64_t created_ns);
/* What follows is of another thread; from 1 on. Within one, time does not go back. */
void plm_import_out_thread(struct plm_import_out *out, uint32_t thread);
void plm_import_out_event(struct plm_import_out *out, uint64_t ns, enum plm_event_type type, unsigned device,
                          const void *payload, unsigned words);
/* The number of a text, written at its first use. */
uint32_t plm_import_out_text(struct plm_import_out *out, const char *text);
void plm_import_out_config(struct plm_import_out *out, const char *key, const char *value);
int plm_import_out_close(struct plm_import_out *out);

#endif
