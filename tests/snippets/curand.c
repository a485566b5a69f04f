/* cuRAND: what it says of itself. */
#include "snippet.h"

SNIPPET(curandGetVersion)
{
    int version = 0;
    CHECK(CALL(int, curandGetVersion, (int *), (&version)) == 0);
    CHECK(version / 1000 == 10);
}

SNIPPET(curandGetProperty)
{
    int major = 0;
    CHECK(CALL(int, curandGetProperty, (int, int *), (0, &major)) == 0);
    CHECK(major == 10);
    CHECK(CALL(int, curandGetProperty, (int, int *), (7, &major)) != 0);
}
