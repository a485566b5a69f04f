#include "unit.h"

#include "base/secret.h"
#include "common/secret_shape.h"

#include <stdlib.h>

static const char *const secret[] = {
    "--token",
    "--hf-token",
    "--hub_token",
    "hfToken",
    "HFToken",
    "HF_TOKEN",
    "GITHUBTOKEN",
    "token2",
    "--api-key",
    "--api_key",
    "apiKey",
    "apikey",
    "WANDB_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "--key",
    "--private-key",
    "--image-api-key",
    "--password",
    "--db-password",
    "PGPASSWORD",
    "passwd",
    "MYSQL_PWD",
    "--passphrase",
    "--client-secret",
    "secret_value",
    "credential",
    "--credentials",
    "--auth",
    "HTTP_AUTHORIZATION",
    "wandb.api_key",
    "+trainer.auth.token",
    "-token",
    "--db-pass",
    "--passcode",
    "--creds",
    "--jwt",
    "--oauth2",
    "GITHUB_PAT",
    "sig",
    "X-Amz-Signature",
    "--api-keys",
    "secretkey",
    "--privatekey",
    "s3Key", /* a capital after a digit begins a part */
    "db2Auth",
};

static const char *const open_to_all[] = {
    "--tokenizer",
    "--tokenizer-name",
    "--max-tokens",
    "--max-new-tokens",
    "--max-token",
    "--pad-token",
    "--eos_token",
    "--key-value-heads",
    "--num-key-value-heads",
    "--keypoints",
    "--monkey",
    "--keyframe",
    "--text-key",
    "--image-key",
    "--sort-key",
    "--author",
    "--authors",
    "--num-token-per-batch",
    "--token-file",
    "--password-file",
    "--secretary",
    "--key-dim",
    "--lr",
    "--batch",
    "BATCH",
    "--passes",
    "--bypass",
    "--patience",
    "--sigma",
    "--state-dict-keys",
    "",
    "-",
    "--",
    "--2",
    "s3key",
    "--conv2Dims",
};

static void names(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(secret); i++)
        if (!plm_secret_name(secret[i], strlen(secret[i])))
            fail_msg("%s is not taken for a secret", secret[i]);
    for (size_t i = 0; i < COUNT(open_to_all); i++)
        if (plm_secret_name(open_to_all[i], strlen(open_to_all[i])))
            fail_msg("%s is taken for a secret", open_to_all[i]);
}

/* Words with | between them, and what becomes of them. */
static const struct {
    const char *given, *stored;
} commands[] = {
    {"python|train.py|--api-key|abc|--lr|1", "python|train.py|--api-key|***|--lr|1"},
    {"--cookie|abc|--cookie-jar|x|--cookie-file|y", "--cookie|***|--cookie-jar|x|--cookie-file|y"},
    {"--api-key=abc|x", "--api-key=***|x"},
    {"--password=two words; and=more", "--password=***"},
    {"env|HF_TOKEN=abc|BATCH=8|python", "env|HF_TOKEN=***|BATCH=8|python"},
    {"--use-auth-token|--model|gpt2", "--use-auth-token|--model|gpt2"},
    {"--tokenizer|gpt2|--key-value-heads|4|--max-tokens|512|--keypoints|17",
     "--tokenizer|gpt2|--key-value-heads|4|--max-tokens|512|--keypoints|17"},
    {"https://me:abc@host/x?y=1", "https://me:***@host/x?y=1"},
    {"--proxy=http://me:a@b@host:80", "--proxy=http://me:***@host:80"},
    {"https://abc@host/x.git", "https://***@host/x.git"},
    {"ssh://git@host/x.git", "ssh://git@host/x.git"},
    {"https://host/x?access_token=abc&size=5", "https://host/x?access_token=***&size=5"},
    {"sh|-c|python x.py --token abc --lr 1", "sh|-c|python x.py --token *** --lr 1"},
    {"sh|-c|export A=1 HF_TOKEN='a b' B=2; x", "sh|-c|export A=1 HF_TOKEN='***' B=2; x"},
    {"{\"user\": \"me\", \"password\": \"abc\", \"lr\": 1}", "{\"user\": \"me\", \"password\": \"***\", \"lr\": 1}"},
    {"Authorization: Bearer abc", "Authorization: ***"},
    {"Bearer abc|--bearing 3", "Bearer ***|--bearing 3"},
    {"os.environ['HF_TOKEN']='abc'; x", "os.environ['HF_TOKEN']='***'; x"},
    {"login(token=\\\"abc\\\", lr=1)", "login(token=\\\"***\", lr=1)"},
    {"{\\\"key\\\": \\\"abc\\\", \\\"lr\\\": 1}", "{\\\"key\\\": \\\"***\", \\\"lr\\\": 1}"},
    {"sh|-c|x --token \\\n  abc --lr 1", "sh|-c|x --token \\\n  *** --lr 1"},
    {"https://host/x?sig=abc&size=5", "https://host/x?sig=***&size=5"},
    {"-H|x: y; Authorization: Bearer abc", "-H|x: y; Authorization: ***"},
    {"--token", "--token"},
    {"|", "|"},
    {"--token||x", "--token|***|x"},
    {"\xff=\xfe --token \xff", "\xff=\xfe --token ***"},
};

