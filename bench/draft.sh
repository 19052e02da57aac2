#!/bin/sh
# bench/draft.sh - what --draft saves on texts that repeat, written by a model that copies: code that is edited, a
# summary that quotes, a JSON list; and with a smaller model that guesses 70 of 100 right (bench/programs/draft.c).
#
#     make build/release/bench-draft && bench/draft.sh MODEL TOKENIZER [SMALL MODEL]
[ $# -ge 2 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 2; }
here=$(dirname "$0") dir=$(mktemp -d) data=$(dirname "$0")/../../shared/data
bench=$here/../build/release/bench-draft
trap 'rm -rf "$dir"' EXIT

cat "$here/../text/stops.c" > "$dir/code"
sed 's/size_t/unsigned/; s/Stops/Endings/g; s/^    return/    \/* done *\/ return/' "$here/../text/stops.c" > "$dir/edited"
sed -n '60,110p' "$data/text/botchan.txt" > "$dir/story"
{ echo; echo "In short, and in the author's own words:"
  tr '\n' ' ' < "$dir/story" | sed 's/\([.!?]\) /\1\n/g' | awk 'NR % 3 == 2 {print "- He writes: \"" $0 "\""}'
} > "$dir/summary"
head -c 300 "$data/tok/hf-json/phi-2/tokenizer_config.json" > "$dir/list"
head -c 2300 "$data/tok/hf-json/phi-2/tokenizer_config.json" | tail -c 2000 > "$dir/rest"

show() { # NAME PROMPT REST [DRAFT SHARE]
    name=$1 prompt=$2 rest=$3
    shift 3
    cat "$dir/$prompt" "$dir/$rest" > "$dir/text"
    printf '%-34s' "$name"
    "$bench" "$model" "$tokenizer" "$dir/text" "$(wc -c < "$dir/$prompt")" "$@" || exit 1
}
model=$1 tokenizer=$2
show "code, edited" code edited
show "a summary that quotes" story summary
show "a JSON list" list rest
[ -z "$3" ] || show "a smaller model, 70 of 100" story summary "$3" 70
