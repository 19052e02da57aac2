#!/bin/sh
# tests/arm64.sh [MAKE] - cross-compile for arm64 in build/arm64 and test under qemu-user, as a CPU with the dot-product extension
# (both NEON rows) and as one without, which only has fewer rows. SUITES: which tests for both; ARM64_CC and QEMU: other tools.
cd "$(dirname "$0")/.." || exit 1
make=${1:-make} cc=${ARM64_CC:-aarch64-linux-gnu-gcc} qemu=${QEMU:-qemu-aarch64} B=build/arm64
for tool in "${cc%% *}" "$qemu"; do
    command -v "$tool" >/dev/null && continue
    echo "skipped arm64: there is no $tool (Debian: apt-get install gcc-aarch64-linux-gnu qemu-user)"
    exit 0
done
programs="run weights-tools/convert weights-tools/quantize weights-tools/inspect"
targets=
for p in $programs test; do targets="$targets $B/$p"; done
# static: so that no libraries of arm64 are looked for
$make --no-print-directory CC="$cc" FLAVOUR=release B=$B LDFLAGS=-static $targets || exit 1

bad=0 suites="${SUITES:-kernels quants session cli}"
for cpu in max cortex-a53; do
    for p in $programs; do # what the tests start
        mkdir -p "$B/$cpu/$(dirname "$p")"
        printf '#!/bin/sh\nexec %s -cpu %s -0 "$0" %s/%s "$@"\n' "$qemu" $cpu $B "$p" > "$B/$cpu/$p"
        chmod +x "$B/$cpu/$p"
    done
    for suite in $suites; do
        echo "arm64, $cpu: $suite"
        "$qemu" -cpu $cpu $B/test "$suite" "$B/$cpu/run" || bad=1
    done
    suites="${SUITES:-kernels/ cli/tales}"
done
exit $bad
