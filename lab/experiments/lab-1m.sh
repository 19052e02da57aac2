# lab/experiments/lab-1m.sh - the models that copy: model/lab-1m.gguf and its twin with log n, trained at 256 positions
# on stories, copies, recalls and passkeys. Copying is learned at 64 positions first, where it comes within 3 million
# tokens; then each goes on at 256. About 8, 20 and 20 minutes on two cores.
. lab/experiments/common.sh
unseen_tales > "$OUT/tales.txt"
LEARN=$OUT/tales.txt UNSEEN=$TALES
usual="--layers 4 --decay 0.01 --rate 3e-3"
train lab-64 -f $LEARN $usual -z model/tales-1m.gguf --context 64 --batch 64 --mix text=0.2,copy=1,recall=0.4 \
    --steps 2000 --held-every 200
usual="$usual --from $OUT/lab-64.gguf --context 256 --batch 32 --warmup 50 --steps 1500"
usual="$usual --mix text=1,copy=0.6,recall=0.6,passkey=0.3"
train_all <<END
lab-1m $usual
lab-1m-log-n $usual --log-n
END
for name in lab-1m lab-1m-log-n; do ./run quantize "$OUT/$name.gguf" "$OUT/$name-q8_0.gguf" Q8_0 -q -f; done
