/* tests/test_topics.c - rope WHAT and explain WHAT as their users meet them: pictures, numbers, lines of C, refusals.
 */
#include "cli_files.h"
#include "base/json.h"
#include "program.h"
#include "test.h"

#include "build.h"

#include <stdlib.h>
#include <string.h>

#define M "model/tales-1m.gguf"
#define LINEAR "model/tales-1m-linear.gguf"
#define SENTENCE "\"Tom had a red ball. He liked it.\""

static const char *const commands[] = {"rope table",
                                       "rope table " M,
                                       "rope clock",
                                       "rope clock " M " --rope yarn:factor=4",
                                       "rope rotate 1,0,1,0 3",
                                       "rope rotate 1,2,3,4 -7 --pairing half",
                                       "rope decay",
                                       "rope decay --theta 500 --dims 64",
                                       "rope wavelengths",
                                       "rope wavelengths " M " --rope none,yarn,ntk -c 1024",
                                       "rope matrix 3",
                                       "rope matrix 5 " M,
                                       "rope relative",
                                       "rope axes text:3,image:2x3,text:2",
                                       "rope axes \"text:2 video:3x1x2\" --kind tie-v2",
                                       "explain " M " " SENTENCE " map",
                                       "explain " M " " SENTENCE " map --layer 4 --head 0",
                                       "explain " M " " SENTENCE " map --without-rope=4",
                                       "explain " LINEAR " " SENTENCE " map --head 1",
                                       "explain " M " " SENTENCE " heads",
                                       "explain " M " " SENTENCE " turn",
                                       "explain " M " " SENTENCE " score --query 5 --key 2",
                                       "explain " M " " SENTENCE " slide -c 64",
                                       "explain " M " " SENTENCE " shift --shift 77",
                                       "explain " M " " SENTENCE " pairing",
                                       "explain " M " " SENTENCE " use --layer 4 --head 0",
                                       "explain " LINEAR " " SENTENCE " state",
                                       "explain " M " " SENTENCE " lens",
                                       "explain " M " " SENTENCE " next -t 0.8",
                                       "explain " M " Tom map",
                                       "explain " M " \"\" next",
                                       "explain " LINEAR " " SENTENCE " lens"};
enum { N = sizeof commands / sizeof *commands };

/* "from FILE, FUNCTION: LINE": the line stands in that file, behind that function's name. */
static void check_citations(const char *command) {
    int seen = 0;
    for (const char *at = out; (at = strstr(at, "\nfrom ")) != NULL; seen++) {
        char file[100] = "", function[100] = "", line[300] = "";
        size_t n;
        int got = sscanf(at += 6, "%99[^,], %99[^:]: %299[^\n]", file, function, line);
        char *source = got == 3 ? file_read(file, &n) : NULL, *body = source ? strstr(source, function) : NULL;
        if (!body || !strstr(body, line)) printf("    %s: %s, %s: %s\n", command, file, function, line);
        CHECK(body && strstr(body, line));
        free(source);
    }
    CHECK(seen > 0);
}

static void pictures(void) {
    for (int i = 0; i < N; i++) {
        int code = run("%s -q", commands[i]);
        if (code || *said) printf("    %s: code %d, %s\n", commands[i], code, said);
        CHECK(code == 0 && *said == 0 && !strchr(out, 27)); /* no colours into a file */
        check_citations(commands[i]);
    }
}

/* As many fields in every line as in the first. */
static void numbers(void) {
    for (int i = 0; i < N; i++) {
        int code = run("%s -q --csv", commands[i]), fields = 0;
        CHECK(code == 0 && *said == 0);
        for (char *line = out; *line; line = strchr(line, '\n') + 1) {
            int n = 1, quoted = 0;
            for (char *s = line; *s != '\n'; s++) quoted ^= *s == '"', n += *s == ',' && !quoted;
            if (line == out) fields = n;
            if (n != fields) printf("    %s: %.60s\n", commands[i], line);
            CHECK(n == fields);
        }
        CHECK(fields > 2 && count_lines(out) > 1);
    }
}

