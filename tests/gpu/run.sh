#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Builds the harness and every source of gemm_allgather on a machine with GPUs, verifies each, times them, and prints
# a table. It needs bash, awk, a CUDA toolkit, NCCL 2.28 or newer, and nothing of the project's own build.
#
#   tests/gpu/run.sh [--build-only] [FOLDER]     logs, reports and table go to FOLDER
#
# CUCO_GPU_BUDGET_S (230): no new measurement begins after so many seconds.
# CUCO_BOUND_TFLOPS (790), CUCO_BOUND_GBS (350): the rates of the bound, from docs/measurements.
set -u
shopt -s nullglob

build_only=0
if [ "${1:-}" = --build-only ]; then
    build_only=1
    shift
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "${1:-gpu-results}" || exit 3
out=$(cd "${1:-gpu-results}" && pwd)
budget_s=${CUCO_GPU_BUDGET_S:-230}
tflops=${CUCO_BOUND_TFLOPS:-790}
gbs=${CUCO_BOUND_GBS:-350}
harness_sources=$root/workloads/harness
workload=$root/workloads/gemm_allgather
logs=$out/logs
build=$(mktemp -d) || exit 3
trap 'rm -rf "$build"' EXIT
rm -rf "$logs" "$out/jobs" "$out/verdicts" "$out/times" "$out/nccl.log"
mkdir -p "$build/objects" "$build/candidates" "$logs" "$out/jobs"

# A machine may carry GPUs on which NVLink multicast must not be used.
export NCCL_NVLS_ENABLE=0
# One host: its own addresses will do, whatever its network looks like.
export NCCL_SOCKET_IFNAME=${NCCL_SOCKET_IFNAME:-lo}
export NCCL_DEBUG=${NCCL_DEBUG:-WARN}

say() { printf '[%3d s] %s\n' "$SECONDS" "$*"; }
stop() {
    say "$*"
    exit 3
}
# limited SECONDS COMMAND…: in a process group of its own, which is killed as a whole.
limited() {
    local seconds=$1
    shift
    timeout -k 5 "$seconds" "$@"
}

. "$root/tests/gpu/toolchain.sh"
. "$root/tests/gpu/measure.sh"

main()
{
    findCuda || stop "No nvcc was found: put the CUDA toolkit's bin folder on PATH."
    findNccl || stop "No NCCL of 2.28 or newer was found whose header and library are the same version; see $out/nccl.log."
    say "nvcc: $nvcc ($("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')), architecture $arch"
    say "NCCL $nccl_version: $nccl_include and $nccl_library"

    buildAll
    say "built: $(builtCount) of $(wc -l < "$build/wanted") shared objects"
    [ -x "$build/harness" ] || stop "The harness could not be built; see $logs."
    [ -f "$build/candidates/reference.so" ] || stop "The reference could not be built; see $logs/reference.log."
    if [ "$build_only" = 1 ]; then
        [ "$(builtCount)" = "$(wc -l < "$build/wanted")" ]
        exit
    fi

    gpus=$(limited 20 nvidia-smi -L 2>/dev/null | grep -c '^GPU ')
    [ "$gpus" -ge 2 ] || stop "nvidia-smi lists $gpus GPUs; this test needs two."
    ranks=2
    [ "$gpus" -ge 4 ] && ranks=4
    limited 20 nvidia-smi > "$out/nvidia-smi.txt" 2>&1
    limited 20 nvidia-smi topo -m > "$out/topology.txt" 2>&1
    say "$gpus GPUs ($(limited 20 nvidia-smi --query-gpu=name --format=csv,noheader | head -1)), $ranks ranks"

    failed=0
    measured="host registered_window zero_cta chunked_overlap"
    measured="$measured seed_lsa lsa_push_sequential stream_overlap_sm_push stream_overlap_copy_engine fused_tile_push"
    for candidate in $measured; do
        verifyCandidate "$candidate" || failed=$((failed + 1))
    done
    for candidate in $measured $(variantNames); do
        grep -q "^$candidate ok" "$out/verdicts" || isVariant "$candidate" || continue
        timeCandidate "$candidate" "4096 8192" main
    done
    for candidate in $measured; do
        grep -q "^$candidate ok" "$out/verdicts" && timeCandidate "$candidate" "2048 16384" ends
    done
    # Wrong by design, so never verified: the product without its communication.
    timeCandidate compute_alone "4096 8192" main
    timeCandidate compute_alone "2048 16384" ends
    # The same program once more: what differs between the two is noise.
    timeCandidate host "4096 8192" again

    printTable | tee "$out/table.txt"
    say "$failed of $(echo $measured | wc -w) sources failed; details are in $out/jobs"
    [ "$failed" = 0 ]
}

# The pipe keeps the last lines from getting lost when the caller stops listening at our end.
main 2>&1 | tee "$out/summary.txt"
exit "${PIPESTATUS[0]}"
