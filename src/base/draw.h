/*
 * Text for people on a stream: amounts, bars and names of unknown origin, laid out in columns. Errors stay in the stream.
 */
#ifndef PLM_DRAW_H
#define PLM_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct plm_page {
    FILE *out;
    bool bytes; /* exact bytes instead of GiB */
    bool color;
    bool utf8;  /* else plain ASCII */
    int width;  /* columns */
};

enum plm_ink { PLM_INK_PLAIN, PLM_INK_BOLD, PLM_INK_DIM, PLM_INK_GREEN, PLM_INK_YELLOW, PLM_INK_RED, PLM_INKS };

/* The escape sequence, "" without colour. */
const char *plm_ink(const struct plm_page *page, enum plm_ink ink);
/* "3.6 GiB" or, with --bytes, "3887071232". */
const char *plm_page_amount(const struct plm_page *page, char *buffer, size_t size, uint64_t bytes);
/* The columns that amounts take, so that they stand in line. */
int plm_page_amount_columns(const struct plm_page *page);
/* `columns` wide: filled from `from` to `to` of `whole`. */
void plm_page_bar(const struct plm_page *page, int columns, uint64_t from, uint64_t to, uint64_t whole);
/* How wide a bar may be, if the rest of its line takes `taken` columns. */
int plm_page_room(const struct plm_page *page, int taken);
/* A string of unknown origin: control characters are shown, not sent; what is longer than `columns` loses
   its middle, what is shorter is filled up with blanks if `pad`. 0 columns: as long as it is. */
void plm_page_name(const struct plm_page *page, const char *text, int columns, int pad);
/* The columns that plm_page_name would take for the whole string. */
int plm_page_columns(const struct plm_page *page, const char *text);
/* Sentences in lines of the page's width, after `first`, further lines indented by as much as it takes. Safe
   as plm_page_name. */
void plm_page_sentences(const struct plm_page *page, const char *first, const char *text);
/* The same, printed, up to 900 characters. */
__attribute__((format(printf, 2, 3))) void plm_page_say(const struct plm_page *page, const char *format, ...);
void plm_page_title(const struct plm_page *page, const char *title);

#endif