static void svg(void) {
    const char *path = test_tmp("topic.svg");
    for (int i = 0; i < N; i++) {
        size_t n;
        remove(path);
        CHECK(run("%s -q --csv --svg %s", commands[i], path) == 0);
        char *text = file_read(path, &n);
        if (!text || n <= 300) printf("    %s\n", commands[i]);
        CHECK(text && strncmp(text, "<svg ", 5) == 0 && n > 300 && strcmp(text + n - 7, "</svg>\n") == 0);
        CHECK(text && !strstr(text, "nan") && !strstr(text, "inf "));
        free(text);
    }
}

static void wrong_use(void) {
    static const struct { int code; const char *command, *line;
    } rows[] = {{2, "rope", "needs to know what"},
                {2, "rope tabel", "there is no \"tabel\""},
                {2, "rope table x y", "one word too many"},
                {2, "rope table --dims 7", "not an even number"},
                {2, "rope table --theta 0", "theta"},
                {2, "rope table --theta x", "list of numbers"},
                {2, "rope table " M " --dims 8", "without a model"},
                {2, "rope table --q 1", "does not use --q"},
                {2, "rope rotate 1,0", "needs a vector and a position"},
                {2, "rope rotate 1,0 1.5", "no position"},
                {2, "rope rotate 1,0,1 1", "Q: 3 is not an even number"},
                {2, "rope rotate 1,0 1 --pairing both", "interleaved, half are known"},
                {2, "rope matrix", "needs a position"},
                {2, "rope matrix 1 --dims 256", "nobody reads"},
                {2, "rope relative --positions 999", "at most 200"},
                {2, "rope axes", "needs a layout"},
                {2, "rope axes image:2", "is not text:N"},
                {2, "rope axes text:2 --kind 2d", "places no text"},
                {2, "rope axes text:2 --kind 3d", "there is no \"3d\""},
                {2, "rope decay --q 1,2", "come together"},
                {2, "rope decay --q 1 --k 1", "entries turn"},
                {2, "rope wavelengths --rope foo", "there is no method"},
                {1, "rope table not-there.gguf", "not-there.gguf"},
                {1, "rope clock --svg /dev/full", "--svg"},
                {2, "explain", "needs a text and WHAT"}, {2, "explain " M " map", "needs a text in front of map"},
                {2, "explain " M " Tom", "needs to know what"},
                {2, "explain " M " Tom mapp", "there is no \"mapp\""},
                {2, "explain " M " Tom map x", "one word too many"},
                {2, "explain " M " Tom map --layer 6", "layers are 0 to 5"},
                {2, "explain " M " Tom map --head 4", "heads are 0 to 3"},
                {2, "explain " M " Tom turn --query 9", "tokens are 0 to"},
                {2, "explain " M " Tom turn --query 0 --key 1", "does not see"},
                {2, "explain " M " Tom map --query 1", "does not use --query"},
                {2, "explain " M " Tom map --without-rope=9", "no list of layers"},
                {2, "explain " M " Tom next -t 0", "draws nothing"},
                {1, "explain " M " Tom next -t 1e-40", "nothing is drawn"},
                {1, "explain " M " Tom state", "softmax attention"},
                {1, "explain " LINEAR " Tom score", "of softmax attention"},
                {1, "explain " M " Tom map --rope rerope", "several angles"},
                {2, "explain " M " Tom heads", "comes twice"},
                {1, "logits " M " --ids 1,2 --positions /dev/null", "holds no position"},
                {2, "logits " M " --ids 1,2 --axes tie", "goes with --positions"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int code = run("%s -q", rows[i].command);
        if (code != rows[i].code) printf("    %s: code %d, %s\n", rows[i].command, code, said);
        CHECK(code == rows[i].code && *out == 0 && said_line(rows[i].line));
    }
}

/* A folder of Hugging Face's has its pairs half a head apart: another pairing, as many numbers. llama2.c's file has
 * grouped heads as well. */
static void formats(void) {
    static const char *const topics[] = {"map",           "turn", "score", "slide -c 40",
                                         "use --layer 0", "lens", "heads", "pairing"};
    CliModel m = cli_model();
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
        CHECK(run("explain %s 'the sand and the sea' %s --csv -q", m.gguf, topics[i]) == 0);
        char *gguf = taken_out();
        CHECK(run("explain %s 'the sand and the sea' %s --csv -q", m.folder, topics[i]) == 0);
        CHECK(count_lines(out) == count_lines(gguf) && count_lines(out) > 1);
        CHECK(run("explain %s 'the sand and the sea' %s --csv -q", m.bin, topics[i]) == 0);
        free(gguf);
    }
}

