#!/bin/sh
# lab/book.sh OUT.html - all chapters as one page: contents, pictures inside, nothing to load. `make book`; needs pandoc.
set -e
cd "$(dirname "$0")/.."
out=${1:-build/book.html}
command -v pandoc >/dev/null || { echo "make book needs pandoc (Debian: apt-get install pandoc)"; exit 1; }
chapters="README.md rope attention model kernels tokenizer text cli lab bench weights-tools weights-tools/checkpoint base
    tests tests/oracle"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
all=
for c in $chapters; do # links between chapters become places in the page, pictures are found from the top
    folder=${c%README.md} folder=${folder%/}
    file=${folder:+$folder/}README.md
    [ -f "$file" ] || continue
    id=chapter-$(echo "${folder:-first}" | tr / -)
    sed -E -e "s#\]\(([a-z/-]+)/README\.md\)#](\#chapter-\1)#g" -e "s#!\[([^]]*)\]\(([^:)]+)\)#![\1](${folder:+$folder/}\2)#" \
        -e "s#\#chapter-(oracle)#\#chapter-tests-\1#; s#\#chapter-(checkpoint)#\#chapter-weights-tools-\1#" \
        -e "1s/^# (.*)\$/# \1 {#$id}/" "$file" >"$work/$id.md"
    all="$all $work/$id.md"
done
mkdir -p "$(dirname "$out")"
pandoc --from markdown+pipe_tables-citations-tex_math_dollars-raw_tex --to html5 --standalone --self-contained --toc \
    --toc-depth=2 --file-scope --metadata title="roformer.c" --css lab/book.css -o "$out.part" $all 2>"$work/said" ||
    { cat "$work/said"; exit 1; }
mv "$out.part" "$out"
echo "$out: $(wc -c <"$out") bytes"
