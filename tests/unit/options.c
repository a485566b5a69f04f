#include "base/options.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "unit.h"

struct inner {
    int number;
    uint64_t size;
};

static struct values {
    bool flag;
    const char *text, *program, *color, *json;
    struct inner inner;
} v;

static const struct plm_option included[] = {
    {"max-steps", 's', PLM_OPTION_NUMBER, offsetof(struct inner, number), .argument = "N", .help = "steps", .least = 1,
     .most = 64, .instead = "--all is more", .configurable = true},
    {"limit", 0, PLM_OPTION_SIZE, offsetof(struct inner, size), .argument = "SIZE", .help = "a limit"},
    {0},
};

static const struct plm_option options[] = {
    {"bounded", 0, PLM_OPTION_FLAG, offsetof(struct values, flag), .help = "a flag", .configurable = true},
    {.include = included, .at = offsetof(struct values, inner)},
    {"gpu", 'g', PLM_OPTION_TEXT, offsetof(struct values, text), .argument = "NAME", .help = "a card",
     .configurable = true},
    {"python", 0, PLM_OPTION_TEXT, offsetof(struct values, program), .argument = "PROGRAM", .help = "a program",
     .configurable = true, .own = true},
    {"color", 0, PLM_OPTION_CHOICE, offsetof(struct values, color), .argument = "WHEN", .help = "colours",
     .among = "auto always never", .configurable = true},
    {"json", 0, PLM_OPTION_OUTPUT, offsetof(struct values, json), .argument = "[FILE]", .help = "a document",
     .among = "json"},
    {0},
};

static const struct plm_option no_settings[] = {
    {"json", 0, PLM_OPTION_FLAG, offsetof(struct values, flag), .help = "a flag"},
    {0},
};

static int parse(int argc, const char **argv, int *rest, struct plm_error *error)
{
    int unused;
    return plm_options_parse(options, &v, "run", argc, (char **)argv, rest ? rest : &unused, error);
}

#define PARSE(rest, error, ...) \
    parse((int)COUNT(((const char *[]){__VA_ARGS__})), (const char *[]){__VA_ARGS__}, rest, error)

/* No configuration of the machine's takes part. */
static int clean(void **state)
{
    (void)state;
    memset(&v, 0, sizeof v);
    unsetenv("PLIMSOLL_CONFIG");
    unsetenv("PLIMSOLL_GPU");
    unsetenv("PLIMSOLL_BOUNDED");
    unsetenv("PLIMSOLL_MAX_STEPS");
    setenv("XDG_CONFIG_HOME", unit_folder(), 1);
    unlink("plimsoll.ini");
    unlink(unit_path("plimsoll/config.ini"));
    return 0;
}

static void flags(void **state)
{
    int rest = -1;
    (void)state;
    assert_int_equal(PARSE(&rest, NULL, "--gpu", "a100", "-s", "7", "--limit=24g", "--bounded", "cmd", "--gpu"), 0);
    assert_int_equal(rest, 6);
    assert_string_equal(v.text, "a100");
    assert_int_equal(v.inner.number, 7);
    assert_int_equal(v.inner.size, 24 * GIB);
    assert_true(v.flag);
}

/* Rows of an included table stand where it is included, with offsets of the outer struct. */
static void rows_in_order(void **state)
{
    struct plm_option row[PLM_OPTIONS_MOST];
    (void)state;
    assert_int_equal(plm_options_list(options, row), 8);
    assert_string_equal(row[0].name, "bounded");
    assert_string_equal(row[1].name, "max-steps");
    assert_int_equal(row[1].at, offsetof(struct values, inner.number));
    assert_int_equal(row[2].at, offsetof(struct values, inner.size));
    assert_string_equal(row[3].name, "gpu");
    assert_string_equal(row[7].name, "config"); /* there are settings */
    assert_int_equal(plm_options_list(no_settings, row), 1);
    assert_int_equal(plm_options_list(NULL, row), 0);
}

static void two_dashes_end(void **state)
{
    int rest = -1;
    (void)state;
    assert_int_equal(PARSE(&rest, NULL, "--gpu=t4", "--", "--gpu", "x"), 0);
    assert_int_equal(rest, 2);
    assert_string_equal(v.text, "t4");
    assert_int_equal(PARSE(&rest, NULL, "-"), 0); /* a word, not an option */
    assert_int_equal(rest, 0);
    assert_int_equal(PARSE(&rest, NULL, "--bounded=no"), 0);
    assert_false(v.flag);
}

