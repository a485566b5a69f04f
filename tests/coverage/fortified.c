/* Which level of _FORTIFY_SOURCE the project is compiled with: 3 where the compiler has it. 77: the C library has none.
   meson.build knows of builds without it. */
#include <stdio.h>

#if defined(__clang__) ? __clang_major__ >= 12 : __GNUC__ >= 12
enum { EXPECTED = 3 };
#else
enum { EXPECTED = 2 };
#endif

int main(void)
{
#ifndef __GLIBC__
    return 77;
#else
    printf("level %d of %d\n", __USE_FORTIFY_LEVEL, EXPECTED);
    return __USE_FORTIFY_LEVEL < EXPECTED;
#endif
}
