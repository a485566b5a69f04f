/* Stack files: what is accepted can be looked up, and reads the same when it is written again. */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "fuzz.h"
#include "stack/stack_file.h"

static void check_row(const struct plm_stack_file *s, const struct plm_stack_row *row)
{
    struct plm_stack_sizes sizes = plm_stack_file_find(s, &row->key);
    if (sizes.count != row->count || sizes.count < 1 || sizes.count > PLM_STACK_PLANS || sizes.fastest >= sizes.count)
        abort();
    for (int i = 0; i < sizes.count; i++)
        if (sizes.bytes[i] > 1ull << 50)
            abort();
}

/* The text of a description, read again, is the same description. */
static void check_texts(const char *text)
{
    char again[PLM_ROW_TEXT];
    struct plm_conv_shape conv, conv2;
    struct plm_rnn_shape rnn, rnn2;
    struct plm_fft_shape fft, fft2;
    struct plm_stack_row_key a, b;
    if (plm_conv_parse(text, &conv)) {
        if (!plm_conv_text(&conv, again, sizeof again) || !plm_conv_parse(again, &conv2))
            abort();
        a = plm_conv_key(&conv), b = plm_conv_key(&conv2);
    } else if (plm_rnn_parse(text, &rnn)) {
        if (!plm_rnn_text(&rnn, again, sizeof again) || !plm_rnn_parse(again, &rnn2))
            abort();
        a = plm_rnn_key(&rnn), b = plm_rnn_key(&rnn2);
    } else if (plm_fft_parse(text, &fft)) {
        if (!plm_fft_text(&fft, again, sizeof again) || !plm_fft_parse(again, &fft2))
            abort();
        a = plm_fft_key(&fft), b = plm_fft_key(&fft2);
    } else
        return;
    if (memcmp(&a, &b, sizeof a) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plm_stack_file *s = NULL;
    struct plm_error error = {0};
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *save = NULL, *line = strtok_r(text, "=\n", &save); line; line = strtok_r(NULL, "=\n", &save))
        check_texts(line);
    free(text);
    fuzz_ini("stack.ini", data, size);
    if (plm_stack_file_read("stack.ini", &s, &error) < 0) {
        if (s || !error.text[0])
            abort();
        return 0;
    }
    for (size_t i = 0; i < s->slots; i++)
        if (s->row[i].count)
            check_row(s, &s->row[i]);
    plm_stack_file_free(s);
    return 0;
}