static void mistakes(void **state)
{
    static const struct {
        const char *word, *message;
    } rows[] = {
        {"--nothing", "unknown option '--nothing'"},
        {"-x", "unknown option '-x'"},
        {"--gpux", "unknown option '--gpux'"},
        {"--gp", "unknown option '--gp'"},
        {"--gup", "did you mean --gpu? `plimsoll run --help` lists them"},
        {"--bound=yes", "did you mean --bounded?"},
        {"--max-steps=0", "--max-steps takes a number from 1 to 64, not 0; --all is more"},
        {"--max-steps=65", "takes a number from 1 to 64, not 65"},
        {"--max-steps=+3", "'+3' is not a whole number"},
        {"--color=blue", "--color takes auto, always or never, not 'blue'"},
        {"--color=auto always", "not 'auto always'"},
        {"--color=", "--color needs a value"},
        {"--limit=22", "--limit: 22 of what? Write 22GiB, 22GB or 22MiB"},
        {"--limit=1.5", "1.5 of what?"},
        {"--gpu", "--gpu needs a value"},
        {"--max-steps=-1", "'-1' is not a whole number"},
        {"--max-steps=7x", "'7x' is not a whole number"},
        {"--max-steps=", "--max-steps needs a value"},
        {"--max-steps=99999999999", "99999999999 is too large"},
        {"--limit=much", "'much' is not a size"},
        {"--bounded=maybe", "--bounded takes no value here, but was given 'maybe'"},
    };
    struct plm_error error;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(PARSE(NULL, &error, rows[i].word), PLM_EINVAL);
        assert_contains(error.text, rows[i].message);
    }
}

/* An option whose value was forgotten does not take the next option, or the end of the options, for it. */
static void forgotten_values(void **state)
{
    struct plm_error error;
    int rest;
    (void)state;
    assert_int_equal(PARSE(NULL, &error, "--gpu", "--", "true"), PLM_EINVAL);
    assert_contains(error.text, "--gpu needs a value");
    assert_int_equal(PARSE(NULL, &error, "--gpu", "--bounded"), PLM_EINVAL);
    assert_int_equal(PARSE(&rest, NULL, "--gpu=--", "true"), 0);
    assert_string_equal(v.text, "--");
    assert_int_equal(PARSE(NULL, NULL, "--limit", "0"), 0);
    assert_int_equal(PARSE(NULL, NULL, "--limit=23622320128"), 0); /* these are bytes */
    assert_int_equal(v.inner.size, 22 * GIB);
}

/* Without a value it is standard output; the next word is never taken for one, and never run where it might have been. */
static void outputs(void **state)
{
    static const char *const refused[][4] = {
        {"--json", "./out", "--", "true"}, {"--json", "a.json", "--", "true"}, {"--json", "-", "--", "true"},
        {"--json", "python", "train.py"},  {"--bounded", "--json", "./out"},
    };
    struct plm_error error;
    int rest = -1;
    (void)state;
    assert_int_equal(PARSE(&rest, NULL, "--json", "--", "true"), 0);
    assert_string_equal(v.json, "-");
    assert_int_equal(rest, 2);
    assert_int_equal(PARSE(&rest, NULL, "--json=a.json", "--bounded", "x"), 0);
    assert_string_equal(v.json, "a.json");
    assert_true(v.flag);
    assert_int_equal(PARSE(&rest, NULL, "--json=report", "x"), 0);
    assert_string_equal(v.json, "report");
    assert_int_equal(rest, 1);
    assert_int_equal(PARSE(&rest, NULL, "--json", "--bounded", "x"), 0);
    assert_string_equal(v.json, "-");
    assert_int_equal(rest, 2);
    assert_int_equal(PARSE(&rest, NULL, "--json"), 0);
    assert_string_equal(v.json, "-");
    for (size_t i = 0; i < COUNT(refused); i++) {
        int words = 0;
        while (words < 4 && refused[i][words])
            words++;
        assert_int_equal(parse(words, (const char **)refused[i], NULL, &error), PLM_EINVAL);
        assert_contains(error.text, "--json takes its file as --json=FILE");
    }
}

/* Where there is a "--", the command begins behind it. */
static void words_before_dashes(void **state)
{
    struct plm_error error;
    int rest = -1;
    (void)state;
    assert_int_equal(PARSE(&rest, &error, "--bounded", "./out", "--", "true"), PLM_EINVAL);
    assert_contains(error.text, "'./out' is not an option");
    assert_int_equal(PARSE(&rest, &error, "--gpu", "t4", "l4", "--", "true"), PLM_EINVAL);
    assert_int_equal(PARSE(&rest, &error, "--bounded", "--", "env", "--", "true"), 0);
    assert_int_equal(rest, 2);
    assert_int_equal(PARSE(&rest, &error, "--bounded", "env", "true"), 0);
    assert_int_equal(rest, 1);
}

static void write_text(const char *path, const char *text)
{
    unit_write(path, text, strlen(text));
}

