#!/bin/sh
# tests/fuzz/fuzz.sh SECONDS - build every tests/fuzz/fuzz_*.c with clang's libFuzzer, AddressSanitizer and UBSan against
# the library, and run each for SECONDS (default 20). What it finds stays in build/fuzz/ as crash-*, timeout-*, oom-*;
# the corpus it grows there is kept for the next run, and each run's line in build/fuzz/log.
#   FUZZ_SAN=memory    memory that was never set, in place of the two others
#   FUZZ="gguf json"   these only            RUNS=1000000   so many inputs, however long that takes
#   FUZZ_OUT=folder    not build/fuzz        TIMEOUT=1000   seconds that are a hang, for machines that pause
#   MERGE=1            nothing new is tried: tests/fuzz/seeds/ become the smallest inputs that reach as much
cd "$(dirname "$0")/../.." || exit 1
seconds=${1:-20}
clang=${CLANG:-clang}
out=${FUZZ_OUT:-build/fuzz}
flags="-std=c11 -iquote . -D_XOPEN_SOURCE=700 -ffp-contract=off -O1 -g"
sanitize="-fsanitize=${FUZZ_SAN:-address,undefined} -fno-sanitize-recover=undefined"
mkdir -p $out || exit 1

echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return d && n > 9 ? -1 : 0; }' > $out/probe.c
if ! $clang -fsanitize=fuzzer,${FUZZ_SAN:-address,undefined} $out/probe.c -o $out/probe 2>/dev/null; then
    echo "skipped: $clang with libFuzzer is not here (Debian: apt-get install clang libclang-rt-14-dev)"
    exit 0
fi

# The library once, with the coverage that libFuzzer steers by. What the kernel rows write would look as if it were
# never set, did not MemorySanitizer see them, too (some minutes more).
rows=
[ "$FUZZ_SAN" = memory ] && rows=$sanitize
make -s CC="$clang" B="$out" CFLAGS="-O1 -g $rows" COVERAGE="$sanitize -fsanitize=fuzzer-no-link" "$out/library.a" ||
    exit 1

