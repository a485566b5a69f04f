/* What the elements of arrays and textures are made of. */
#include "shim/cudart/runtime.h"

/* Bits of each component, and the kind of number that they are. */
struct channel {
    int bits[4];
    int kind;
};

PLM_API struct channel cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
    return (struct channel){{x, y, z, w}, kind};
}
