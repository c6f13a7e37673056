#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Runs every candidate of this folder that GPUs can run, of all workloads, and says which verdict is not as expected.
#   tests/adversarial/run_gpu.sh CUCOCTL [NAME...]
# CUCOCTL: the program, or the folder of an unpacked bundle that has it in bin/. NAME: parts of file names to run only
# those. First all are verified, CUCO_ADVERSARIAL_JOBS (6) at a time on the same GPUs, each job with a cache and so a lease
# of its own; then those that should have been noticed and were not are also timed, alone, at the first search shape.
# CUCO_ADVERSARIAL_LIMIT_S (300, for each job), CUCO_ADVERSARIAL_NODE (local) and CUCO_ADVERSARIAL_RANKS (the workload's)
# change what is run. CUCO_ADVERSARIAL_CACHE: a cache folder whose builds are used.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cucoctl=${1:?usage: run_gpu.sh CUCOCTL [NAME...]}
shift
[ -d "$cucoctl" ] && cucoctl=$cucoctl/bin/cucoctl
[ -x "$cucoctl" ] || { echo "run_gpu.sh: $cucoctl is no program." >&2; exit 2; }
limit=${CUCO_ADVERSARIAL_LIMIT_S:-300} node=${CUCO_ADVERSARIAL_NODE:-local}
jobs=${CUCO_ADVERSARIAL_JOBS:-6}
options=(--node "$node" ${CUCO_ADVERSARIAL_RANKS:+--ranks "$CUCO_ADVERSARIAL_RANKS"})
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT

field() { sed -n "s#^// $2: ##p" "$1" | head -n 1; }
# Of an honest one nothing is said.
expectation() {
    local expected=
    [ "$node" = emulated ] || expected=$(field "$1" on_gpus)
    expected=${expected:-$(field "$1" expect)}
    echo "${expected:-verified}"
}
chosen() {
    [ $# -eq 1 ] && return 0
    local file=$1 part
    shift
    for part in "$@"; do [[ $file == *"$part"* ]] && return 0; done
    return 1
}
# Folders of gemm_allgather's lie here, those of another workload in a folder of its name.
workloadOf() {
    local folder
    folder=$(basename "$(dirname "$(dirname "$1")")")
    [ -d "$here/../../workloads/$folder" ] && echo "$folder" || echo gemm_allgather
}
firstShapeOf() {
    awk -F'"' '/"search"/ { inside = 1 } inside && /"name"/ { for (i = 1; i < NF; ++i) if ($i == "name") { print $(i + 2); exit } }' \
        "$here/../../workloads/$1/workload.json"
}
# evaluate STAGE WORKLOAD CACHE LOG FILE...: lines "FILE: VERDICT MESSAGE".
evaluate() {
    local stage=$1 workload=$2 cache=$3 log=$4
    shift 4
    mkdir -p "$cache"
    # The second file makes it several, whose verdicts come in a line each; what is alone comes twice.
    [ $# -eq 1 ] && set -- "$1" "$1"
    local at=("${options[@]}" --stage "$stage")
    [ "$stage" = verify ] || [ "$node" = emulated ] || at+=(--shape "$(firstShapeOf "$workload")")
    XDG_CACHE_HOME=$cache timeout -k 10 "$limit" "$cucoctl" eval "$workload" "$@" "${at[@]}" >> "$log" 2>> "$log.err" < /dev/null
}
# verdictOf FILE LOG…: of the last log that tells it.
verdictOf() {
    local file=$1
    shift
    cat "$@" 2> /dev/null | awk -v file="$file" 'index($0, file ": ") == 1 { found = substr($0, length(file) + 3) } END { print found }'
}

candidates=()
shopt -s nullglob
for file in "$here"/{,*/}honest/*.cu "$here"/{,*/}{timing,replay,wrong_result,bypass,host}/*.cu; do
    chosen "$file" "$@" || continue
    [ "$(field "$file" node)" = emulated ] && continue
    least=$(field "$file" ranks)
    if [ -n "${CUCO_ADVERSARIAL_RANKS:-}" ] && [ "${least:-0}" -gt "$CUCO_ADVERSARIAL_RANKS" ]; then
        echo "left out, is right with so few ranks: ${file#"$here"/}"
        continue
    fi
    candidates+=("$file")
done
[ ${#candidates[@]} -gt 0 ] || { echo "run_gpu.sh: no candidate is called that." >&2; exit 2; }

# report FILE…: a line each, and the sentence of what is not as expected.
right=0 wrong=0
report() {
    local file expected said got ok
    for file in "$@"; do
        expected=$(expectation "$file")
        said=$(verdictOf "$file" "$work"/log[0-9] "$work"/log[0-9][0-9] "$work/timed")
        got=${said%%[: ]*}
        if [[ -n $got && "|$expected|" == *"|$got|"* ]]; then
            ok=ok
            right=$((right + 1))
        else
            ok=NO
            wrong=$((wrong + 1))
        fi
        printf '%-46s %-40s %-22s %s\n' "${file#"$here"/}" "$expected" "${got:-none}" "$ok"
        [ $ok = NO ] && printf '    %s\n' "$said"
    done
}

workloads=$(for file in "${candidates[@]}"; do workloadOf "$file"; done | sort -u)
printf '%-46s %-40s %-22s %s\n' file expected got ok
for ((job = 0; job < jobs; ++job)); do
    [ -n "${CUCO_ADVERSARIAL_CACHE:-}" ] && cp -R "$CUCO_ADVERSARIAL_CACHE" "$work/cache$job"
done
for workload in $workloads; do
    of_workload=()
    for file in "${candidates[@]}"; do [ "$(workloadOf "$file")" = "$workload" ] && of_workload+=("$file"); done
    for ((job = 0; job < jobs; ++job)); do
        mine=()
        for ((i = job; i < ${#of_workload[@]}; i += jobs)); do mine+=("${of_workload[i]}"); done
        [ ${#mine[@]} -gt 0 ] && evaluate verify "$workload" "$work/cache$job" "$work/log$job" "${mine[@]}" &
    done
    wait
    unnoticed=()
    for file in "${of_workload[@]}"; do
        got=$(verdictOf "$file" "$work"/log[0-9] "$work"/log[0-9][0-9])
        [ "${got%%[: ]*}" = verified ] && [ "$(expectation "$file")" != verified ] && unnoticed+=("$file")
    done
    [ ${#unnoticed[@]} -gt 0 ] && evaluate benchmark "$workload" "$work/cache0" "$work/timed" "${unnoticed[@]}"
    report "${of_workload[@]}"
done

[ $wrong -gt 0 ] && tail -qn 3 "$work"/*.err
echo "$right passed, $wrong failed"
[ $wrong -eq 0 ]
