/*
 * Which release of the mathematical libraries belongs to which CUDA toolkit. Shared by the shims of
 * cuBLAS, cuBLASLt, cuFFT and cuRAND. Read-only; any thread.
 */
#ifndef PLM_CUBLAS_RELEASES_H
#define PLM_CUBLAS_RELEASES_H

/* A release number has three parts: 12.4.5 is {12, 4, 5}. */
struct plm_library_version {
    int part[3];
};

struct plm_releases {
    int cuda; /* 12040 */
    struct plm_library_version cublas, cufft, curand;
};

/* Those of the toolkit the running PyTorch was built with: the newest that is not newer than it. */
const struct plm_releases *plm_releases(void);

/* The answer to the libraries' GetProperty(libraryPropertyType, int *): 0 = major, 1 = minor, 2 = patch
   level. Returns `invalid` for another type or no place to write to, else 0. */
int plm_library_version_property(const struct plm_library_version *release, int type, int *value, int invalid);

#endif
