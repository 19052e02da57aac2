#!/bin/bash
# bench/together.sh - several texts at once, and several tokens of one text, beside one by one: the whole program, in
# turn, medians of RUNS (5). The texts are compared: they have to be the same.
#
#     bench/together.sh MODEL [options of generate: -z tokenizer.bin ..]
set -e
[ $# -ge 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 2; }
run=$(dirname "$0")/../run runs=${RUNS:-5} dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for i in $(seq 16); do echo "Text number $i begins with"; done > "$dir/lines"

seconds() { # NAME WORDS..: one run's, to the list of that name
    local name=$1 from to
    shift
    from=$(date +%s.%N)
    "$run" "$@" -q > "$dir/$name.out"
    to=$(date +%s.%N)
    echo "$to - $from" | bc >> "$dir/$name"
}
median() { sort -n "$dir/$1" | sed -n "$((runs / 2 + 1))p"; }
show() { # TITLE NAME ONE
    printf '%-28s %8.2f s %8.2f times\n' "$1" "$(median "$2")" "$(echo "$(median "$3") / $(median "$2")" | bc -l)"
}

lines=("$@" --lines "$dir/lines" -t 0 --ignore-eos --max-tokens 64)
text=("$@" -t 0 --ignore-eos --max-tokens 256 -i "Text number 1 begins with")
for _ in $(seq "$runs"); do
    for n in 1 2 4 8; do seconds "lines$n" "${lines[@]}" --parallel $n; done
    seconds plain "${text[@]}"
    seconds lookup "${text[@]}" --draft lookup
done
for n in 2 4 8; do cmp "$dir/lines1.out" "$dir/lines$n.out"; done
cmp "$dir/plain.out" "$dir/lookup.out"
for n in 1 2 4 8; do show "16 lines, --parallel $n" "lines$n" lines1; done
show "one text" plain plain
show "one text, --draft lookup" lookup plain
