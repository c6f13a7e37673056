# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154,SC2034
#
# Sourced by run.sh: fills the jobs of tests/gpu/jobs in, runs the harness on them, and says how they ended.

# Files below the workload's folder, without their endings: sourcesOf WORKLOAD strategies|baselines
sourcesOf() {
    local source
    for source in "$root/workloads/$1/$2"/*.cu; do basename "$source" .cu; done
}
isBuilt() { [ -f "$build/candidates/$1/$2.so" ]; }

# fillJob WORKLOAD TEMPLATE CANDIDATE [BASELINE…]: the job, with seeds of this moment.
fillJob() {
    local workload=$1 template=$2 candidate=$3 folder=$build/candidates/$1 name
    shift 3
    local programs=""
    for name in "$@"; do
        programs="$programs$([ "$name" = compute_alone ] && echo unchecked || echo baseline) $name $folder/$name.so\\n"
    done
    sed -e '/^#/d' -e "s|@candidate@|$folder/$candidate.so|" -e "s|^reference .*|&\\n$programs|" \
        -e "s|@reference@|$folder/reference.so|" "$root/tests/gpu/jobs/$template" |
        awk -v first="$((RANDOM * 32768 + RANDOM))" '/^$/ { next } /^seed / { $2 = first += 1000003 } { print }'
}

# runJob NAME SECONDS: jobs/NAME.txt; the report in jobs/NAME.jsonl. The first failure's sentence in $message.
runJob() {
    local job=$out/jobs/$1
    CUCO_REPORT_FD=3 limited "$2" "$build/harness" run "$job.txt" 3> "$job.jsonl" > "$job.log" 2>&1 < /dev/null
    message=$(grep -h -m 1 -e '"event":"failure"' -e '"event":"mismatch"' "$job.jsonl" 2>/dev/null |
        sed -E 's/.*"kind":"([^"]*)".*"message":"(([^"\\]|\\.)*)".*/\1: \2/' | cut -c 1-300)
    [ -n "$message" ] || grep -q '"event":"done"' "$job.jsonl" || message="no verdict; see $job.jsonl and $job.log"
    [ -z "$message" ]
}

# verifyCandidate WORKLOAD NAME: at all shapes that are only verified.
verifyCandidate() {
    local job=$1.$ranks.verify.$2 began=$SECONDS
    if [ "$SECONDS" -ge "$budget_s" ]; then
        echo "$1 $2 on $ranks ranks: not run, the time is used up" >> "$out/not_verified"
        return 1
    fi
    isBuilt "$1" "$2" || { echo "$1 $2: not built" >> "$out/not_verified"; return 1; }
    fillJob "$1" "$1.$ranks.verify.job" "$2" > "$out/jobs/$job.txt"
    if runJob "$job" 60; then
        say "$1 on $ranks ranks, $2: verified, $(grep -c '"event":"checked"' "$out/jobs/$job.jsonl") outputs in $((SECONDS - began)) s"
        return 0
    fi
    echo "$1 $2 on $ranks ranks: $message" >> "$out/not_verified"
    say "$1 on $ranks ranks, $2: FAILED: $message"
    return 1
}

