# lab/experiments/4-stretch.sh - what stretches: models that copy, trained at 64 positions, read up to 512. About an
# hour on two cores.
. lab/experiments/common.sh
usual="-z model/tales-1m.gguf --layers 3 --d-model 96 --heads 3 --context 64 --batch 64 --rate 3e-3 --decay 0.01"
usual="$usual --mix text=0.2,copy=1,recall=0.4 --steps 1500"
kinds="nope sinusoidal learned alibi t5 rope xpos"
for s in $SEEDS; do
    for k in $kinds; do echo "stretch-$k-$s $usual --position $k --seed $s"; done
    echo "stretch-window-$s $usual --window 32 --seed $s"
done | train_all

# Of each model the loss of the same ids, and what a second reading of 16 ids gets right, whole texts of such lengths.
measure() { # KIND SPECS
    for s in $SEEDS; do
        table "$OUT/loss-$1-$s.csv" ./run compare "$OUT/stretch-$1-$s.gguf" -f "$OUT/stream.txt" --rope "$2" \
            --lengths 64,128,256,512 --score 4096 --csv -q $3
        table "$OUT/copy-$1-$s.csv" ./run recall "$OUT/stretch-$1-$s.gguf" -f "$OUT/stream.txt" --rope "$2" \
            --span 16 --distances 31,95,223,479 --samples 40 --csv -q $3
    done
}
frequencies="none linear ntk ntk-mixed by-parts dynamic yarn dynamic-yarn resonance llama3:factor=8 clip"
distances="rerope:window=32 leaky:window=32 self-extend:group=16:window=32 dca string ms-poe power infllm"
distances="$distances window:size=60 sinks:keep=4:window=56 log-n temperature"
for k in nope sinusoidal alibi t5 xpos window; do measure $k none ""; done
measure rope "$(echo $frequencies $distances | tr ' ' ,)" ""
measure learned none "--position-extend hierarchical:alpha=.4"

each() { # TABLE: a series for each kind
    for k in nope sinusoidal learned alibi t5 rope xpos window; do
        name=$k
        [ $k = learned ] && name="learned, hierarchical"
        [ $k = nope ] && name="no positions"
        [ $k = window ] && name="RoPE, window 32"
        [ $k = rope ] && name=RoPE
        echo "$(runs "$name" "$1-$k")@rope=none"
    done
}
of_rope() { # TABLE METHODS..: a series for each
    table=$1
    shift
    for m; do echo "$(runs "$m" "$table-rope")@rope=$m"; done
}
draw() { # NAME, then the rest of figure's words, series on stdin a line each
    name=$1
    shift
    while IFS= read -r line; do set -- "$@" "$line"; done
    figure "$name" "$@"
}
each loss | draw 4-kinds-loss --x length --y nll --log-x --mark 64 --y-max 8 --y-min 2 \
    --title "Loss by length, by kind of position" --y-name "loss, nats a token"
each copy | draw 4-kinds-copy --x distance --y right_second --log-x --mark 31 --title "Copies, by kind of position" \
    --y-name "of a second reading right"
for what in frequencies distances; do
    list=$frequencies
    [ $what = distances ] && list="none $distances"
    of_rope loss $list | draw 4-$what-loss --x length --y nll --log-x --mark 64 --y-max 8 --y-min 2 \
        --title "Loss by length: other $what" --y-name "loss, nats a token"
    of_rope copy $list | draw 4-$what-copy --x distance --y right_second --log-x --mark 31 \
        --title "Copies: other $what" --y-name "of a second reading right"
done
