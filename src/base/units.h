/* Sizes as people write and read them. Pure functions, any thread. */
#ifndef PLM_UNITS_H
#define PLM_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "24GB", "24GiB", "24g", "512 MiB", "1.5g", "1048576". A bare letter is binary, as in GiB; "GB" is
   decimal. Returns 0, or PLM_EINVAL for anything else, overflow included. */
int plm_size_parse(const char *text, uint64_t *bytes);

/* A small number without a unit: nobody means 22 bytes. */
bool plm_size_lacks_unit(const char *text);

/* "3.6 GiB", "512.0 MiB", "18.0 KiB", "96 B": one decimal. Returns buffer. */
const char *plm_size_text(char *buffer, size_t size, uint64_t bytes);

/* "182 ms", "1.35 s", "12.4 us": three digits. Returns buffer. */
const char *plm_duration_text(char *buffer, size_t size, double ns);

/* "7.15 TFLOP", "1.07 PFLOP", "950 GFLOP": three digits. Returns buffer. */
const char *plm_flops_text(char *buffer, size_t size, double flops);

/* "1,234,567". Returns buffer. */
const char *plm_count_text(char *buffer, size_t size, uint64_t count);

#endif
