# lab/experiments/1-encoders.sh - masked loss by step: RoPE, sinusoidal and learned positions (RoFormer, figure 3,
# left), the rest the same. About 10 minutes on two cores.
. lab/experiments/common.sh
usual="--family roformer --words 2000 --layers 3 --d-model 64 --heads 2 --context 128 --batch 16 --rate 3e-3"
usual="$usual --decay 0.01 --steps 1500"
for s in $SEEDS; do
    for k in rope sinusoidal learned nope; do echo "masked-$k-$s $usual --position $k --seed $s"; done
done | train_all
figure 1-encoders "$(runs RoPE masked-rope)" "$(runs sinusoidal masked-sinusoidal)" "$(runs learned masked-learned)" \
    "$(runs "no positions" masked-nope)" --bin 50 --y-min 2 --y-max 6.5 --y-name "masked loss, nats a token" \
    --title "Masked words of stories, by kind of position" --subtitle "mean of seeds $SEEDS; bars: its standard error"
