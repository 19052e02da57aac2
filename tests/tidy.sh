#!/bin/sh
# tests/tidy.sh - clang-tidy over all sources in C, as .clang-tidy says; one line for each finding; exit 1 where there is
# one. TIDY=clang-tidy-19: another one. FILES: only these.
cd "$(dirname "$0")/.." || exit 1
tidy=${TIDY:-clang-tidy}
command -v "$tidy" >/dev/null || { echo "skipped tidy: there is no $tidy (Debian: apt-get install clang-tidy)"; exit 0; }
std="-std=c11 -iquote . -D_XOPEN_SOURCE=700"
x86="-mavx2 -mfma -mf16c -mavxvnni -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mamx-tile -mamx-int8"
found=$(mktemp) && trap 'rm -f "$found" "$found.lines"' EXIT
over() { # flags; the files are on stdin. A process for each dozen, as many at once as there are processors
    xargs -n 12 -P "$(getconf _NPROCESSORS_ONLN)" sh -c "\"\$0\" --quiet \"\$@\" -- $1 2>/dev/null" "$tidy" >> "$found"
}
files() { if [ -n "$FILES" ]; then echo "$FILES" | tr ' ' '\n'; else find . -name '*.c' | sed 's/^\.\///' | sort; fi | grep -vE '^build/'; }
files | grep -vE '^kernels/(x86|arm)/|^examples/' | over "$std"
case $(uname -m) in x86_64) files | grep '^kernels/x86/' | over "$std $x86" ;; aarch64) files | grep '^kernels/arm/' | over "$std" ;; esac
if grep -E '(warning|error):' "$found" > "$found.lines"; then sort -u "$found.lines"; exit 1; fi
echo "tidy: clean, $(files | wc -l) files"
