#include "unit.h"

#include "base/secret.h"

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
    const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(stored)};
    return RUN(tests);
}
