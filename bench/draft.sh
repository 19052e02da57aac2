#!/bin/sh
# bench/draft.sh - what --draft saves on texts that repeat, written by a model that copies: code that is edited, a
# summary that quotes, a JSON list; with a smaller model that guesses 70 of 100 right; and what it costs where little
# is to be guessed: prose, and a smaller model that is mostly wrong (bench/programs/draft.c).
#
#     make build/release/bench-draft && bench/draft.sh MODEL TOKENIZER [SMALL MODEL]
[ $# -ge 2 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2; }
here=$(dirname "$0") dir=$(mktemp -d) data=$(dirname "$0")/../../shared/data
bench=$here/../build/release/bench-draft
trap 'rm -rf "$dir"' EXIT

cat "$here/../text/stops.c" > "$dir/code"
sed 's/size_t/unsigned/; s/Stops/Endings/g; s/^    return/    \/* done *\/ return/' "$here/../text/stops.c" > "$dir/edited"
sed -n '60,110p' "$data/text/botchan.txt" > "$dir/story"
{ echo; echo "In short, and in the author's own words:"
  tr '\n' ' ' < "$dir/story" | sed 's/\([.!?]\) /\1\n/g' | awk 'NR % 3 == 2 {print "- He writes: \"" $0 "\""}'
} > "$dir/summary"
sed -n '400,440p' "$data/text/botchan.txt" > "$dir/more"
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
show "prose" story more
[ -n "$3" ] || exit 0
for share in 70 30 0; do show "a smaller model, $share of 100" story summary "$3" $share; done
