/*
 * Releases of PyTorch. One is a number: 2015 is 2.15, whatever its patch level; 0 is none, or one that is not known.
 * The caching allocator's behaviour is known of three, each of which stands for others too. Constants; any thread,
 * nothing fails.
 */
#ifndef PLM_TORCH_RELEASE_H
#define PLM_TORCH_RELEASE_H

enum plm_torch { PLM_TORCH_2_6, PLM_TORCH_2_10, PLM_TORCH_2_15, PLM_TORCHES };

unsigned plm_torch_number(const char *version); /* of "2.11.0+cu128": 2011; 0 if the text is not a version */

/* The release that "2.11.0+cu128" behaves like; the newest if the text is NULL or not a version. */
enum plm_torch plm_torch_version(const char *version);
enum plm_torch plm_torch_of(unsigned number);
const char *plm_torch_name(enum plm_torch torch);    /* "2.10" */
unsigned plm_torch_stands_for(enum plm_torch torch); /* 2010 */

#endif
