#!/bin/sh
# tests/analyze.sh - gcc -fanalyzer over all sources but the tests and the kernel rows. What it finds has to stand in
# analyze.txt, with the reason why it is no defect; one line for each finding that does not, and for each line there
# that nothing matches any more; exit 1 where there is one. gccs differ in what they find: another than that of the list
# gives a list to read, no verdict. It gives up where paths are too many: that it finds nothing proves nothing.
# CC=gcc-14, FILES: others.
cd "$(dirname "$0")/.." || exit 1
cc=${CC:-gcc}
export LC_ALL=C
echo 'int x;' | $cc -fanalyzer -fsyntax-only -x c - 2>/dev/null || { echo "skipped analyze: $cc has no -fanalyzer"; exit 0; }
found=$(mktemp) && trap 'rm -f "$found" "$found.lines"' EXIT
files=${FILES:-$(find . -name '*.c' | sed 's/^\.\///' | grep -vE '^(build|tests|examples|kernels/(x86|arm))/' | sort)}

# FILE FUNCTION KIND of each finding, a tab, and gcc's line. analyze.h is not for those that define its functions;
# _GNU_SOURCE, empty as sources have it, because a header stands in front of their own.
echo "$files" | tr ' ' '\n' | xargs -n 8 -P "$(getconf _NPROCESSORS_ONLN)" sh -c 'cc=$0; for f; do
    case $f in
    base/base.c | cli/output.c) before= ;;
    cli/* | run.c) before="-D_GNU_SOURCE= -include cli/cli.h -include tests/analyze.h" ;;
    *) before="-D_GNU_SOURCE= -include base/base.h -include tests/analyze.h" ;;
    esac
    "$cc" -std=c11 -iquote . -D_XOPEN_SOURCE=700 -D_FILE_OFFSET_BITS=64 -O1 $before -ftrack-macro-expansion=0 -fanalyzer \
        -fdiagnostics-plain-output -fdiagnostics-path-format=none -c $f -o /dev/null 2>&1 | awk "
        / In function / { name = \$NF; gsub(/[^A-Za-z0-9_]/, \"\", name) }
        / error: / { print \"$f - error\t\" \$0 }
        /\[-Wanalyzer-/ {
            kind = \$NF; gsub(/.*\[-Wanalyzer-|\]/, \"\", kind); split(\$0, at, \":\")
            print at[1], name, kind \"\t\" \$0
        }"
    done' "$cc" | sort -u > "$found"

echo "$files" | tr ' ' '\n' | awk -F '\t' '
    FILENAME == "-" { looked[$1] = 1; next }
    FILENAME == "tests/analyze.txt" {
        if (/^#/ || /^$/) next
        n = split($0, word, " ")
        if (n < 4) print "tests/analyze.txt:" FNR ": is not FILE FUNCTION KIND and a reason"
        else if (looked[word[1]]) line[word[1] " " word[2] " " word[3]] = FNR
        next
    }
    { matched[$1] = 1 }
    !($1 in line) { print $2 }
    END { for (l in line) if (!(l in matched)) print "tests/analyze.txt:" line[l] ": found no more: " l }
' - tests/analyze.txt "$found" > "$found.lines"
cat "$found.lines"
of=$(sed -n 's/^# gcc \([0-9.]*\).*/\1/p' tests/analyze.txt) is=$($cc -dumpfullversion)
grep -q ' - error' "$found" && exit 1 # what does not compile was not looked at
if [ "${is%%.*}" != "${of%%.*}" ]; then
    echo "analyze: tests/analyze.txt is of gcc $of and this is $is: $(wc -l < "$found.lines") lines to read, no verdict"
    exit 0
fi
[ ! -s "$found.lines" ] || exit 1
echo "analyze: $(wc -l < "$found") findings, each with its reason in tests/analyze.txt"
