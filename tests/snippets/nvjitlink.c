/* nvJitLink: what it says of itself. */
#include "snippet.h"

SNIPPET(nvJitLinkVersion)
{
    unsigned major = 0, minor = 99;
    CHECK(CALL(int, nvJitLinkVersion, (unsigned *, unsigned *), (&major, &minor)) == 0);
    CHECK(major == (unsigned)snippet_cuda() && minor <= 9); /* no toolkit has a minor number of two digits */
    CHECK(CALL(int, nvJitLinkVersion, (unsigned *, unsigned *), (NULL, &minor)) != 0);
}
