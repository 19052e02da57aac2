# lab/experiments/words.sh - model/words-1m.gguf: a small RoFormer of English words, from stories. About 50 minutes on
# two cores.
. lab/experiments/common.sh
unseen_tales > "$OUT/tales.txt"
train words-1m --family roformer -f "$OUT/tales.txt" --held-out "$TALES" --words 3000 --whole-words --layers 4 \
    --d-model 128 --heads 4 --d-ff 384 --context 64 --batch 32 --rate 2e-3 --decay 0.01 --steps 24000 --held-every 500
./run quantize "$OUT/words-1m.gguf" "$OUT/words-1m-q8_0.gguf" Q8_0 -q -f
