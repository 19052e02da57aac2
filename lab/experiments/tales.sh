# lab/experiments/tales.sh - the recipe of model/tales-1m.gguf and of its twin with linear attention, for this trainer
# (the published files were trained by it in PyTorch): OUT/tales-1m.gguf and OUT/tales-1m-linear.gguf in F32. About 20
# and 20 minutes on two cores.
. lab/experiments/common.sh
unseen_tales > "$OUT/tales.txt"
usual="-f $OUT/tales.txt --held-out $TALES -z model/tales-1m.gguf --kv-heads 2 --d-ff 352"
train tales-1m $usual --steps 2050
train tales-1m-linear $usual --attention linear --steps 3100
