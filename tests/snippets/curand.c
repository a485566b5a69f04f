/* cuRAND: what it says of itself. */
#include "snippet.h"

SNIPPET(curandGetVersion)
{
    int version = 0, part[3] = {0};
    CHECK(CALL(int, curandGetVersion, (int *), (&version)) == 0);
    CHECK(version / 1000 == 10);
    for (int i = 0; i < 3; i++) /* MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL */
        CHECK(CALL(int, curandGetProperty, (int, int *), (i, &part[i])) == 0);
    CHECK(part[1] && version == part[0] * 1000 + part[1] * 100 + part[2]); /* CURAND_VERSION */
}

SNIPPET(curandGetProperty)
{
    int major = 0;
    CHECK(CALL(int, curandGetProperty, (int, int *), (0, &major)) == 0);
    CHECK(major == 10);
    CHECK(CALL(int, curandGetProperty, (int, int *), (7, &major)) != 0);
}
