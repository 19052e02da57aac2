# lab/experiments/2-linear.sh - linear attention with and without RoPE (RoFormer, figure 3, right), on bytes: about 15
# minutes on two cores.
. lab/experiments/common.sh
usual="--attention linear --layers 2 --d-model 64 --heads 2 --context 256 --batch 16 --rate 4e-3 --steps 600"
for map in elu+1 "favor+ --favor-features 32"; do
    for position in nope sinusoidal rope; do
        for s in $SEEDS; do
            echo "linear-${map%% *}-$position-$s $usual --phi $map --position $position --seed $s"
        done
    done
done | train_all
for map in elu+1 favor+; do
    figure "2-linear-$map" "$(runs RoPE linear-$map-rope)" "$(runs sinusoidal linear-$map-sinusoidal)" \
        "$(runs "no positions" linear-$map-nope)" --bin 20 --y-min 1.8 --y-max 3.2 --y-name "loss, nats a byte" \
        --title "Linear attention, $map: bytes of stories" --subtitle "mean of seeds $SEEDS; bars: its standard error"
done
