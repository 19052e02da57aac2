# lab/experiments/3-denominator.sh - where linear attention's rotation goes: the numerator alone (RoFormer eq. 19),
# numerator and denominator, before the feature map, nowhere. About 6 minutes on two cores, and what 2-linear.sh made.
. lab/experiments/common.sh
usual="--attention linear --layers 2 --d-model 64 --heads 2 --context 256 --batch 16 --rate 4e-3 --steps 600"
for s in $SEEDS; do
    echo "linear-elu+1-rope-$s $usual --phi elu+1 --position rope --seed $s"
    echo "linear-elu+1-nope-$s $usual --phi elu+1 --position nope --seed $s"
    for form in both before-phi; do echo "form-$form-$s $usual --form $form --seed $s"; done
done | train_all
figure 3-denominator "$(runs "eq. 19" linear-elu+1-rope)" "$(runs "before phi" form-before-phi)" \
    "$(runs "both" form-both)" "$(runs "nowhere" linear-elu+1-nope)" --bin 20 --y-min 1 --y-max 3 \
    --y-name "loss, nats a byte" --title "Where linear attention's rotation goes" \
    --subtitle "mean of seeds $SEEDS; bars: its standard error"
