/* tests/test_library_python.c - examples/ in Python, beside the program. PYTHON names another than python3; where it or
 * NumPy is not there, the tests are skipped, in print. */
#include "build.h"
#include "program.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Python with the words args, from the project's folder; its exit code. */
static int python(const char *args) {
    int rc = shell("PYTHONPATH=examples \"${PYTHON:-python3}\" -B %s", args);
    if (rc) printf("    %s%s\n", out, said);
    return rc;
}

/* 1 where Python, NumPy and the library are there; else a skip. */
static int ready(const char *module) {
    if (test_sanitized) test_skip("Python has no sanitizer in it");
    else if (shell("\"${PYTHON:-python3}\" -c 'import %s'", module))
        test_skip("PYTHON=.. names no Python that has what this needs");
    else if (make_library("lib")) test_fail(__FILE__, __LINE__, "make lib");
    else return 1;
    return 0;
}

static const char begin[] = "-c 'import roformer as r, numpy as np, sys; m = r.Model(sys.argv[1] or None); ";

/* The line of Python behind `begin`, with the model's path as its word. */
static int line(const char *text, const char *model) {
    char args[2500];
    snprintf(args, sizeof args, "%s%s' '%s'", begin, text, model);
    return python(args);
}

static void logits(void) {
    static const char *const models[] = {"model/tales-1m.gguf", "model/tales-1m-linear.gguf", "model/lab-1m.gguf"};
    if (!ready("numpy")) return;
    for (int i = 0; i < 3; i++) {
        CHECK(run("logits %s --ids 1,435,461,261,409,7 --all", models[i]) == 0);
        char *expected = taken_out();
        CHECK(line("s = m.session(cache=None if m.is_linear else \"f32\"); "
                   "x = s.eval([1, 435, 461, 261, 409, 7], all=True); s.rewind(); s.eval([1, 435, 461]); "
                   "assert (s.eval([261, 409, 7]) == x[-1]).all() and s.position == 6; "
                   "print(\"\\n\".join(\" \".join(\"%.9g\" % v for v in row) for row in x))", models[i]) == 0);
        CHECK(strcmp(out, expected) == 0); /* nine digits: the same bits */
        free(expected);
    }
}

static void texts(void) {
    if (!ready("numpy")) return;
    CHECK(run("-i 'Tom had' -s 5 -t 0.8 --top-k 40 --stop ball --max-tokens 60 -q") == 0);
    char *expected = taken_out();
    CHECK(line("p = []; s = m.session(); t = s.write(\"Tom had\", 60, [\"ball\"], p.append, temperature=.8, top_p=.9, "
               "top_k=40, seed=5); assert \"\".join(p) == t and s.n_new > 0 and s.end in (\"stop\", \"length\"); "
               "print(\"Tom had\" + t)", "") == 0);
    CHECK(strcmp(out, expected) == 0);
    free(expected);
    CHECK(run("embed model/words-1m.gguf 'the dog' --normalize") == 0);
    expected = taken_out();
    CHECK(line("v = m.embed([\"a cat\", \"the dog\"], normalize=1)[1]; print(*(\"%.9g\" % x for x in v))",
               "model/words-1m.gguf") == 0);
    CHECK(strcmp(out, expected) == 0);
    free(expected);
    CHECK(line("ids = m.tokenize(\"caf\\u00e9!\"); assert m.detokenize(ids) == \"caf\\u00e9!\" and ids[0] == m.bos; "
               "a = m.attention(ids, 1); assert np.allclose(np.nansum(a, 2), 1) and np.isnan(a[0, 0, 1]); "
               "assert np.array_equal(a[2], m.attention(ids, 1, 2), equal_nan=True) and m.arch == \"llama\"", "") == 0);
    CHECK(python("examples/attention.py '' 'Tom ran. Tom ran.' 1 0") == 0 && count_lines(out) > 6);
}

/* What fails is an exception with the library's line; a callback's goes through. */
static void errors(void) {
    if (!ready("numpy")) return;
    CHECK(line("\nfor f, kind, words in ((lambda: r.Model(\"/nowhere\"), r.Error, \"/nowhere: No such file\"), "
               "(lambda: m.session(cache=\"f64\"), r.Error, \"f32, f16\"), "
               "(lambda: m.session(room=1), TypeError, \"n_ctx\"), "
               "(lambda: m.session().eval([9999999]), r.Error, \"9999999\"), "
               "(lambda: m.write(\"a\", on_text=lambda t: t.nothing), AttributeError, \"nothing\"), "
               "(lambda: m.write(\"a\", stops=[\"b\", \"c\\0d\"]), ValueError, \"has a 0\"), "
               "(lambda: m.session().save(\"a\\0b\"), ValueError, \"has a 0\"), "
               "(lambda: r.Model(rope=\"yarn\\0:factor=2\"), ValueError, \"has a 0\"), "
               "(lambda: m.sampler(temperature=-1), r.Error, \"temperature\")):\n"
               "    try: f(); print(\"no error\")\n"
               "    except kind as e: assert words in str(e), e\n", "") == 0 && *out == 0);
    const char *alone = test_folder("alone"); /* where no library is, unless one is installed */
    CHECK(shell("cp examples/roformer.py %s && cd %s && \"${PYTHON:-python3}\" -B -c 'import roformer'", alone,
                alone) != 0 && strstr(said, "make lib"));
}