# Seeds: small real files where they are, cut to what a fuzzer can handle.
seed() { # TARGET FILE ...
    target=$1
    shift
    mkdir -p $out/seeds-$target
    for f in "$@"; do
        [ -f "$f" ] && head -c 4000 "$f" > "$out/seeds-$target/$(basename "$f")"
    done
}
data=${ROFORMER_DATA:-../shared/data}
golden=tests/golden/convert
seed pickle $golden/*.bin $data/checkpoints/*.p??
seed tfindex $golden/*.index $data/checkpoints/*.index
{ printf '\000'; head -c 66 $data/checkpoints/saved_model_half_plus_three.index; } > $out/seeds-tfindex/block 2>/dev/null
{ printf '\001'; head -c 87 $data/checkpoints/saved_model_half_plus_two_cpu.index; } > $out/seeds-tfindex/packed 2>/dev/null
{ printf '\003'; head -c 87 $data/checkpoints/saved_model_half_plus_two_cpu.index; } > $out/seeds-tfindex/snappy 2>/dev/null
seed gguf model/tales-1m.gguf $data/gguf-vocab/*.gguf
seed model tests/golden/*/*.gguf.head
seed safetensors $data/safetensors/*.safetensors
for f in tests/golden/fp8/* tests/golden/packed/*; do
    cp $f/model.safetensors $out/seeds-safetensors/quantized-$(basename $f)
done
seed llama2c $data/llama2c/*.bin
printf 'GGUF\003\0\0\0\001\0\0\0\0\0\0\0\001\0\0\0\0\0\0\0\001\0\0\0\0\0\0\0k\0\0\0\0\001\001\0\0\0\0\0\0\0t\001\0\0\0\001\0\0\0\0\0\0\0%041d' 0 |
    tr 0 '\0' | head -c 100 > $out/seeds-gguf/smallest
printf 'GGUF\003\0\0\0\002\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\010\0\0\0\0\0\0\0a.weight\002\0\0\0@\0\0\0\0\0\0\0\001\0\0\0\0\0\0\0(\0\0\0\0\0\0\0\0\0\0\0\007\0\0\0\0\0\0\0a.scale\001\0\0\0\001\0\0\0\0\0\0\0\0\0\0\0@\0\0\0\0\0\0\0%0113d' 0 |
    tr 0 '\0' > $out/seeds-gguf/nvfp4
printf '\002\0\0\0\001\0\0\0\001\0\0\0\001\0\0\0\001\0\0\0\001\0\0\0\001\0\0\0%0128d' 0 | tr 0 '\0' > $out/seeds-llama2c/v0
printf '24ka\001\0\0\0\002\0\0\0\001\0\0\0\001\0\0\0\001\0\0\0\001\0\0\0\001\0\0\0\001\0\0\0\001%0339d' 0 | tr 0 '\0' > $out/seeds-llama2c/v1
printf '24ka\002\0\0\0\002\0\0\0\001\0\0\0\001\0\0\0\001\0\0\0\001\0\0\0\001\0\0\0\001\0\0\0\001\001%0362d' 0 | tr 0 '\0' > $out/seeds-llama2c/v2
seed wordpiece $data/jieba/test_sentences.txt $data/text/hongloumeng_utf8.txt $data/text/botchan.txt
printf '\005[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n\344\270\200\344\272\214\n\370\344\270\200\344\272\214 3\nab 2\n\370ab\344\270\200\344\272\214[MASK]\nAB' \
    > $out/seeds-wordpiece/files
seed chat tests/golden/chat/*.jinja
mkdir -p $out/seeds-spec
printf 'yarn:factor=4+rerope:window=9+log-n,nope:layers=0-3/7,dca,longrope:long=1,infllm:top=2+ministral' > $out/seeds-spec/all
mkdir -p $out/seeds-bpe_files $out/seeds-tokenizer_json
printf '\000\006YQ== 0\nYg== 1\nYWI= 2\nIA== 3\nYWJhYg== 4\n' > $out/seeds-bpe_files/ranks
printf '\001\006\001a\n\001b\n\001ab\n\003<x>\na b\n\001\304\240\n' > $out/seeds-bpe_files/gpt2
printf '\002\006\001a\n\001b\n\001ab\n\006<0x41>\na b\n\001\342\226\201\n' > $out/seeds-bpe_files/gemma4
printf '\003\006\003[UNK]\n\001\342\226\201a\n\001b\n\001ab\n' > $out/seeds-bpe_files/bert
printf '\004\006the \344\270\255 aaaaa 123' > $out/seeds-bpe_files/text
sed -n 's/.*"parts":"\(.*\)","hash".*/\1/p' tests/golden/pipelines.json | sed 's/\\\(.\)/\1/g; s/}$/,"model":{"vocab":{"a":0,"b":1,"ab":2,"[UNK]":3,"<0x41>":4},"merges":["a b"],"unk_token":"[UNK]"}}/; s/^{,/{/' |
    while read -r line; do printf '%s' "$line" > "$out/seeds-tokenizer_json/$(printf '%s' "$line" | cksum | cut -d' ' -f1)"; done
{ printf '{"config":{"default_vocab_size":7,"default_num_special_tokens":4,'
  sed -n 's/^\("pattern".*\),$/\1}/p' tests/golden/tekken/tekken.json
  printf ',"vocab":[{"rank":0,"token_bytes":"YQ=="},{"rank":1,"token_bytes":"Yg=="},{"rank":2,"token_bytes":"YWI="}]'
  printf ',"special_tokens":[{"rank":0,"token_str":"<unk>"},{"rank":1,"token_str":"<s>"},{"rank":2,"token_str":"</s>"}'
  printf ',{"rank":3,"token_str":"[INST]"}]}\000ab[INST]a'; } > $out/seeds-tokenizer_json/tekken
seed sentencepiece $data/text/hongloumeng_utf8.txt
printf '\001pa\npab\nb\n\napabbx' > $out/seeds-sentencepiece/pieces
mkdir -p $out/seeds-csv
printf '\003step,loss,rate,norm,tokens,seconds,held,first,again,answer\n1,5.5,0.1,2,64,0.5,,,,\n2,4.5,0.1,2,128,1,4.4,,,0.5\n' > $out/seeds-csv/losses
printf '\014a,b,c,"d"\n1,2,1,x\n"3",4,1,"x"\n# a note\n5,,1,x\n' > $out/seeds-csv/columns
seed split $data/text/*.txt
seed json $data/roformer/*/config.json $data/tok/hf-json/*/tokenizer_config.json

seed config tests/golden/architectures/*.config*.json tests/golden/encoders/*.config.json tests/golden/decoders/*.config.json
printf '\001[{"type":"a.Transformer","path":""},{"type":"b.Pooling","path":"1_Pooling"},{"type":"c.Normalize","path":""}]\000{"pooling_mode_mean_tokens":true}\000{"in_features":8}\000{"prompts":{"query":"q: "},"default_prompt_name":"query"}' \
    > $out/seeds-config/sentence

# States for fuzz_state.c's models: header, 300 logits; softmax: an id, its key and value of 4; linear: S, z, top, 69 doubles.
mkdir -p $out/seeds-state
printf 'roformer\001\0\0\0\001\0\0\0\0\0\0\0\0\0\0\0\001\0\0\0\0\0\0\0\0\0\0\0\0\0\360\077%01244d' 0 | tr 0 '\0' > $out/seeds-state/one
printf 'roformer\001\0\0\0\002\0\0\0\0\0\0\0\0\0\0\0\001\0\0\0\0\0\0\0\0\0\0\0\0\0\360\077%01760d' 0 | tr 0 '\0' > $out/seeds-state/linear

# What earlier campaigns kept.
$clang -O1 tests/fuzz/pack.c -o $out/pack || exit 1
for f in tests/fuzz/seeds/*; do
    [ -f "$f" ] || continue
    mkdir -p "$out/seeds-$(basename "$f")" && $out/pack -x "$f" "$out/seeds-$(basename "$f")"
done

# The longest input worth trying: texts are read many times over, files have a head and a few tensors.
longest() {
    case $1 in
    split | wordpiece | spec | edit) echo 400 ;;
    model) echo 4096 ;;
    *) echo 2048 ;;
    esac
}

for c in tests/fuzz/fuzz_*.c; do
    name=$(basename "$c" .c)
    short=${name#fuzz_}
    case " ${FUZZ:-$short} " in *" $short "*) ;; *) continue ;; esac
    $clang $flags $sanitize -fsanitize=fuzzer "$c" tests/fuzz/mutate*.c tests/fuzz/tokens.c tests/build.c $out/library.a -pthread -lm \
        -o $out/$name || { echo "$name: FAILED to build"; continue; }
    mkdir -p $out/corpus-$short $out/seeds-$short
    if [ -n "$MERGE" ]; then
        rm -rf $out/merged-$short && mkdir $out/merged-$short
        $out/$name -merge=1 -use_counters=0 -timeout=${TIMEOUT:-10} -rss_limit_mb=1024 -max_len="$(longest "$short")" \
            $out/merged-$short $out/corpus-$short $out/seeds-$short > $out/$name.log 2>&1 ||
            { echo "$name: FAILED to merge, see $out/$name.log"; continue; }
        $out/pack tests/fuzz/seeds/$short $out/merged-$short
        echo "$name: $(ls $out/merged-$short | wc -l) seeds, $(wc -c < tests/fuzz/seeds/$short) bytes"
        continue
    fi
    dict=
    [ -f tests/fuzz/$short.dict ] && dict=-dict=tests/fuzz/$short.dict
    how=-max_total_time=$seconds
    [ -n "$RUNS" ] && how=-runs=$RUNS
    begun=$(date +%s)
    if $out/$name $how -rss_limit_mb=512 -malloc_limit_mb=256 -timeout=${TIMEOUT:-10} -max_len="$(longest "$short")" -print_final_stats=1 \
        -artifact_prefix=$out/ $dict $out/corpus-$short $out/seeds-$short > $out/$name.log 2>&1; then
        echo "$name: ok, $(sed -n 's/^stat::number_of_executed_units: *//p' $out/$name.log) runs in $(($(date +%s) - begun)) s," \
            "$(sed -n 's/.*cov: \([0-9]*\).*/\1/p' $out/$name.log | tail -1) edges"
    else
        echo "$name: FAILED, see $out/$name.log and $out/*-*"
    fi
done | tee $out/last
{ date; cat $out/last; } >> $out/log
! grep -q FAILED $out/last
