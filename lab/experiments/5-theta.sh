# lab/experiments/5-theta.sh - RoPE's base: 100, 10,000, 1,000,000, and frequencies that are learned. About 8 minutes
# on two cores.
. lab/experiments/common.sh
usual="-z model/tales-1m.gguf --layers 2 --d-model 64 --heads 2 --context 256 --batch 16 --rate 4e-3 --steps 600"
for s in $SEEDS; do
    for theta in 100 10000 1000000; do echo "theta-$theta-$s $usual --theta $theta --seed $s"; done
    echo "theta-learned-$s $usual --train-frequencies --seed $s"
done | train_all
for k in 100 10000 1000000 learned; do
    for s in $SEEDS; do
        table "$OUT/length-theta-$k-$s.csv" ./run compare "$OUT/theta-$k-$s.gguf" -f "$OUT/stream.txt" --rope none \
            --lengths 64,128,256,512,1024,2048 --csv -q
    done
done
figure 5-theta-training "$(runs 100 theta-100)" "$(runs 10,000 theta-10000)" "$(runs 1,000,000 theta-1000000)" \
    "$(runs learned theta-learned)" --bin 20 --y-min 2.5 --y-max 5 --y-name "loss, nats a token" \
    --title "RoPE's base, in training"
figure 5-theta-length "$(runs 100 length-theta-100)" "$(runs 10,000 length-theta-10000)" \
    "$(runs 1,000,000 length-theta-1000000)" "$(runs learned length-theta-learned)" --x length --y nll --log-x \
    --mark 256 --y-name "loss, nats a token" --title "RoPE's base, beyond the trained length"
