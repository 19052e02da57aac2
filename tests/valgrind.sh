#!/bin/sh
# tests/valgrind.sh RUN - memcheck over every command of ./run, on the small models of model/, with the reference row
# (valgrind knows no AVX-512). A line for each that fails; exit 1 where one does. Some minutes.
cd "$(dirname "$0")/.." || exit 1
run=$1
command -v valgrind >/dev/null || { echo "skipped valgrind: it is not here (Debian: apt-get install valgrind)"; exit 0; }
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
bad=0 n=0
check() { # the exit code that is wanted, a command
    want=$1; shift
    valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect \
        "$run" "$@" < /dev/null > "$dir/out" 2> "$dir/err"
    code=$?
    n=$((n + 1))
    [ $code = "$want" ] || { echo "$code: run $*"; tail -n 30 "$dir/err"; bad=1; }
}
text="Once upon a time there was a cat. The cat saw a ball. It was red."
printf '%s\n' "$text" "$text" > "$dir/text"
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cat "$dir/text"; done > "$dir/book"
mkdir "$dir/v1" && cp tests/golden/convert/v1.bin "$dir/v1/pytorch_model.bin" && cp tests/golden/convert/v1.config.json "$dir/v1/config.json"
tales=model/tales-1m.gguf linear=model/tales-1m-linear.gguf words=model/words-1m.gguf ref="--kernels ref"
for m in $tales $linear; do
    check 0 $m -i "Once" -t 0.8 -s 1 --max-tokens 12 $ref -j 2
    check 0 chat $m --chat-template plain --max-tokens 3 $ref
    check 0 logits $m -i "$text" $ref --save-state "$dir/state"
    check 0 logits $m -i " It" --load-state "$dir/state" $ref
    check 0 score $m --prompt "$text" --text " It was big." --logprobs 2 $ref
    check 0 perplexity $m -f "$dir/text" -c 16 $ref
done
check 0 $tales --lines "$dir/text" --max-tokens 4 $ref
check 0 $tales -i "$text" --draft lookup --max-tokens 8 $ref
check 0 $tales -i "$text" --kv q8_0 -c 32 --shift keep=2 --max-tokens 20 $ref
for rope in yarn:factor=2 rerope dynamic; do check 0 $tales -i "$text" --rope $rope -c 512 --max-tokens 3 $ref; done
check 0 tokenize "$text" --pieces
check 0 compare $tales -f "$dir/text" --rope none,ntk --lengths 16 --score 4 $ref
check 0 passkey $tales --lengths 128 --depths 50 --trials 1 $ref
check 0 recall $tales -f "$dir/book" --distances 16 --span 8 --samples 1 $ref
check 0 plan $tales -c 1024
check 0 proof $tales -i "$text" $ref
check 0 rope clock
check 0 rope decay --svg "$dir/decay.svg"
for what in map turn lens score next; do check 0 explain $tales "A red ball." $what $ref; done
check 0 fill $words "The [MASK] barked." $ref
check 0 embed $words "The dog barked." $ref
check 0 rank $words "a dog" -f "$dir/text" $ref
check 0 quantize $tales "$dir/q4.gguf" Q4_K_M
check 0 "$dir/q4.gguf" -i "Once" --max-tokens 3 $ref
check 0 convert "$dir/v1" "$dir/v1.gguf" --vocab tests/golden/convert/vocab.txt
check 0 inspect "$dir/q4.gguf"
check 0 train "$dir/t.gguf" --text "$dir/book" --context 32 --steps 2 -j 2
check 0 plot --help
check 2 generate --no-such-option
head -c 3000 $tales > "$dir/cut.gguf"
check 1 "$dir/cut.gguf"
[ $bad = 0 ] && echo "valgrind: clean, $n commands"
exit $bad
