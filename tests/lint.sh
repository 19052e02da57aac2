#!/bin/sh
# tests/lint.sh - how the house is kept: who may include whom, no circles, nothing printed by the library, no intrinsics
# outside kernels/, widths, lengths, and the size of the core. One line for each breach; exit 1 where there is one.
cd "${LINT_ROOT:-$(dirname "$0")/..}" || exit 1
bad=0
say() { # what, lines: only those of the folders asked for
    [ -n "$2" ] || return 0
    echo "$1:"; echo "$2" | sed 's/^/    /'; bad=1
}
code() { find "$@" \( -name '*.c' -o -name '*.h' -o -name '*.cc' \) -type f | sort; }
FOLDERS=$(for d in base rope kernels attention model tokenizer text lab bench train library weights-tools cli examples tests; do [ -d $d ] && echo $d; done)
LIB=$(for d in base rope kernels attention model tokenizer text lab bench train library; do [ -d $d ] && echo $d; done)

# ---- layers: a folder, and the folders that it may include besides itself and base
layer() {
    from=$1; shift
    [ -d "$from" ] || return 0
    allowed=$(echo "$from base $*" | tr ' ' '|')
    say "$from/ may include $* only" "$(code "$from" | xargs grep -nE '^#include "[^"]*/' /dev/null | grep -vE ":#include \"($allowed)/")"
}
below="rope kernels attention model tokenizer"
layer base
layer rope
layer kernels rope
layer attention rope kernels
layer model attention rope kernels
layer tokenizer
layer text $below
layer lab text $below
layer bench text $below tests # bench/programs measure the tests' models
layer train text $below
layer library lab text $below
layer examples # roformer.h alone, and that in <>
layer weights-tools train lab text $below
say "only run.c includes cli/" "$(code $FOLDERS | grep -v '^cli/' | xargs grep -n '^#include "cli/' /dev/null)"
say "the tests are included" "$(code $FOLDERS run.c | grep -vE '^(tests|bench/programs)/' | xargs grep -n '^#include "tests/' /dev/null)"

# ---- circles: a node is a .c with its .h, an edge a header of another node that either includes
say "a circle of includes" "$(code $FOLDERS run.c | xargs awk '
    FNR == 1 { dir = FILENAME; if (!sub(/\/[^\/]*$/, "", dir)) dir = "."; node = FILENAME; sub(/\.[a-z]*$/, "", node) }
    /^#include "/ { split($0, part, "\""); to = part[2]; if (to !~ /\//) to = dir "/" to; sub(/\.h$/, "", to); if (to != node) print node, to }
' | tsort 2>&1 >/dev/null | sed 's/^tsort: //; /^-: /d')"

# ---- what the library leaves to the program
LIBRARY=$(code $LIB | grep -v '^bench/programs/'; code weights-tools)
forbid() { # what, pattern, files
    what=$1; pattern=$2; shift 2
    say "$what" "$(echo "$@" | tr ' ' '\n' | xargs grep -nE "$pattern" /dev/null | grep -vE '^[^:]*:[0-9]+: *(/?\*|//)')"
}
forbid "the library prints" '\b(printf|puts|putchar|perror|vprintf)\(|\bstdout\b|\bstderr\b' $(echo "$LIBRARY" | grep '\.c$')
forbid "the library ends the program" '\b(exit|_exit|abort|assert)\(' $(echo "$LIBRARY" | grep '\.c$')
forbid "the library reads the environment" '\bgetenv\(' $(echo "$LIBRARY" | grep '\.c$')
forbid "an array by malloc, where calloc would check the product" 'malloc\([^;]*\* *sizeof' $(echo "$LIBRARY" | grep '\.c$') $(code cli)
forbid "intrinsics outside kernels/" 'immintrin|arm_neon|_mm(256|512)?_' $(echo "$LIBRARY" | grep -v '^kernels/') run.c $(code cli)

# ---- limits of readers: SECURITY.md has each with its value, and none else
limits() { # "NAME, file | value" of the code; what does not come from a file, or is another limit's, is left out
    grep -oE '\b[A-Z0-9_]*(MAX|MOST)[A-Z0-9_]* = [0-9][0-9 <]*' base/json.h model/model.h model/roformer_names.h rope/rope.h rope/spec.h \
        $(code model/files tokenizer weights-tools/checkpoint) | grep -v '^tokenizer/unicode/' |
        while IFS=: read -r file limit; do
            echo "${limit%% *}, $file | $(echo $((${limit#*= })) | sed -E ':a; s/^([0-9]+)([0-9]{3})/\1,\2/; ta')"
        done | sort
}
said_limits() { sed -n 's/^| \([A-Z0-9_]*, [a-z].*\.[ch] | [0-9,]*\) |.*/\1/p' SECURITY.md | sort; }
[ ! -f SECURITY.md ] || say "limits in the code (<) and in SECURITY.md (>)" "$({ limits | sed 's/^/< /'; said_limits | sed 's/^/> /'; } | sort -k2 | uniq -f1 -u)"

# ---- widths: C 120 columns, Markdown 100 (tables, and lines that are one address, exempt); functions 50 lines, in
# three folders 40
export LC_ALL=C.UTF-8
wide() { grep -nE "^.{$1}" /dev/null $2 | sed 's/^\([^:]*:[0-9]*\):.*/\1/'; }
say "wider than 120 columns" "$(wide 121, "$(code $FOLDERS run.c core.c | grep -v '^tests/golden/')")"
say "Markdown wider than 100 columns" "$(find . -name '*.md' -not -path './build/*' | xargs grep -nE '^.{101,}' /dev/null |
    grep -vE ':[0-9]+:( *\||[^ ]*https?://[^ ]*$)' | sed 's/^\.\/\([^:]*:[0-9]*\):.*/\1/')"
lengths() { # at most, files: a function begins at a line that ends in { and is no initializer or type, and ends at a } alone
    most=$1; shift
    awk -v most=$most 'FNR == 1 { from = 0 }
        /^[A-Za-z_].*\(/ && !/;$/ { head = FNR; name = $0 }
        /^[^#\/].*\{$/ && !/= *\{$/ && !/^(typedef|struct|enum|union)/ && !from && head { from = head }
        /^}$/ { if (from && FNR - from + 1 > most) print FILENAME ":" from ": " FNR - from + 1 " lines: " name; from = head = 0 }
        /^};?./ { from = head = 0 }' "$@"
}
say "functions longer than 50 lines" "$(lengths 50 $(code $FOLDERS run.c | grep '\.c$'))"
say "functions longer than 40 lines" "$(lengths 40 $(code rope attention model | grep '\.c$'))"

say "left by a merge" "$(git grep -lE '^(<<<<<<<|>>>>>>>) ' 2>/dev/null)"

# ---- the core: what has to be read to understand the engine
core_lines=$(env -u MAKEFLAGS -u MAKELEVEL make -s core-lines | awk '{ print $1 }')
[ "$core_lines" -le 4000 ] || say "the core" "has $core_lines lines with its headers, of at most 4,000"

[ $bad = 0 ] && echo "lint: clean; the core has $core_lines lines with its headers"
exit $bad
