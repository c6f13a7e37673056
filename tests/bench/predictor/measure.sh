#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2034
#
# Times the programs below FOLDER/sources (predictor.py sources) on RANKS GPUs, several in a job, each in turns with host.cu
# at the shapes that the emulated ones represent. Few rounds: enough for an order.
#   tests/bench/predictor/measure.sh FOLDER RANKS
# Lines "WORKLOAD JOB SHAPE PROGRAM SAMPLE…" go to FOLDER/measured.txt as they come, logs and reports to FOLDER/gpu.
# CUCO_GPU_BUDGET_S (300): no job begins after so many seconds. CUCO_PREDICTOR_ROUNDS (3), CUCO_PREDICTOR_PROGRAMS (10 a job).
set -u
shopt -s nullglob
root=$(cd "$(dirname "$0")/../../.." && pwd)
home=$(cd "${1:?usage: measure.sh FOLDER RANKS}" && pwd) || exit 2
budget_s=${CUCO_GPU_BUDGET_S:-300} rounds=${CUCO_PREDICTOR_ROUNDS:-3} most=${CUCO_PREDICTOR_PROGRAMS:-10}
variants=$home/sources out=$home/gpu logs=$home/gpu/logs ranks=${2:?usage: measure.sh FOLDER RANKS}
harness_sources=$root/workloads/harness
build=$(mktemp -d) || exit 3
trap 'rm -rf "$build"' EXIT
mkdir -p "$build/objects" "$build/candidates" "$logs" "$out/jobs"
export NCCL_NVLS_ENABLE=0 NCCL_SOCKET_IFNAME=${NCCL_SOCKET_IFNAME:-lo} NCCL_DEBUG=${NCCL_DEBUG:-WARN}

say() { printf '[%3d s] %s\n' "$SECONDS" "$*"; }
limited() {
    local seconds=$1
    shift
    timeout -k 5 "$seconds" "$@"
}
. "$root/tests/gpu/toolchain.sh"
. "$root/tests/gpu/measure.sh"

# The search shapes that an emulated one represents.
shapesOf() {
    python3 - "$root/workloads/$1/workload.json" << 'PYTHON'
import json, sys
shapes = json.load(open(sys.argv[1]))["shapes"]
plain = lambda shape: {k: v for k, v in shape.items() if k != "name"}
print(*(s["name"] for s in shapes["search"] for e in shapes["emulated_search"] if plain(s) == e["represents"]))
PYTHON
}

# Leaves the job the shapes named, with so many rounds and nothing that is only verified.
onlyShapes() {
    awk -v names=" $* " -v rounds="$rounds" '
        $1 == "shape" { kept = index(names, " " $2 " ") > 0; inside = 1 }
        inside && !kept { next }
        $1 == "rounds" { $2 = rounds }
        $1 == "iterations" { $2 = 0 }
        $1 == "rates" { next }
        { print }'
}

# timeSome WORKLOAD JOB PROGRAM…
timeSome() {
    local workload=$1 job=$1.$2 number=$2 first=$3 began=$SECONDS
    shift 3
    # shellcheck disable=SC2046
    fillJob "$workload" "$workload.$ranks.time.job" "$first" "$@" host | onlyShapes $(shapesOf "$workload") > "$out/jobs/$job.txt"
    runJob "$job" 120 || say "$job: $message"
    samplesOf "$out/jobs/$job.jsonl" "$first" | sed "s/^/$workload $number /" >> "$home/measured.txt"
    say "$job: $(($# + 1)) programs in $((SECONDS - began)) s"
}

findCuda || { say "No nvcc was found."; exit 3; }
findNccl || { say "No NCCL whose header and library are the same version was found; see $out/nccl.log."; exit 3; }
workloads=$(for path in "$variants"/*/; do basename "$path"; done)
buildAll
say "built: $(builtCount) of $(wc -l < "$build/wanted") shared objects"
[ -x "$build/harness" ] || exit 3
: > "$home/measured.txt"
for workload in $workloads; do
    programs=()
    for source in "$variants/$workload"/*.cu; do
        isBuilt "$workload" "$(basename "$source" .cu)" && programs+=("$(basename "$source" .cu)")
    done
    # Jobs of about the same length, and programs of one source not all in one of them.
    jobs=$(((${#programs[@]} + most - 1) / most))
    for ((job = 0; job < jobs && SECONDS < budget_s; ++job)); do
        mine=()
        for ((i = job; i < ${#programs[@]}; i += jobs)); do mine+=("${programs[i]}"); done
        timeSome "$workload" "$job" "${mine[@]}"
    done
done
say "$(wc -l < "$home/measured.txt") times in $home/measured.txt"
