#!/bin/sh
# tests/m32.sh [MAKE] - build for 32 bits in build/m32 and run the tests there: x86, which this machine runs itself.
# SUITES: words, tests whose name holds one; all without it. M32_CC=arm-linux-gnueabihf-gcc QEMU=qemu-arm: ARM, slowly.
cd "$(dirname "$0")/.." || exit 1
make=${1:-make} cc=${M32_CC:-i686-linux-gnu-gcc} B=build/m32
for tool in "${cc%% *}" $QEMU; do
    command -v "$tool" >/dev/null && continue
    echo "skipped m32: there is no $tool (Debian: apt-get install gcc-i686-linux-gnu)"
    exit 0
done
programs="run weights-tools/convert weights-tools/quantize weights-tools/inspect weights-tools/train"
targets="$B/core"
for p in $programs test soak; do targets="$targets $B/$p"; done # no faults: libc's own calls would fail, too
# static: so that no libraries of 32 bits are looked for
$make --no-print-directory CC="$cc" FLAVOUR=release B=$B LDFLAGS=-static $targets || exit 1
if [ "$QEMU" ]; then
    for p in $programs core soak; do # what the tests start
        mkdir -p "$B/emulated/$(dirname "$p")"
        printf '#!/bin/sh\nexec %s %s/%s "$@"\n' "$QEMU" $B "$p" > "$B/emulated/$p"
        chmod +x "$B/emulated/$p"
    done
elif ! $B/run --version >/dev/null 2>&1; then
    echo "skipped m32: this machine does not run programs of 32 bits"
    exit 0
fi
bad=0
for suite in ${SUITES:-""}; do
    $QEMU $B/test "$suite" $B/${QEMU:+emulated/}run || bad=1
done
exit $bad
