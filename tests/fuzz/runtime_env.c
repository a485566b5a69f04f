/* Runtime environments of Ray: whatever they say, a variable has a name's place and a value's, and an error has a sentence. */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "fuzz.h"
#include "world/runtime_env.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plm_runtime_env env = {0};
    struct plm_error error = {0};
    MUST(!plm_runtime_env_read("env.yaml", (const char *)data, size, &env, &error) || error.text[0]);
    for (size_t i = 0; i < env.count; i++)
        MUST(strchr(env.variable[i], '='));
    MUST(!env.folder || !strstr(env.folder, "://"));
    plm_runtime_env_free(&env);
    return 0;
}
