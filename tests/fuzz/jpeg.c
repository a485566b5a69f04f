/* The heads of JPEG files, which the nvJPEG shim reads. */
#include "fuzz.h"
#include "shim/nvjpeg/header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plm_jpeg jpeg;
    if (plm_jpeg_parse(&jpeg, data, size) == 0 && (jpeg.width < 0 || jpeg.height < 0 || jpeg.components < 0))
        __builtin_trap();
    return 0;
}
