#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Builds the harness and every workload's programs on a machine with GPUs, verifies each, times them in turns with the
# host-driven baselines, on 2 and on 4 GPUs, and prints tables. It needs bash, awk, a CUDA toolkit, NCCL 2.28 or newer, and
# nothing of the project's own build; what is missing is named. The jobs are tests/gpu/jobs.
#
#   tests/gpu/run.sh [--build-only] [--workload NAME] [--ranks N] [--noise JOBS] [--bundle FOLDER] [FOLDER]
#
# Logs, reports and tables go to FOLDER. --workload and --ranks, which may come several times, leave out the others.
# --bundle: a bundle of cucoctl (packaging/bundle-cli), which is then run too: node probe, and eval of one strategy with
# its profile. --noise: instead, so many jobs of one program against itself, on 2 and on 4 GPUs.
# CUCO_GPU_BUDGET_S (500): no new measurement begins after so many seconds.
set -u
shopt -s nullglob

build_only=0
noise_jobs=0
bundle=
workloads=
rank_counts=
while :; do
    case ${1:-} in
        --build-only) build_only=1 ;;
        --workload)
            workloads="$workloads ${2:?--workload takes a name}"
            shift
            ;;
        --ranks)
            rank_counts="$rank_counts ${2:?--ranks takes a count}"
            shift
            ;;
        --noise)
            noise_jobs=${2:?--noise takes a count}
            shift
            ;;
        --bundle)
            bundle=${2:?--bundle takes a folder}
            shift
            ;;
        *) break ;;
    esac
    shift
done
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "${1:-gpu-results}" || exit 3
out=$(cd "${1:-gpu-results}" && pwd)
budget_s=${CUCO_GPU_BUDGET_S:-500}
harness_sources=$root/workloads/harness
if [ "$noise_jobs" -gt 0 ]; then
    workloads=gemm_allgather
elif [ -z "$workloads" ]; then
    for job in "$root"/tests/gpu/jobs/*.2.time.job; do workloads="$workloads $(basename "$job" .2.time.job)"; done
fi
rank_counts=${rank_counts:-2 4}
logs=$out/logs
build=$(mktemp -d) || exit 3
trap 'rm -rf "$build"' EXIT
rm -rf "$logs" "$out/jobs" "$out/not_verified" "$out/measured.txt" "$out/nccl.log"
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
    if [ "$build_only" = 1 ]; then
        [ "$(builtCount)" = "$(wc -l < "$build/wanted")" ]
        exit
    fi

    gpus=$(limited 20 nvidia-smi -L 2>/dev/null | grep -c '^GPU ')
    [ "$gpus" -ge 2 ] || stop "nvidia-smi lists $gpus GPUs; this test needs two."
    limited 20 nvidia-smi > "$out/nvidia-smi.txt" 2>&1
    limited 20 nvidia-smi topo -m > "$out/topology.txt" 2>&1
    say "$gpus GPUs ($(limited 20 nvidia-smi --query-gpu=name --format=csv,noheader | head -1))"

    if [ "$noise_jobs" -gt 0 ]; then
        for ranks in $rank_counts; do
            [ "$gpus" -ge "$ranks" ] && measureNoise "$noise_jobs"
        done
        exit
    fi
    for ranks in $rank_counts; do
        if [ "$gpus" -lt "$ranks" ]; then
            say "SKIPPED: $ranks ranks (this machine has $gpus GPUs)"
            continue
        fi
        for workload in $workloads; do
            # shellcheck disable=SC2046
            verifyCandidates "$workload" seed_lsa $(sourcesOf "$workload" strategies)
            # shellcheck disable=SC2086
            [ -n "$verified" ] && [ "$SECONDS" -lt "$budget_s" ] && timeWorkload "$workload" $verified
        done
    done
    runBundle || echo "cucoctl of the bundle" >> "$out/not_verified"

    echo
    echo "Makespans in µs by the supervisor's clock: medians of 12, every iteration with new inputs and compared in full."
    echo "Speed-up over the strongest host-driven baseline of the same job, 95 % bootstrap interval. The bound is the largest"
    echo "of the computing alone, the bytes over the links and the bytes through the memory at the rates of that job."
    echo "Exposed: time - computing alone. The last column is the speed-up over host.cu."
    echo
    table=(awk -f "$root/tests/gpu/statistics.awk" -f "$root/tests/gpu/table.awk")
    touch "$out/measured.txt"
    "${table[@]}" "$out/measured.txt" | tee "$out/table.txt"
    "${table[@]}" -v all=1 "$out/measured.txt" > "$out/table_all.txt"
    failed=0
    if [ -f "$out/not_verified" ]; then
        sed 's/^/not verified: /' "$out/not_verified"
        failed=$(wc -l < "$out/not_verified")
    fi
    say "$failed failed; all candidates are in $out/table_all.txt, reports in $out/jobs"
    [ "$failed" = 0 ]
}

# cucoctl of a bundle, on this machine as it is.
runBundle() {
    if [ -z "$bundle" ]; then
        say "SKIPPED: cucoctl (no --bundle)"
        return 0
    fi
    local ctl=$bundle/bin/cucoctl
    local strategy=$root/workloads/gemm_allgather/strategies/stream_overlap_copy_engine.cu
    limited 60 "$ctl" node probe || { say "cucoctl node probe FAILED"; return 1; }
    limited 200 "$ctl" eval gemm_allgather "$strategy" --node local --ranks 2 --shape 4096 ||
        { say "cucoctl eval FAILED"; return 1; }
}

# The pipe keeps the last lines from getting lost when the caller stops listening at our end.
main 2>&1 | tee "$out/summary.txt"
exit "${PIPESTATUS[0]}"