#define TWENTY "aB3dE6gH9jK2mN5pQ8sT"
#define FORTY  TWENTY TWENTY
#define JWT    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP-mB92K27uhbU_U1p"

static const struct {
    const char *given, *shown;
} shapes[] = {
    {"hf_" FORTY, "hf_***"},
    {"--model=hf_" FORTY ",x", "--model=hf_***,x"},
    {"/data/hf_" FORTY "/model", "/data/hf_***/model"},
    {"ghp_" FORTY, "ghp_***"},
    {"gho_" FORTY " and ghs_" FORTY, "gho_*** and ghs_***"},
    {"github_pat_" TWENTY "_" FORTY, "github_pat_***"},
    {"glpat-" TWENTY, "glpat-***"},
    {"sk-" FORTY, "sk-***"},
    {"sk-proj-" FORTY "_x", "sk-***"},
    {"(sk-ant-api03-" FORTY ")", "(sk-***)"},
    {"AKIAIOSFODNN7EXAMPLE", "AKIA***"},
    {"id AKIAIOSFODNN7EXAMPLE.", "id AKIA***."},
    {"xoxb-123456789012-abcdefghijkl", "xoxb-***"},
    {"AIza" TWENTY "aB3dE6gH9jK2mN5", "AIza***"},
    {JWT, "eyJ***"},
    {"Cookie " JWT "; x", "Cookie eyJ***; x"},
    {"https://me:pw4@host/x", "https://me:***@host/x"},
    {"cannot read s3://me:p:w@d@host/x: no", "cannot read s3://me:***@host/x: no"},
    {"redis://:hush@host", "redis://:***@host"},
    {"http://me:a@host", "http://me:*@host"}, /* never longer than it was */
    {"hf_" FORTY "hf_" FORTY, "hf_***_" FORTY}, /* a token has no underscore: what follows is another word */
    {"\xff"
     "hf_" FORTY "\xff",
     "\xff"
     "hf_***\xff"},
};

static const char *const no_secrets[] = {
    "sk-learn",
    "scikit-sk-learn-0.24",
    "sk-learn-contrib-imbalanced-learn-0.12",
    "task-" FORTY,
    "disk-" FORTY,
    "hf_model_name",
    "hf_transformers_checkpoint_of_a_long_name_2024",
    "half_" FORTY,
    "ghp_short",
    "ghpages_" FORTY,
    "github_pat",
    "AKIA",
    "AKIAIOSFODNN7EXAMPL",    /* one too few */
    "AKIAIOSFODNN7EXAMPLES",  /* one too many */
    "AKIAIOSFODNN7EXAMPLEs",
    "XAKIAIOSFODNN7EXAMPLE",  /* within a word */
    "AKIAiosfodnn7example",
    "eyJhbGciOiJIUzI1NiJ9",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0",
    "eyJ.eyJ.x",
    "keyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP",
    "xoxb-12",
    "user@host:/data/x",
    "me@example.org",
    "http://host:8080/x@y",
    "ssh://git@host/x.git",
    "https://host/a:b@c",
    "C://x",
    "://",
    "a:b@c",
    "",
};

static void by_shape(void **state)
{
    char text[256];
    bool next = false;
    (void)state;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        char *masked = plm_secret_mask(shapes[i].given, &next);
        plm_hide_secrets(strcpy(text, shapes[i].given));
        assert_string_equal(text, shapes[i].shown);
        assert_false(strstr(masked, TWENTY) && strncmp(shapes[i].given, "hf_" FORTY "hf_", 46) != 0);
        free(masked);
    }
    for (size_t i = 0; i < COUNT(no_secrets); i++) {
        plm_hide_secrets(strcpy(text, no_secrets[i]));
        assert_string_equal(text, no_secrets[i]);
    }
}

static void stored(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(commands); i++) {
        char given[256], now[512] = "", *rest = given, *word;
        bool next = false;
        strcpy(given, commands[i].given);
        while ((word = strsep(&rest, "|"))) {
            char *masked = plm_secret_mask(word, &next);
            strcat(strcat(now, masked), rest ? "|" : "");
            free(masked);
        }
        assert_string_equal(now, commands[i].stored);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(stored), cmocka_unit_test(by_shape)};
    return RUN(tests);
}
