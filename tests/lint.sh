#!/bin/sh
# tests/lint.sh - who may include whom (check lines below); the library (all but run.c and cli/) neither prints, exits nor reads the environment; no
# intrinsics outside kernels/. One line for each breach; exit 1 where there is one.
cd "$(dirname "$0")/.." || exit 1
bad=0

# folder: the folders it may include besides itself and base
check() {
    from=$1; shift
    allowed="$from|base"
    for to in "$@"; do allowed="$allowed|$to"; done
    for f in "$from"/*.c "$from"/*.h; do
        [ -e "$f" ] || continue
        found=$(grep -n '^#include ".*/' "$f" | grep -Ev "\"($allowed)/")
        [ -z "$found" ] || { echo "$f: $found"; bad=1; }
    done
}
check base
check rope
check kernels rope
check attention rope kernels
check model attention rope kernels
check tokenizer
check text model tokenizer attention rope kernels
check lab text model tokenizer attention rope kernels
check bench text model tokenizer attention rope kernels
found=$(grep -n '^#include "cli/' ./*/*.[ch] | grep -v '^./cli/')
[ -z "$found" ] || { echo "only run.c includes cli/: $found"; bad=1; }

forbid() { # what, pattern, files
    what=$1; pattern=$2; shift 2
    found=$(grep -nE "$pattern" "$@" 2>/dev/null | grep -vE '^[^:]*:[0-9]+: *(/?\*|//)')
    [ -z "$found" ] || { echo "$what:"; echo "$found"; bad=1; }
}
LIB=$(ls base/*.c rope/*.c kernels/*.c kernels/*/*.c attention/*.c model/*.c tokenizer/*.c lab/*.c weights-tools/*.c text/*.c bench/*.c | grep -Ev 'weights-tools/(convert|quantize|inspect|program).c')
# shellcheck disable=SC2086
forbid "the library prints" '\b(printf|puts|putchar|perror|vprintf)\(|\bstdout\b|\bstderr\b' $LIB
# shellcheck disable=SC2086
forbid "the library ends the program" '\b(exit|_exit|abort|assert)\(' $LIB
# shellcheck disable=SC2086
forbid "the library reads the environment" '\bgetenv\(' $LIB
# shellcheck disable=SC2086
forbid "intrinsics outside kernels/" 'immintrin|arm_neon|_mm(256|512)?_' $(echo "$LIB" | grep -v '^kernels/') run.c cli/*.[ch]
forbid "the tests are included" '#include "tests/' base/*.[ch] rope/*.[ch] kernels/*.[ch] attention/*.[ch] model/*.[ch] tokenizer/*.[ch] lab/*.[ch] run.c cli/*.[ch]
[ $bad = 0 ] && echo "lint: clean"
exit $bad
