/* Checkpoints of PyTorch Lightning: a zip, a pickle in it, and tensors that the pickle describes. */
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "study/estimate/model_file.h"
#include "study/learn/network.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plm_error error = {0};
    struct plm_network n;
    char *text = NULL;
    size_t length = 0;
    FILE *out;
    if (plm_checkpoint_read(fuzz_file(data, size), 0, &n, &error)) {
        fuzz_sentence(&error);
        return 0;
    }
    /* What was taken can be written, and is text. */
    out = open_memstream(&text, &length);
    MUST(plm_model_file_save(out, n.method->name, plm_network_put, &n) == 0);
    fclose(out);
    fuzz_plain(text, length);
    free(text);
    plm_network_free(&n);
    return 0;
}
