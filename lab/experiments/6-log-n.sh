# lab/experiments/6-log-n.sh - log n in training and after it: what a model that copies gets right beyond its length.
# About 6 minutes on two cores, and what 4-stretch.sh made.
. lab/experiments/common.sh
usual="-z model/tales-1m.gguf --layers 3 --d-model 96 --heads 3 --context 64 --batch 64 --rate 3e-3 --decay 0.01"
usual="$usual --mix text=0.2,copy=1,recall=0.4 --steps 1500"
for s in $SEEDS; do
    echo "stretch-rope-$s $usual --position rope --seed $s"
    echo "stretch-log-n-$s $usual --log-n --seed $s"
done | train_all
methods=none,linear,ntk,ntk-mixed,yarn,rerope:window=32
plain=$methods,none+log-n,linear+log-n,ntk+log-n,ntk-mixed+log-n,yarn+log-n,rerope:window=32+log-n
for s in $SEEDS; do
    table "$OUT/after-$s.csv" ./run recall "$OUT/stretch-rope-$s.gguf" -f "$OUT/stream.txt" --rope "$plain" \
        --span 16 --distances 31,95,223,479 --samples 40 --csv -q
    table "$OUT/trained-$s.csv" ./run recall "$OUT/stretch-log-n-$s.gguf" -f "$OUT/stream.txt" --rope "$methods" \
        --span 16 --distances 31,95,223,479 --samples 40 --csv -q
done

for m in none ntk yarn rerope:window=32; do
    name=$m
    [ $m = none ] && name=RoPE
    echo "$(runs "$name" after)@rope=$m"
    echo "$(runs "$name, log n after" after)@rope=$m+log-n"
    echo "$(runs "$name, in training" trained)@rope=$m"
done | {
    while IFS= read -r line; do set -- "$@" "$line"; done
    figure 6-log-n "$@" --x distance --y right_second --log-x --mark 31 --title "Copies: log n after training and in it" \
        --y-name "of a second reading right"
}