/* A text of 2,000 tokens is binned, and says so; 32 heads fit; 40 columns hold. */
static void large(void) {
    const BuildShape many = {.d = 256, .ff = 64, .layers = 2, .heads = 32, .kv_heads = 8, .n_ctx = 2048};
    char text[2100];
    memset(text, 'a', 2000);
    for (int i = 0; i < 2000; i += 7) text[i] = ' ';
    text[2000] = 0;
    build_gguf(test_tmp("heads32.gguf"), &many, TENSOR_F32);
    CHECK(run("explain %s '%s' map -q --layer 1 --head 31", test_tmp("heads32.gguf"), text) == 0);
    CHECK(strstr(out, "tokens in 200"));
    CHECK(run("explain %s '%.200s' map -q --svg %s", test_tmp("heads32.gguf"), text, test_tmp("sheet.svg")) == 0);
    CHECK(strstr(out, "a column of maps") && strstr(out, " 31"));
    CHECK(run("explain %s Tom map --svg %s", test_tmp("heads32.gguf"), test_tmp("heads32.gguf")) == 1 &&
          said_line("is read by this command"));
}

/* Positions 0, 1, 2 .. are the usual ones, bit for bit, with one coordinate or three; all shifted, the same to
 * rounding; another place, other logits. */
static void positions(void) {
    CliModel m = cli_model();
    file_write(test_tmp("one"), "0\n1\n2\n3\n", 8);
    file_write(test_tmp("three"), "0 0 0\n1 1 1\n2 2 2\n3 3 3\n", 24);
    file_write(test_tmp("image"), "0 0 0\n1 1 1\n1 1 2\n3 3 3\n", 24);
    file_write(test_tmp("far"), "50\n51\n52\n53\n", 12);
    CHECK(run("logits %s --ids 1,5,9,11 --all", m.gguf) == 0);
    char *usual = taken_out();
    CHECK(run("logits %s --ids 1,5,9,11 --all --positions %s", m.gguf, test_tmp("one")) == 0 &&
          strcmp(out, usual) == 0);
    CHECK(run("logits %s --ids 1,5,9,11 --all --positions %s", m.gguf, test_tmp("three")) == 0 &&
          strcmp(out, usual) == 0);
    CHECK(run("logits %s --ids 1,5,9,11 --all --positions %s --axes mrope-interleaved", m.gguf, test_tmp("image")) ==
              0 &&
          strcmp(out, usual) != 0);
    CHECK(run("logits %s --ids 1,5,9,11 --all --positions %s", m.gguf, test_tmp("far")) == 0);
    char *at = out, *was = usual, *end;
    for (double v = strtod(at, &end); end != at; v = strtod(at = end, &end)) NEAR(v, strtod(was, &was), 1e-3, 1e-3);
    CHECK(run("logits %s --ids 1,5,9 --positions %s", m.gguf, test_tmp("one")) == 2 && said_line("has 4 tokens"));
    free(usual);
}

const Test tests_topics[] = {{"topics/pictures and lines of C", pictures},
                             {"topics/numbers", numbers},
                             {"topics/svg", svg},
                             {"topics/wrong use", wrong_use},
                             {"topics/three formats", formats},
                             {"topics/long texts, many heads", large},
                             {"topics/positions from a file", positions},
                             {0}};
