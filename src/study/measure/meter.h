/*
 * The used memory of one card, as NVIDIA's management library (NVML) tells it.
 *
 * plm_meter_open() loads the library, plm_meter_choose() takes one card, plm_meter_used() asks, plm_meter_close()
 * ends it. The declarations are our own, from NVML's documentation. Any thread may ask; the library is thread-safe.
 * Fails with one sentence: PLM_EIO (no driver, or it refused), PLM_EINVAL (no such card).
 */
#ifndef PLM_MEASURE_METER_H
#define PLM_MEASURE_METER_H

#include <stdint.h>

struct plm_error;

enum { PLM_METER_UUID = 96, PLM_METER_DRIVER = 81 }; /* the lengths that the documentation tells */

struct plm_meter {
    void *library, *card;
    char uuid[PLM_METER_UUID];
    char driver[PLM_METER_DRIVER];
    unsigned cards;
    int (*get_memory)(void *card, void *out);
    int (*shut_down)(void);
};

int plm_meter_open(struct plm_meter *meter, struct plm_error *error);
/* `visible`: CUDA_VISIBLE_DEVICES; `order`: CUDA_DEVICE_ORDER; NULL if not set. A job that may use several cards is
   refused (PLM_EINVAL). */
int plm_meter_choose(struct plm_meter *meter, const char *visible, const char *order, struct plm_error *error);
/* By the whole UUID. */
int plm_meter_take(struct plm_meter *meter, const char *uuid, struct plm_error *error);
void plm_meter_close(struct plm_meter *meter);

/* Bytes of the card in use, by whomever. Takes no lock of ours and allocates nothing. 0, or NVML's code. */
int plm_meter_used(const struct plm_meter *meter, uint64_t *bytes);

/* Waits until `settle` samples in a row were equal, for `milliseconds` at most; *bytes is the last one. 1 if it
   settled, else 0. */
int plm_meter_settle(const struct plm_meter *meter, unsigned interval_us, unsigned settle, unsigned milliseconds,
                     uint64_t *bytes);

#endif
