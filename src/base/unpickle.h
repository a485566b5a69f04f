/*
 * Reads pickles that hold plain data: None, bool, int, float, str, bytes, tuple, list, dict. Nothing is ever executed or
 * imported: whatever asks for that (GLOBAL, REDUCE, BUILD, ...) is refused with a sentence that names the opcode.
 * Protocols 2 to 5.
 *
 * The input must stay where it is while the result is used: texts point into it. Memory is bounded by some twenty times
 * the size of the input, there is no recursion. Values are numbers; one may be in several places, also inside itself, so
 * who descends must know how deep, and who copies must count: a reference takes two bytes of the input, whatever it
 * stands for. plm_unpickle_values() is what to count against. One thread to read; any to look.
 */
#ifndef PLM_UNPICKLE_H
#define PLM_UNPICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_error;

enum plm_pickled {
    PLM_PICKLED_NONE,
    PLM_PICKLED_BOOL,
    PLM_PICKLED_INT,
    PLM_PICKLED_REAL,
    PLM_PICKLED_TEXT,
    PLM_PICKLED_BYTES,
    PLM_PICKLED_TUPLE,
    PLM_PICKLED_LIST,
    PLM_PICKLED_DICT
};

#define PLM_PICKLED_ABSENT UINT32_MAX

enum { PLM_PICKLED_LONGEST = 16 << 20 }; /* bytes of a text; longer ones are refused */

struct plm_unpickled;

/* PLM_EFORMAT for anything that is not such a pickle. The input may go on after the pickle's end. */
int plm_unpickle(const void *data, size_t size, struct plm_unpickled **out, struct plm_error *error);
/* The same for what PyTorch saves, whose tensors are calls of functions. None is called: a name is the text
   "MODULE\nNAME", a call the tuple of a name and its arguments, what lies in another file its description. OrderedDict() is
   an empty dict; what would be done to an object afterwards is left out. Other objects are refused as above. */
int plm_unpickle_calls(const void *data, size_t size, struct plm_unpickled **out, struct plm_error *error);
void plm_unpickle_free(struct plm_unpickled *pickle);

/* PLM_PICKLED_ABSENT is accepted as a value everywhere below; it is nothing and holds nothing. */
/* How many values were built; each takes a byte of the input at least. */
size_t plm_unpickle_values(const struct plm_unpickled *pickle);
/* The keys of the dict that has most: it is searched from its start to its end. */
size_t plm_unpickle_keys(const struct plm_unpickled *pickle);
uint32_t plm_unpickle_root(const struct plm_unpickled *pickle);
enum plm_pickled plm_unpickle_type(const struct plm_unpickled *pickle, uint32_t value);
/* Whether it is an int from 0 to 2^64-1, or a bool; and which. */
bool plm_unpickle_unsigned(const struct plm_unpickled *pickle, uint32_t value, uint64_t *out);
bool plm_unpickle_signed(const struct plm_unpickled *pickle, uint32_t value, int64_t *out);
bool plm_unpickle_real(const struct plm_unpickled *pickle, uint32_t value, double *out); /* also an int */
/* The bytes of a text, not terminated; NULL if it is none. */
const char *plm_unpickle_text(const struct plm_unpickled *pickle, uint32_t value, size_t *length);
bool plm_unpickle_is(const struct plm_unpickled *pickle, uint32_t value, const char *text);

/* Items of a tuple or a list; keys and values in turn of a dict. Others have none. */
struct plm_unpickle_walk {
    uint32_t run, at;
};
struct plm_unpickle_walk plm_unpickle_begin(const struct plm_unpickled *pickle, uint32_t value);
/* The next item; PLM_PICKLED_ABSENT after the last. */
uint32_t plm_unpickle_next(const struct plm_unpickled *pickle, struct plm_unpickle_walk *walk);
/* The last value that a dict has for a text; PLM_PICKLED_ABSENT if it has none, or is no dict. */
uint32_t plm_unpickle_find(const struct plm_unpickled *pickle, uint32_t dict, const char *key);

#endif
