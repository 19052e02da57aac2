#!/bin/sh
# tests/coverage.sh MAKE - build with clang's coverage in build/coverage, run the tests (fuzzing's seeds among them) and
# `make faults`, and print which share of the branches of readers, tokenizers and weights-tools they took: of each
# condition, true and false. Every branch that nobody took stands in build/coverage/missed, as FILE:LINE: WHICH.
# F=readers runs those tests only, without faults; RUN= (empty) runs nothing and counts again.
# Counters lie in a mapped file (%c), for a program in its sandbox cannot write one when it ends. A few tests fail so
# built, those that ask which names a library has, or what a payload may do; they are listed, and no reason to stop.
cd "$(dirname "$0")/.." || exit 1
make=${1:-make}
out=$PWD/build/coverage
for tool in clang llvm-profdata llvm-cov; do
    command -v $tool > /dev/null || { echo "skipped: no $tool (Debian: apt-get install clang llvm)"; exit 0; }
done
mkdir -p "$out"
export LLVM_PROFILE_FILE="$out/profile-%c%m.profraw"
flagged() {
    $make -s FLAVOUR=coverage CC=clang CFLAGS=-O1 LDFLAGS=-fprofile-instr-generate "$@" \
        COVERAGE="-fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation"
}
if [ -n "${RUN-1}" ]; then
    rm -f "$out"/profile-*
    flagged test F="$F" > "$out/log" 2>&1
    [ -n "$F" ] || flagged faults >> "$out/log" 2>&1
    grep -E '^FAILED|passed' "$out/log"
fi

# What reads files that come from elsewhere, tokenizers, and weights-tools.
readers='^(base/(json|utf8)|model/(files/.*|decoder|family|keys_.*|position_keys|layers/(config|tensors|parts)|roformer_(config|load|names)|state|kept|lora)|text/(gguf_pieces|vocabulary|sentence)).c$'
objects="$out/test -object $out/run -object $out/core -object $out/faults"
llvm-profdata merge -sparse "$out"/profile-*.profraw -o "$out/profile" || exit 1
llvm-cov report -show-branch-summary -instr-profile="$out/profile" $objects 2> /dev/null |
    awk -v readers="$readers" '
    function count(group) { all[group] += $(NF - 2); missed[group] += $(NF - 1) }
    NF < 13 || $(NF - 2) == 0 { next }
    $1 ~ readers { count("readers") }
    $1 ~ /^tokenizer\// { count("tokenizers") }
    $1 ~ /^weights-tools\// { count("weights-tools") }
    $1 ~ readers || $1 ~ /^(tokenizer|weights-tools)\// { count("together"); print $1, $(NF - 2), $(NF - 1), $NF > "/dev/stderr" }
    END {
        print "| part | branches | not taken | taken |\n|---|---|---|---|"
        n = split("readers tokenizers weights-tools together", order, " ")
        for (i = 1; i <= n; i++) {
            g = order[i]
            if (all[g]) printf "| %s | %d | %d | %.1f %% |\n", g, all[g], missed[g], 100 - 100 * missed[g] / all[g]
        }
    }' 2> "$out/files"
sort -k 3,3 -n -r "$out/files" -o "$out/files"
llvm-cov show -show-branches=count -instr-profile="$out/profile" $objects $(cut -d' ' -f1 "$out/files") 2> /dev/null |
    awk '
    /^[^ ].*:$/ { file = $0; sub(/:$/, "", file); sub(/.*\/(base|model|text|tokenizer|weights-tools)\//, "&", file) }
    /Branch \(/ && /(True|False): 0[],]/ {
        line = $0; sub(/.*Branch \(/, "", line); place = line; sub(/\).*/, "", place)
        what = (line ~ /True: 0[],]/ ? " never true" : "") (line ~ /False: 0[],]/ ? " never false" : "")
        print file ":" place ":" what
    }' | sed "s|^$PWD/||" > "$out/missed"
echo "by file: build/coverage/files; each branch: build/coverage/missed"
