#!/bin/sh
# bench/peers.sh - our speed beside other programs', run by run in turn, with the ceilings of the same run: a Markdown table.
#     sh bench/peers.sh LLAMA_BENCH=~/llama.cpp/build/bin/llama-bench a.gguf b.gguf
#     make bench LLAMA2C=~/llama2.c/run M="model.bin"
# Words NAME=VALUE set what the environment may set as well; all other words are models (or MODELS="a.gguf b.bin"). A model's twin for
# llama2.c may stand behind a plus: a.gguf+a.bin. Nothing here builds the other programs.
#     LLAMA2C, LLAMA2C_Q       llama2.c's run and runq
#     LLAMA_BENCH              llama.cpp's llama-bench
#     IK_LLAMA_BENCH           ik_llama.cpp's, which repacks at run time (-rtr 1)
#     RUN (./run), RUNS (5 rounds), THREADS (as many as run takes), PROMPT (512 tokens), DECODE (32 tokens, after nothing)
#     TOKENIZER                llama2.c's (tokenizer.bin or tok*.bin beside the .bin file)
# llama2.c reads a prompt token by token, as fast as it writes: its prefill is its decoding. Build it with make runomp: that is its fastest.
for word in "$@"; do
    case $word in
    LLAMA2C=* | LLAMA2C_Q=* | LLAMA_BENCH=* | IK_LLAMA_BENCH=* | RUN=* | RUNS=* | THREADS=* | PROMPT=* | TOKENIZER=* | MODELS=* | DECODE=*)
        eval "${word%%=*}=\${word#*=}" ;;
    -*) echo "peers.sh: $word is no option; the first lines of $0 say what there is" >&2; exit 2 ;;
    *) MODELS="$MODELS $word" ;;
    esac
done
RUN=${RUN:-./run} RUNS=${RUNS:-5} PROMPT=${PROMPT:-512} DECODE=${DECODE:-32}
[ -n "$MODELS" ] || { echo "peers.sh: no model is named" >&2; exit 2; }
for program in "$RUN" $LLAMA2C $LLAMA2C_Q $LLAMA_BENCH $IK_LLAMA_BENCH; do
    command -v "$program" >/dev/null || { echo "peers.sh: $program is not there" >&2; exit 1; }
done
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

# ours MODEL: "decode RATE", "decode-limit RATE", the same for prefill, and the ceilings
ours() {
    "$RUN" bench "$1" -c $((PROMPT + 256)) --runs 1 --contexts 0 --prompts "$PROMPT" ${THREADS:+-j "$THREADS"} --csv -q > "$dir/csv" || return 1
    awk -F, 'NR > 1 && ($1 == "decode" || $1 == "prefill") { print $1, $5; print $1 "-limit", $11 }
             NR > 1 && $1 != "decode" && $1 != "prefill" { print $1 "-" $3, $5 }' "$dir/csv"
}

# llama_bench PROGRAM MODEL [options]
llama_bench() {
    program=$1 model=$2; shift 2
    "$program" -m "$model" -t "$threads" -p "$PROMPT" -n "$DECODE" -r 1 -o json "$@" 2>/dev/null |
        awk '/"n_prompt":/ { p = $2 + 0 } /"n_gen":/ { g = $2 + 0 } /"avg_ts":/ { print (g > 0 ? "decode" : "prefill"), $2 + 0 }'
}

# llama2c MODEL: the program for its version
llama2c() {
    program=$LLAMA2C
    [ "$(head -c 4 "$1")" = "24ka" ] && program=$LLAMA2C_Q # the magic of versions 1 and 2; runq reads 2
    [ -n "$program" ] || return
    for tokenizer in "$TOKENIZER" "${1%/*}"/tokenizer.bin "${1%/*}"/tok*.bin; do [ ! -f "$tokenizer" ] || break; done
    steps=$((DECODE + 1))
    [ "$(wc -c < "$1")" -gt 100000000 ] || steps=256 # its clock counts milliseconds
    OMP_NUM_THREADS=$threads "$program" "$1" -t 0 -n $steps -z "$tokenizer" 2>&1 >/dev/null |
        awk '/^achieved tok\/s:/ { print "decode", $3; print "prefill", $3 }'
}