static void nearer_wins(void **state)
{
    (void)state;
    mkdir(unit_path("plimsoll"), 0777);
    write_text(unit_path("plimsoll/config.ini"), "[run]\ngpu = user\nmax-steps = 1\n[other]\nanything = 1\n");
    assert_int_equal(PARSE(NULL, NULL, "--"), 0);
    assert_string_equal(v.text, "user");
    write_text("plimsoll.ini", "[run]\ngpu = here\n");
    assert_int_equal(PARSE(NULL, NULL, "--"), 0);
    assert_string_equal(v.text, "here");
    assert_int_equal(v.inner.number, 1);
    setenv("PLIMSOLL_GPU", "environment", 1);
    setenv("PLIMSOLL_MAX_STEPS", "2", 1);
    assert_int_equal(PARSE(NULL, NULL, "--"), 0);
    assert_string_equal(v.text, "environment");
    assert_int_equal(v.inner.number, 2);
    assert_int_equal(PARSE(NULL, NULL, "--gpu", "flag"), 0);
    assert_string_equal(v.text, "flag");
}

static struct plm_error among_error;

static int among(int argc, const char **argv, const char *word[2], int *words)
{
    return plm_options_among(options, &v, "run", argc, (char **)argv, word, 2, words, &among_error);
}

#define AMONG(word, words, ...) \
    among((int)COUNT(((const char *[]){__VA_ARGS__})), (const char *[]){__VA_ARGS__}, word, words)

static void among_words(void **state)
{
    const char *word[2] = {NULL, NULL};
    int words = -1;
    (void)state;
    setenv("PLIMSOLL_GPU", "environment", 1);
    assert_int_equal(AMONG(word, &words, "--gpu", "flag", "a", "-s", "3", "b", "--bounded"), 0);
    assert_int_equal(words, 2);
    assert_string_equal(word[0], "a");
    assert_string_equal(word[1], "b");
    assert_string_equal(v.text, "flag"); /* also with words and options behind it */
    assert_true(v.flag && v.inner.number == 3);
    assert_int_equal(AMONG(word, &words, "--", "--gpu", "-x", "c"), 0);
    assert_int_equal(words, 3);
    assert_string_equal(word[0], "--gpu");
    assert_string_equal(word[1], "-x");
    assert_int_equal(AMONG(word, &words, "a", "--gpu", "--", "b"), PLM_EINVAL);
    assert_int_equal(AMONG(word, &words, "a", "--nothing"), PLM_EINVAL);
    assert_int_equal(AMONG(word, &words, "--bounded"), 0);
    assert_int_equal(words, 0);
}

/* A word is one that the command reads unless it looks like the file to write, or is one too many. */
static void outputs_among_words(void **state)
{
    static const char message[] = "--json takes its file as --json=FILE, not as the next word";
    const char *word[2] = {NULL, NULL};
    int words = -1;
    (void)state;
    assert_int_equal(AMONG(word, &words, "--json", "a.plm", "b.plm"), 0);
    assert_int_equal(words, 2);
    assert_string_equal(v.json, "-");
    assert_string_equal(word[0], "a.plm");
    assert_int_equal(AMONG(word, &words, "a.plm", "--json", "r.json"), PLM_EINVAL);
    assert_contains(among_error.text, message);
    assert_int_equal(AMONG(word, &words, "--json", "-", "a.plm"), PLM_EINVAL);
    assert_contains(among_error.text, message);
    assert_int_equal(AMONG(word, &words, "--json", "./out", "a.plm", "b.plm"), PLM_EINVAL);
    assert_contains(among_error.text, "not as the next word './out'");
    assert_int_equal(AMONG(word, &words, "--json=./out", "a.plm", "b.plm"), 0);
    assert_int_equal(AMONG(word, &words, "--json", "--", "r.json"), 0);
    assert_int_equal(words, 1);
}

/* Commands that are sides of one share a section; each refuses the flags of the others, and passes their settings over. */
static void elsewhere(void **state)
{
    static const struct plm_option other[] = {
        {"speed", 'v', PLM_OPTION_NUMBER, 0, .argument = "N", .help = "a speed", .configurable = true},
        {"gone", 0, PLM_OPTION_FLAG, 0, .instead = "write --speed"},
        {"gpu", 0, PLM_OPTION_TEXT, 0, .argument = "NAME", .help = "another card", .configurable = true},
        {0},
    };
    static const struct plm_option both[] = {{.include = options}, {.include = other, .elsewhere = "judge time"}, {0}};
    static const struct {
        const char *word, *message;
    } rows[] = {
        {"--speed", "--speed is for `plimsoll judge time`; this is `plimsoll judge memory`"},
        {"-v", "--speed is for `plimsoll judge time`"},
        {"--gone", "--gone was removed; write --speed"},
        {"--sped", "unknown option '--sped'; `plimsoll judge memory --help` lists them"},
    };
    struct plm_error error;
    int rest;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *argv[] = {(char *)rows[i].word};
        assert_int_equal(plm_options_parse(both, &v, "judge memory", 1, argv, &rest, &error), PLM_EINVAL);
        assert_contains(error.text, rows[i].message);
    }
    write_text("plimsoll.ini", "[judge]\nspeed = 3\ngpu = here\n");
    setenv("PLIMSOLL_SPEED", "fast", 1);
    assert_int_equal(plm_options_parse(both, &v, "judge memory", 0, NULL, &rest, &error), 0);
    assert_string_equal(v.text, "here"); /* of two rows the command's own counts */
    assert_false(v.flag);
    unsetenv("PLIMSOLL_SPEED");
    write_text("plimsoll.ini", "[judge]\nspede = 3\n");
    assert_int_equal(plm_options_parse(both, &v, "judge memory", 0, NULL, &rest, &error), PLM_EINVAL);
    assert_contains(error.text, "plimsoll.ini:2: spede is not a setting of [judge]; did you mean speed?");
}

