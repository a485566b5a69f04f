/* Which level of _FORTIFY_SOURCE the project is compiled with: 3 where the compiler has it. 77: it is not optimized, or
   sanitizers look instead. */
#include <stdio.h>

#if !defined(__has_feature)
#define __has_feature(name) 0
#endif
#if defined(__clang__) ? __clang_major__ >= 12 : __GNUC__ >= 12
enum { EXPECTED = 3 };
#else
enum { EXPECTED = 2 };
#endif

int main(void)
{
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || !defined(__GLIBC__)
    return 77;
#else
    printf("level %d of %d\n", __USE_FORTIFY_LEVEL, EXPECTED);
    return __USE_FORTIFY_LEVEL < EXPECTED;
#endif
}
