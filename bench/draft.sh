#!/bin/sh
# bench/draft.sh - what --draft saves on texts that repeat, written by a model that copies: code that is edited, a
# summary that quotes, a JSON list; with a smaller model that guesses 70 of 100 right; and what it costs where little
# is to be guessed: prose of six kinds, and a smaller model that is mostly wrong (bench/programs/draft.c).
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
piece() { # NAME FILE FROM: 1,500 bytes of prompt, 1,200 written
    tail -c +"$3" "$data/text/$2" | head -c 1500 | iconv -c -f utf-8 -t utf-8 > "$dir/begin"
    tail -c +$(($3 + 1500)) "$data/text/$2" | head -c 1200 | iconv -c -f utf-8 -t utf-8 > "$dir/end"
    show "$1" begin end
}
piece "a play" tinyshakespeare.txt 20001
piece "an encyclopedia" wikitext2_wiki.test.raw 30001
piece "Chinese" hongloumeng_utf8.txt 30001
piece "stories for children" tinystories_sample_2M.txt 20001
piece "War and Peace" war-and-peace.txt 50001
[ -n "$3" ] || exit 0
for share in 70 30 0; do show "a smaller model, $share of 100" story summary "$3" $share; done
