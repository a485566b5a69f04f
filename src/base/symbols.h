/* The symbol tables as one array, generated from data/symbols at build time. */
#ifndef PLM_SYMBOLS_H
#define PLM_SYMBOLS_H

struct plm_symbol_row {
    const char *library, *name, *class;
    int first, last; /* CUDA generations; 0 and 99 are open ends */
    const char *note;
};

extern const struct plm_symbol_row plm_symbol_rows[];
extern const unsigned plm_symbol_rows_count;

#endif
