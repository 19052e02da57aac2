/* tests/test_library_install.c - libroformer as its users have it: installed, found by pkg-config, linked by
 * programs that know roformer.h alone. */
#include "program.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where it is installed; NULL where it cannot be, which is a skip in print. */
static const char *installed(void) {
    static char root[600];
    if (*root) return root;
    if (!has("make") || !has("cc") || test_sanitized) {
        test_skip(test_sanitized ? "a library to install has no sanitizer in it" : "make or cc is not here");
        return NULL;
    }
    snprintf(root, sizeof root, "%s", test_tmp("root"));
    char words[700];
    snprintf(words, sizeof words, "install-lib DESTDIR=%s PREFIX=/usr", root);
    int rc = make_library(words);
    if (rc) printf("    %s\n", said), test_fail(__FILE__, __LINE__, "make install-lib");
    return rc ? NULL : root;
}

static void installs(void) {
    const char *root = installed();
    if (!root) return;
    CHECK(shell("cd %s/usr && find . -type f -o -type l | sort", root) == 0);
    CHECK(strcmp(out, "./include/roformer.h\n./lib/libroformer.a\n./lib/libroformer.so\n./lib/libroformer.so.0\n"
                      "./lib/libroformer.so.0.1.0\n./lib/pkgconfig/roformer.pc\n") == 0);
    CHECK(shell("grep -h Version %s/usr/lib/pkgconfig/roformer.pc", root) == 0);
    CHECK(strcmp(out, "Version: 0.1.0\n") == 0); /* and 100 in the header: */
    CHECK(shell("grep -c 'define ROFORMER_VERSION 100$' %s/usr/include/roformer.h", root) == 0);
    if (!has("nm") || !has("readelf")) test_skip("nm or readelf is not here");
    else { /* each function of the header, each in the version's section, and nothing else; so in the archive */
        CHECK(shell("cd %s/usr; grep -o 'roformer_[a-z_]*(' include/roformer.h | tr -d '(' | sort -u > names; "
                    "nm -D --defined-only lib/libroformer.so | awk '$2 != \"A\" { print $3 }' | sort > shown; "
                    "sed 's/$/@@ROFORMER_0/' names | diff - shown", root) == 0 && *out == 0);
        CHECK(shell("cd %s/usr; nm -g --defined-only lib/libroformer.a | awk 'NF == 3 { print $3 }' | sort | "
                    "diff names -", root) == 0 && *out == 0);
        CHECK(shell("readelf -d %s/usr/lib/libroformer.so", root) == 0 && strstr(out, "[libroformer.so.0]"));
        CHECK(!strstr(out, "TEXTREL"));
        CHECK(shell("nm -D %s/usr/lib/libroformer.so | "
                    "grep -E ' U (_?exit|abort|printf|puts|getenv|std(out|err))(@|$)'", root) == 1 && *out == 0);
        CHECK(shell("cd %s/usr && rm names shown", root) == 0);
    }
}

/* The example in C, linked both ways, writes what the program writes. */
static void example(void) {
    int narrow = sizeof(size_t) == 4;
    if (narrow) test_skip("a library of 64 bits is installed, and this program has 32");
    const char *root = narrow ? NULL : installed();
    if (!root) return;
    char flags[900];
    snprintf(flags, sizeof flags, "-I%s/usr/include -L%s/usr/lib -lroformer", root, root);
    if (has("pkg-config"))
        snprintf(flags, sizeof flags, "$(PKG_CONFIG_SYSROOT_DIR=%s PKG_CONFIG_LIBDIR=%s/usr/lib/pkgconfig pkg-config "
                 "--cflags --libs roformer)", root, root);
    CHECK(shell("cc -std=c99 -Wall -Wextra -pedantic -Werror examples/write.c -o %s/write %s", root, flags) == 0);
    CHECK(run("-i 'Once upon a time' -t 0.8 -p 0.9 -s 42 --max-tokens 100 -q") == 0);
    char *expected = taken_out();
    CHECK(shell("LD_LIBRARY_PATH=%s/usr/lib %s/write", root, root) == 0 && strcmp(out, expected) == 0 && *said == 0);
    CHECK(shell("cc examples/write.c -o %s/write-a -I. %s/usr/lib/libroformer.a -pthread -lm", root, root) == 0);
    CHECK(shell("%s/write-a", root) == 0 && strcmp(out, expected) == 0);
    CHECK(shell("%s/write-a /nowhere", root) == 1 && *out == 0 && said_line("write: /nowhere: "));
    free(expected);
}

/* The header alone, as C99 and as C++. */
static void header(void) {
    if (!has("cc")) test_skip("cc is not here");
    else CHECK(shell("cc -std=c99 -Wall -Wextra -pedantic -Werror -fsyntax-only -x c roformer.h") == 0);
    if (!has("c++")) test_skip("c++ is not here");
    else CHECK(shell("c++ -Wall -Wextra -pedantic -Werror -fsyntax-only -x c++ roformer.h") == 0);
}

static void uninstalls(void) {
    const char *root = installed();
    if (!root) return;
    CHECK(shell("rm -f %s/write*; " MAKE_ANEW "uninstall-lib DESTDIR=%s PREFIX=/usr", root, root) == 0);
    CHECK(shell("find %s -type f -o -type l", root) == 0 && *out == 0);
}

const Test tests_library_install[] = {{"library/make install-lib", installs}, {"library/example in C", example},
                                      {"library/roformer.h alone", header},
                                      {"library/make uninstall-lib", uninstalls}, {0}};
