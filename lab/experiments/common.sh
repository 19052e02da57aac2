# lab/experiments/common.sh - what the experiments share. A script is run from the repository's root, makes what it
# lacks and goes on where it was stopped:
#     sh lab/experiments/3-denominator.sh
# TEXT: stories, separated by lines <|endoftext|>. OUT: where models and tables go. SEEDS, JOBS: how many.
set -eu
TEXT=${TEXT:-../shared/data/text/tinystories_sample_2M.txt}
OUT=${OUT:-build/experiments}
SEEDS=${SEEDS:-1 2 3}
JOBS=${JOBS:-$(getconf _NPROCESSORS_ONLN)}
HERE=${HERE:-lab/experiments}
make -s
[ -f "$TEXT" ] || { echo "TEXT: $TEXT is not there: name a file of stories" >&2; exit 1; }
mkdir -p "$OUT"

# The first part is learned, the last 100,000 bytes are measured on, from a story's beginning.
bytes=$(wc -c < "$TEXT")
head -c $((bytes - 100000)) "$TEXT" > "$OUT/learn.txt"
tail -c 100000 "$TEXT" | sed '1,/<|endoftext|>/d' > "$OUT/unseen.txt"
grep -v '^<|endoftext|>$' "$OUT/unseen.txt" > "$OUT/stream.txt" # one stream, to be read as far as it goes

# NAME, options of ./run train: OUT/NAME.gguf, all processors at it
train() {
    name=$1
    shift
    [ -f "$OUT/$name.gguf" ] && return
    resume=
    [ -f "$OUT/$name.checkpoint.gguf" ] && resume=--resume
    ./run train "$OUT/$name.gguf" "$@" --csv "$OUT/$name.csv" $resume
}

# Lines "NAME options of ./run train" on stdin: OUT/NAME.gguf and OUT/NAME.csv, JOBS at a time.
train_all() {
    while read -r name options; do
        [ -f "$OUT/$name.gguf" ] && continue
        resume=
        [ -f "$OUT/$name.checkpoint.gguf" ] && resume=--resume
        echo "./run train $OUT/$name.gguf -f ${LEARN:-$OUT/learn.txt} --held-out ${UNSEEN:-$OUT/unseen.txt}" \
            "$options --csv $OUT/$name.csv -q -j 1 $resume && echo $name >&2"
    done | xargs -P "$JOBS" -I{} sh -c '{}'
}

# FILE, a command: what it prints, once and whole
table() {
    table=$1
    shift
    [ -s "$table" ] || { "$@" > "$table.part" && mv "$table.part" "$table"; }
}

# "NAME=OUT/PREFIX-1.csv,OUT/PREFIX-2.csv.." of all seeds
runs() {
    list=
    for s in $SEEDS; do list=$list,$OUT/$2-$s.csv; done
    echo "$1=${list#,}"
}

# figure NAME series.. options: NAME.svg, and its numbers in NAME.csv
figure() {
    name=$1
    shift
    ./run plot "$@" --svg "$HERE/$name.svg" --csv > "$HERE/$name.csv"
}

# The stories but those of TALES, and of these but such as begin alike: what has seen the rest may be measured on TALES.
TALES=${TALES:-../shared/data/tales/heldout-full.txt}
unseen_tales() {
    awk '
        function end_of_story() {
            gsub(/^[ \t\n]+|[ \t\n]+$/, "", story)
            if (n_files == 1) held[substr(story, 1, 80)]
            else if (!(substr(story, 1, 80) in held)) printf "%s%s\n", n++ ? "<|endoftext|>\n" : "", story
            story = ""
        }
        FNR == 1 { if (n_files) end_of_story(); n_files++ }
        $0 == "<|endoftext|>" { end_of_story(); next }
        { story = story $0 "\n" }
        END { end_of_story() }' "$TALES" "$TEXT"
}