static void wrong_config(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"[run]\n\nspeed = 9\n", "plimsoll.ini:3: speed is not a setting of [run]"},
        {"[run]\nmax-step = 9\n", "plimsoll.ini:2: max-step is not a setting of [run]; did you mean max-steps?"},
        {"[run]\nlimit = 1g\n", "plimsoll.ini:2: limit is not a setting of [run]"}, /* flag only */
        {"[run]\nmax-steps = many\n", "plimsoll.ini:2: max-steps: 'many' is not a whole number"},
        {"[run]\nmax-steps = 0\n", "plimsoll.ini:2: max-steps takes a number from 1 to 64, not 0"},
        {"[run]\ncolor = blue\n", "plimsoll.ini:2: color takes auto, always or never, not 'blue'"},
        {"[run]\nwhat\n", "plimsoll.ini:2: expected 'key = value'"},
    };
    struct plm_error error;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        write_text("plimsoll.ini", rows[i].text);
        assert_true(PARSE(NULL, &error, "--") < 0);
        assert_contains(error.text, rows[i].message);
    }
    unlink("plimsoll.ini");
    setenv("PLIMSOLL_MAX_STEPS", "x", 1);
    assert_int_equal(PARSE(NULL, &error, "--"), PLM_EINVAL);
    assert_contains(error.text, "PLIMSOLL_MAX_STEPS: 'x' is not a whole number");
}

/* A folder may be anybody's: what is run or written is for the user to say. */
static void own_settings(void **state)
{
    const char *word[2];
    struct plm_error error;
    int words;
    (void)state;
    write_text("plimsoll.ini", "[run]\ngpu = here\npython = ./evil\n");
    assert_int_equal(PARSE(NULL, &error, "--"), PLM_EINVAL);
    assert_contains(error.text, "plimsoll.ini:3: python names a program or a file to write");
    assert_int_equal(PARSE(NULL, &error, "--config", "plimsoll.ini"), 0);
    assert_string_equal(v.program, "./evil");
    write_text("other.ini", "[run]\ngpu = other\n");
    assert_int_equal(AMONG(word, &words, "a", "--config=other.ini", "--max-steps", "3"), 0); /* the last one counts */
    assert_string_equal(v.text, "other");
    assert_int_equal(PARSE(NULL, &error, "--config", "other.ini", "--gpu", "flag"), 0);
    assert_string_equal(v.text, "flag");
    assert_int_equal(PARSE(NULL, &error, "--config", "none.ini"), PLM_EINVAL);
    assert_contains(error.text, "none.ini: No such file");
    unlink("plimsoll.ini");
    unsetenv("PLIMSOLL_CONFIG");
    mkdir(unit_path("plimsoll"), 0777);
    write_text(unit_path("plimsoll/config.ini"), "[run]\npython = mine\n");
    assert_int_equal(PARSE(NULL, &error, "--"), 0);
    assert_string_equal(v.program, "mine");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(flags, clean),
        cmocka_unit_test_setup(two_dashes_end, clean),
        cmocka_unit_test_setup(mistakes, clean),
        cmocka_unit_test_setup(nearer_wins, clean),
        cmocka_unit_test_setup(elsewhere, clean),
        cmocka_unit_test_setup(wrong_config, clean),
        cmocka_unit_test_setup(own_settings, clean),
        cmocka_unit_test_setup(among_words, clean),
        cmocka_unit_test(rows_in_order),
        cmocka_unit_test_setup(forgotten_values, clean),
        cmocka_unit_test_setup(outputs, clean),
        cmocka_unit_test_setup(words_before_dashes, clean),
        cmocka_unit_test_setup(outputs_among_words, clean),
    };
    if (chdir(unit_folder()))
        return 1;
    return RUN(tests);
}
