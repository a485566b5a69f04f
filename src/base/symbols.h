/* The symbol tables as one array, generated from data/symbols at build time. */
#ifndef PLM_SYMBOLS_H
#define PLM_SYMBOLS_H

struct plm_symbols_row {
    const char *library, *name, *class;
    int first, last; /* CUDA generations; 0 and 99 are open ends */
    const char *note;
};

extern const struct plm_symbols_row plm_symbols_rows[];
extern const unsigned plm_symbols_rows_count;

#endif