is() { [ "$(head -c 4 "$1" 2>/dev/null)" = "$2" ]; }
keep() { # what a program said, as samples of a model's number and of its own name
    cat > "$dir/said"
    [ -s "$dir/said" ] || echo "peers.sh: $2 gave no result for $model" >&2
    sed "s|^|$1 $2 |" "$dir/said" >> "$dir/samples"
}

threads=${THREADS:-1}
round=1
while [ "$round" -le "$RUNS" ]; do
    number=0
    for both in $MODELS; do
        model=${both%%+*} twin=${both#*+} number=$((number + 1))
        echo "round $round of $RUNS: $model" >&2
        ours "$model" > "$dir/ours" || exit 1
        keep $number ours < "$dir/ours"
        threads=$(awk -F, '$1 == "load" { print $3 }' "$dir/csv")
        is "$twin" GGUF || [ -z "$LLAMA2C$LLAMA2C_Q" ] || llama2c "$twin" | keep $number llama2c
        ! is "$model" GGUF || [ -z "$LLAMA_BENCH" ] || llama_bench "$LLAMA_BENCH" "$model" | keep $number llama
        ! is "$model" GGUF || [ -z "$IK_LLAMA_BENCH" ] || llama_bench "$IK_LLAMA_BENCH" "$model" -rtr 1 | keep $number ik
    done
    round=$((round + 1))
done

cat << END
$("$RUN" --version | tr '\n' ' '); $threads threads; $RUNS rounds, each program in turn; median (slowest to fastest), and ours / theirs. Prompt of $PROMPT, $DECODE tokens decoded after nothing.

END
# shellcheck disable=SC2086
awk -v models="$MODELS" -v threads="$threads" -v prompt="$PROMPT" '
function sort(v, n,    i, j, x) { for (i = 2; i <= n; i++) { x = v[i]; for (j = i - 1; j > 0 && v[j] > x; j--) v[j + 1] = v[j]; v[j + 1] = x } }
# median of a cell; least and most beside it
function median(key,    n, i, v) {
    n = count[key]
    if (n == 0) return 0
    for (i = 1; i <= n; i++) v[i] = sample[key, i]
    sort(v, n)
    least = v[1]; most = v[n]
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
function cell(key, mine,    m, text) {
    m = median(key)
    if (m == 0) return " – |"
    text = sprintf(" %.1f (%.1f to %.1f)", m, least, most)
    return mine ? text sprintf(", **%.2f** |", mine / m) : text " |"
}
function ceiling(name, all,    m) { m = median("all ours " name "-" all); return m ? sprintf("%.1f (%.1f to %.1f)", m, least, most) : "–" }
{
    key = $1 " " $2 " " $3
    sample[key, ++count[key]] = $4 + 0
    key = "all " $2 " " $3
    sample[key, ++count[key]] = $4 + 0
}
END {
    print "| | 1 thread | all |\n|---|---|---|"
    split("read_1 read_4 f32 int8 int4", which)
    split("memory read, 1 stream, GB/s;memory read, 4 streams, GB/s;f32 multiply-add, Gop/s;int8, Gop/s;int4, Gop/s", title, ";")
    for (i = 1; i <= 5; i++) print "| " title[i] " | " ceiling(which[i], 1) " | " ceiling(which[i], threads) " |"
    print "\n| model | work | tok/s | limit | of it | llama2.c | llama.cpp | ik_llama.cpp |\n|---|---|---|---|---|---|---|---|"
    n = split(models, name, " ")
    for (i = 1; i <= n; i++) {
        sub(/\+.*/, "", name[i]); sub(/.*\//, "", name[i])
        for (w = 1; w <= 2; w++) {
            work = w == 1 ? "decode" : "prefill"
            mine = median(i " ours " work); limit = median(i " ours " work "-limit")
            if (mine == 0) continue
            print "| " name[i] " | " work (w == 2 ? " " prompt : "") " |" cell(i " ours " work, 0) sprintf(" %.1f | %.0f %% |", limit, 100 * mine / limit) \
                cell(i " llama2c " work, mine) cell(i " llama " work, mine) cell(i " ik " work, mine)
        }
    }
    print "\n| model | load to first token, s | peak memory, MB |\n|---|---|---|"
    for (i = 1; i <= n; i++) {
        load = median(i " ours load-" threads)
        printf "| %s | %.3f (%.3f to %.3f) | %.1f |\n", name[i], load, least, most, median(i " ours peak_memory-" threads) / 1e6
    }
}' "$dir/samples"
