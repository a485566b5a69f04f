/*
 * Parts of pages that are made of a table of the source: what stands between a line that names the table and the next
 * `<!-- end -->`. For build tools; a problem is printed and becomes the status.
 */
#ifndef PLM_GEN_DOC_H
#define PLM_GEN_DOC_H

#include <stdio.h>

/* `[--write] FILE`: 1 if the part is not what `put` writes, or puts it right. The line is
   `<!-- made of TABLE by PROGRAM -->`. */
int plm_doc_main(int argc, char **argv, const char *table, const char *program, void (*put)(FILE *out));

/* A paragraph, broken between words within the 120 columns that the prose of pages has. */
void plm_doc_paragraph(FILE *out, const char *text);

#endif