# verifyCandidates WORKLOAD NAME…: as many at a time as there are CPUs for their ranks, which wait by spinning: most of
# such a job is the start of CUDA and NCCL. Those that were right are in $verified.
verifyCandidates() {
    local workload=$1 at_a_time=$(($(nproc) / (ranks + 1))) name running i
    shift
    verified=
    while [ $# -gt 0 ]; do
        running=()
        for name in "${@:1:at_a_time > 0 ? at_a_time : 1}"; do
            verifyCandidate "$workload" "$name" &
            running+=("$! $name")
        done
        shift "${#running[@]}"
        for i in "${running[@]}"; do
            wait "${i% *}" && verified="$verified ${i#* }"
        done
    done
}

# timeWorkload WORKLOAD OURS…: ours, verified, in turns with host.cu, the baselines and the computing alone.
timeWorkload() {
    local workload=$1 job=$1.$ranks.time began=$SECONDS name
    shift
    local first=$1 others=("${@:2}") baselines=()
    for name in host $(sourcesOf "$workload" baselines); do
        isBuilt "$workload" "$name" && baselines+=("$name")
    done
    fillJob "$workload" "$workload.$ranks.time.job" "$first" "${others[@]}" "${baselines[@]}" > "$out/jobs/$job.txt"
    if ! runJob "$job" 150; then
        echo "$workload on $ranks ranks, timing: $message" >> "$out/not_verified"
        say "$workload on $ranks ranks, timing FAILED: $message"
    fi
    say "$workload on $ranks ranks: $(($# + ${#baselines[@]})) programs timed in $((SECONDS - began)) s"
    sed -nE 's/.*"event":"baseline_failed","program":"([^"]*)","message":"(([^"\\]|\\.)*)".*/    \1 takes no part: \2/p' \
        "$out/jobs/$job.jsonl"
    {
        echo "workload $workload $ranks $(rateOf link "$out/jobs/$job.jsonl") $(rateOf hbm "$out/jobs/$job.jsonl")"
        sed -n 's/^# //p' "$root/tests/gpu/jobs/$workload.$ranks.time.job"
        printf 'ours %s\n' "$first" "${others[@]}"
        samplesOf "$out/jobs/$job.jsonl" "$first"
    } >> "$out/measured.txt"
    samplesOf "$out/jobs/$job.jsonl" "$first" |
        awk -v job="$workload on $ranks ranks" -f "$root/tests/gpu/statistics.awk" -f "$root/tests/gpu/unsteady.awk" |
        tee -a "$out/not_verified"
    [ -s "$out/not_verified" ] || rm -f "$out/not_verified"
}

# Lines "SHAPE PROGRAM SAMPLE SAMPLE …" of a report, its candidate under the name it has here.
samplesOf() {
    sed -n 's/.*"event":"time","shape":"\([^"]*\)","program":"\([^"]*\)","samples_us":\[\([^]]*\)\].*/\1 \2 \3/p' "$1" |
        sed "s/ candidate / $2 /" | tr ',' ' '
}
rateOf() { sed -n "s/.*\"$1_bytes_per_s\":\([0-9.e+]*\).*/\1/p" "$2" | head -1; }

# measureNoise JOBS: so many jobs of gemm_allgather's host.cu against itself, each with six trials at the smaller search
# shapes, of as many rounds as a verdict takes: six to twelve.
measureNoise() {
    local i job
    for ((i = 1; i <= $1 && SECONDS < budget_s; ++i)); do
        job=gemm_allgather.$ranks.noise.$i
        fillJob gemm_allgather "gemm_allgather.$ranks.time.job" host host | awk '
            /^baseline/ { sub("host", "again") }
            /^shape / { wanted = $2 <= 8192; name = $2 }
            !/^shape / && name == "" { print; next }
            wanted { lines[name] = lines[name] "\n" $0; if (!(name in known)) { known[name] = 1; names[++count] = name } }
            END {
                for (trial = 1; trial <= 6; ++trial)
                    for (n = 1; n <= count; ++n) {
                        text = lines[names[n]]
                        sub("\nshape " names[n], "\nshape " names[n] "_" trial, text)
                        sub("\nrounds [0-9]+", "\nrounds 12 6", text)
                        sub("\niterations [0-9]+", "\niterations 0", text)
                        print substr(text, 2)
                    }
            }' > "$out/jobs/$job.txt"
        runJob "$job" 120 || say "noise: $message"
        sed -n 's/.*"event":"time","shape":"\([^"]*\)","program":"\([^"]*\)","samples_us":\[\([^]]*\)\].*"burst":\([0-9]*\).*/'\
'\1 \2 \4 \3/p' "$out/jobs/$job.jsonl" | sed 's/ candidate / host /' | tr ',' ' '
    done > "$out/noise_samples.$ranks.txt"
    awk -v ranks="$ranks" -f "$root/tests/gpu/statistics.awk" -f "$root/tests/gpu/noise.awk" "$out/noise_samples.$ranks.txt" |
        tee "$out/noise.$ranks.txt"
}
