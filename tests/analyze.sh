#!/bin/sh
# tests/analyze.sh - gcc -fanalyzer over all sources but the tests and the kernel rows: a list to read, no verdict. It sees
# one file at a time, and takes it for possible that fail, base_error and the like return 0. CC=gcc-14, FILES: others.
cd "$(dirname "$0")/.." || exit 1
cc=${CC:-gcc}
echo 'int x;' | $cc -fanalyzer -fsyntax-only -x c - 2>/dev/null || { echo "skipped analyze: $cc has no -fanalyzer"; exit 0; }
files=${FILES:-$(find . -name '*.c' | sed 's/^\.\///' | grep -vE '^(build|tests|examples|kernels/(x86|arm))/' | sort)}
echo "$files" | tr ' ' '\n' | xargs -n 8 -P "$(getconf _NPROCESSORS_ONLN)" sh -c 'cc=$0; for f; do
    "$cc" -std=c11 -iquote . -D_XOPEN_SOURCE=700 -D_FILE_OFFSET_BITS=64 -O1 -fanalyzer -fdiagnostics-plain-output -c $f \
        -o /dev/null 2>&1; done' "$cc" | grep 'warning:' | sort -u