/* A closed handle is told from an open one, and a model stays open for what was made of it: also behind `with`, inside
 * a call that is under way, and where the garbage collector finds all of them at once. */
static void closed(void) {
    if (!ready("numpy")) return;
    CHECK(line("\ndef left():\n"
               "    with r.Model() as n: it = n.session(n_ctx=64), n.embedder(), n.sampler(), n.tokenize(\"Tom\")\n"
               "    return (n, *it)\n"
               "n, s, e, p, ids = left()\n"
               "assert (s.eval(ids) == m.session(n_ctx=64).eval(ids)).all() and s.position == len(ids)\n"
               "assert (e.embed(\"a cat\") == m.embed(\"a cat\")).all() and e.width == m.d_model\n"
               "assert p.sample(s.eval(ids)) >= 0\n"
               "assert s.write(\" had\", 5, sampler=p) and s.write(\".\", 5, seed=2)\n"
               "for x in s, e, p: x.close(); x.close()\n"
               "for f in (lambda: n.vocab_size, lambda: n.arch, lambda: n.tokenize(\"a\"), lambda: n.detokenize([5]), "
               "lambda: n.piece(5), lambda: n.session(), lambda: n.embedder(), lambda: n.sampler(), "
               "lambda: n.write(\"a\"), lambda: n.embed(\"a\"), lambda: n.attention([1, 5], 0), n.__enter__, "
               "lambda: s.position, lambda: s.eval(ids), lambda: s.eval(ids, all=True), s.rewind, "
               "lambda: s.save(\"x\"), lambda: s.load(\"x\"), lambda: s.write(\"a\"), s.__enter__, "
               "lambda: e.width, lambda: e.embed(\"a\"), lambda: p.sample(np.zeros(m.vocab_size)), "
               "lambda: m.session().write(\"a\", sampler=p)):\n"
               "    try: f(); print(\"no error\")\n"
               "    except r.Error as x: assert x.errno == 22 and \"is closed\" in str(x), x\n", "") == 0 && *out == 0);
    CHECK(line("\nimport gc\n"
               "s = m.session(); m.close()\n"
               "assert s.write(\"Tom\", 9, on_text=lambda t: s.close())\n"
               "def ring():\n"
               "    n = r.Model(); n.s = n.session(progress=lambda done, total: n.s is None); n.s.eval([1, 5])\n"
               "for i in range(20): ring()\n"
               "gc.collect(); assert not r._Made._models", "") == 0);
}

/* The structs have C's layout. */
static void structs(void) {
    static const char source[] =
        "#include <roformer.h>\n#include <stdio.h>\n#define P(T, f) printf(\"%zu %zu\\n\", sizeof(T), offsetof(T, f))\n"
        "int main(void) {\n    P(RoformerOptions, panels);\n    P(RoformerSessionOptions, progress_arg);\n"
        "    P(RoformerSamplerOptions, seed);\n    P(RoformerWriteOptions, lookup);\n    P(RoformerWritten, end);\n"
        "    P(RoformerEmbedOptions, threads);\n    P(RoformerBias, bias);\n}\n";
    if (!ready("numpy")) return;
    file_write(test_tmp("sizes.c"), source, strlen(source));
    CHECK(shell("cc -I. %s -o %s && %s", test_tmp("sizes.c"), test_tmp("sizes"), test_tmp("sizes")) == 0);
    char *expected = taken_out();
    CHECK(line("[print(r.c.sizeof(t), getattr(t, t._fields_[-1][0]).offset) for t in (r._Options, r._SessionOptions, "
               "r._SamplerOptions, r._WriteOptions, r._Written, r._EmbedOptions, r._Bias)]", "") == 0);
    CHECK(strcmp(out, expected) == 0);
    free(expected);
}

/* The harness's command line with our model; and document by document beside its own, where torch is there, too. */
static void harness(void) {
    if (!ready("numpy, lm_eval")) return;
    CHECK(python("examples/lm_eval_roformer.py --model roformer --model_args path=model/tales-1m.gguf,max_length=128 "
                 "--tasks roformer_choice --include_path tests/oracle/lm_eval") == 0);
    CHECK(strstr(out, "acc_norm"));
    if (ready("torch, transformers, accelerate")) CHECK(python("tests/oracle/lm_eval_hf.py") == 0);
}

const Test tests_library_python[] = {{"library/python logits", logits}, {"library/python texts", texts},
                                     {"library/python errors", errors}, {"library/python closed", closed},
                                     {"library/python structs", structs},
                                     {"library/python lm-evaluation-harness", harness}, {0}};
