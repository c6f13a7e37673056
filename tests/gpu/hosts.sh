#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Ranks on several hosts, as far as one machine with two GPUs shows it: two agents of this machine, started by mpirun, each
# with a GPU; gemm_allgather's host-driven programs at 4096³ and wrong ones, with and without NVLink between the ranks. The
# same job without agents stands beside it. It needs what run.sh needs, and mpirun.
#
#   tests/gpu/hosts.sh [FOLDER]
set -u
shopt -s nullglob
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "${1:-hosts-results}" || exit 3
out=$(cd "${1:-hosts-results}" && pwd)
budget_s=${CUCO_GPU_BUDGET_S:-300}
harness_sources=$root/workloads/harness
workloads=gemm_allgather
ranks=2
logs=$out/logs
build=$(mktemp -d) || exit 3
trap 'rm -rf "$build"' EXIT
mkdir -p "$build/objects" "$build/candidates" "$logs" "$out/jobs"
export NCCL_NVLS_ENABLE=0 NCCL_SOCKET_IFNAME=lo NCCL_DEBUG=WARN

say() { printf '[%3d s] %s\n' "$SECONDS" "$*"; }
stop() { say "$*"; exit 3; }
limited() { local seconds=$1; shift; timeout -k 5 "$seconds" "$@"; }
. "$root/tests/gpu/toolchain.sh"
. "$root/tests/gpu/measure.sh"

mpirun=$(command -v mpirun) || stop "SKIPPED: mpirun is not installed."
findCuda || stop "No nvcc was found."
findNccl || stop "No NCCL of 2.28 or newer was found whose header and library are the same version."

# Wrong in one way each; what is expected of them.
variants=$build/variants
mkdir -p "$variants/gemm_allgather"
host=$root/workloads/gemm_allgather/host.cu
cp "$host" "$root"/workloads/gemm_allgather/baselines/*.cu "$root/workloads/gemm_allgather/strategies/stream_overlap_copy_engine.cu" \
    "$variants/gemm_allgather"
spoil() { # NAME STATEMENT: host.cu whose cuco_run begins with it
    awk -v statement="$2" '{ print } /cuco_run\(/ { inside = 1 } inside && /\{/ { print statement; inside = 0 }' "$host" \
        > "$variants/gemm_allgather/$1.cu"
}
spoil leaves_out "    return 0;"
spoil dies "    { static int calls = 0; int device = 0; cudaGetDevice(&device); if (device == 1 && calls++ == 1) _exit(7); }"
spoil hangs "    { static int calls = 0; int device = 0; cudaGetDevice(&device); if (device == 1 && calls++ == 1) for (;;) usleep(1000); }"
sed -i '1i #include <unistd.h>' "$variants/gemm_allgather"/{dies,hangs}.cu
buildAll
say "built: $(builtCount) of $(wc -l < "$build/wanted") shared objects"

# jobOf NAME CANDIDATE HOSTS [BASELINE…]: at 4096³, where HOSTS is 1 or 2
jobOf() {
    local name=$1 candidate=$2 hosts=$3
    shift 3
    fillJob gemm_allgather gemm_allgather.2.time.job "$candidate" "$@" |
        awk '/^shape / { wanted = $2 == 4096 } !/^shape / && !begun { print; next } { begun = 1 } wanted' begun=0 |
        awk -v hosts="$hosts" -v mpirun="$mpirun" '
            /^shape / && begun++ == 0 && hosts == 2 {
                print "host 1 localhost\nhost 1 127.0.0.1\nlaunch " mpirun "\nlaunch --host\nlaunch localhost:1,127.0.0.1:1\nlaunch -np\nlaunch 2"
                print "launch --bind-to\nlaunch none\nlaunch --allow-run-as-root"
            }
            { print }' > "$out/jobs/$name.txt"
}
report() {
    runJob "$1" 100
    local verdict=$message
    [ -z "$verdict" ] && grep -q '"event":"mismatch"' "$out/jobs/$1.jsonl" && verdict=mismatch
    say "$1: ${verdict:-right}"
    grep -o '"hosts":\[[^]]*\]' "$out/jobs/$1.jsonl" | head -1
    grep -o '"link_bytes_per_s":[0-9.e+]*' "$out/jobs/$1.jsonl"
    samplesOf "$out/jobs/$1.jsonl" host | awk '
        { n = NF - 2; for (i = 0; i < n; ++i) v[i] = $(i + 3); for (i = 1; i < n; ++i) { x = v[i]; for (j = i - 1; j >= 0 && v[j] > x; --j) v[j + 1] = v[j]; v[j + 1] = x }
          printf "    %-22s median %9.1f us of %d, %.1f to %.1f\n", $2, v[int(n / 2)], n, v[0], v[n - 1] }'
    grep -o '"program":"[^"]*"\|"start_uncertainty_us":[0-9.]*\|"ms":{[^}]*}' "$out/jobs/$1.jsonl" | grep -v program | sort | uniq -c | sort -rn | head -4
}
baselines=(registered_window chunked_overlap)
jobOf one_host host 1 "${baselines[@]}"
report one_host
jobOf two_agents host 2 "${baselines[@]}"
report two_agents
jobOf copy_engine stream_overlap_copy_engine 2 host
report copy_engine
for name in leaves_out dies hangs; do
    jobOf "$name" "$name" 2
    report "$name"
done
# Through the loopback, as ranks on different machines go through their network.
export NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1
jobOf two_agents_by_sockets host 2 chunked_overlap
report two_agents_by_sockets
jobOf one_host_by_sockets host 1 chunked_overlap
report one_host_by_sockets
say "left behind: $(pgrep -c -f "$build/harness" || true) processes"
