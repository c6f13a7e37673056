# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154,SC2034
#
# Sourced by run.sh: writes jobs, runs the harness on them, and says how they ended.

baselines="registered_window zero_cta chunked_overlap"

# rowsOf M RANK: A's rows on that rank.
rowsOf() { echo $(($1 / ranks + ($2 < $1 % ranks ? 1 : 0))); }

# shapeLines NAME M N K: the shape and its buffers on each rank.
shapeLines() {
    local a="" b="" c="" rank
    for ((rank = 0; rank < ranks; ++rank)); do
        a="$a $(($(rowsOf "$2" "$rank") * $4))"
        b="$b $(($4 * $3))"
        c="$c $(($2 * $3))"
    done
    printf 'shape %s %s %s %s\nseed %s\nbuffer in a bf16%s\nbuffer in b bf16%s\nbuffer out c bf16%s\n' \
        "$1" "$2" "$3" "$4" "$((RANDOM * 32768 + RANDOM))" "$a" "$b" "$c"
}

# jobFor CANDIDATE "SIZES": three odd shapes to verify, then square ones in turns with all baselines.
jobFor() {
    local size name
    printf 'cuco-job 1\ncandidate %s\nreference %s\nranks %s\nlimit 60\ntolerance 0.005 0.05\nrates 1\n' \
        "$build/candidates/$1.so" "$build/candidates/reference.so" "$ranks"
    for name in host $baselines; do
        [ -f "$build/candidates/$name.so" ] && printf 'baseline %s %s\n' "$name" "$build/candidates/$name.so"
    done
    printf 'unchecked compute_alone %s\n' "$build/candidates/compute_alone.so"
    shapeLines odd 1021 517 333
    printf 'iterations 3\nconsecutive 3\n'
    shapeLines uneven 1030 1024 512
    printf 'iterations 3\nconsecutive 3\nskew 7\n'
    shapeLines few_rows 3 264 128
    printf 'iterations 3\nconsecutive 3\nskew 8\n'
    for size in $2; do
        shapeLines "$size" "$size" "$size" "$size"
        printf 'iterations 1\nrounds 12\n'
    done
}

# messageOf REPORT: the first failure's sentence, or the first mismatch.
messageOf() {
    grep -h -m 1 -e '"event":"failure"' -e '"event":"mismatch"' "$1" 2>/dev/null |
        sed -E 's/.*"kind":"([^"]*)".*"message":"(([^"\\]|\\.)*)".*/\1: \2/' | cut -c 1-300
}

# measureCandidate NAME "SIZES": the report in jobs/RANKS.NAME.jsonl; a line for verdicts.
measureCandidate() {
    local job=$out/jobs/$ranks.$1 began=$SECONDS message
    if [ "$SECONDS" -ge "$budget_s" ]; then
        echo "$ranks $1 not run: the time is used up" >> "$out/verdicts"
        return 1
    fi
    if [ ! -f "$build/candidates/$1.so" ]; then
        echo "$ranks $1 not built" >> "$out/verdicts"
        return 1
    fi
    jobFor "$1" "$2" > "$job.txt"
    CUCO_REPORT_FD=3 limited 60 "$build/harness" run "$job.txt" 3> "$job.jsonl" > "$job.log" 2>&1 < /dev/null
    message=$(messageOf "$job.jsonl")
    if [ -z "$message" ] && grep -q '"event":"done"' "$job.jsonl"; then
        echo "$ranks $1 ok" >> "$out/verdicts"
        say "$ranks ranks, $1: verified, $(grep -c '"event":"checked"' "$job.jsonl") outputs and every timed one," \
            "in $((SECONDS - began)) s"
        grep -h '"event":"baseline_failed"' "$job.jsonl" | sed -E 's/.*"program":"([^"]*)","message":"(([^"\\]|\\.)*)".*/    baseline \1 takes no part: \2/'
        return 0
    fi
    [ -n "$message" ] || message="no verdict; see $job.jsonl"
    echo "$ranks $1 failed: $message" >> "$out/verdicts"
    say "$ranks ranks, $1: FAILED: $message"
    tail -n 5 "$job.log" | sed 's/^/    /'
    return 1
}

# Lines "SHAPE PROGRAM SAMPLE SAMPLE …" of a report, its candidate under the name it has here.
samplesOf() {
    sed -n 's/.*"event":"time","shape":"\([^"]*\)","program":"\([^"]*\)","samples_us":\[\([^]]*\)\].*/\1 \2 \3/p' "$1" |
        sed "s/ candidate / $2 /" | tr ',' ' '
}
linkRateOf() { sed -n 's/.*"link_bytes_per_s":\([0-9.e+]*\).*/\1/p' "$1" | head -1; }

# printTable RANKS: what the reports of that many ranks say.
printTable() {
    local ranks=$1 report name
    for report in "$out"/jobs/"$ranks".*.jsonl; do
        name=$(basename "$report" .jsonl)
        name=${name#"$ranks".}
        echo "candidate $name $(linkRateOf "$report")"
        samplesOf "$report" "$name"
    done | awk -v ranks="$ranks" -v all="$2" -f "$root/tests/gpu/statistics.awk" -f "$root/tests/gpu/table.awk"
}

# measureNoise JOBS: so many jobs of host.cu against itself, each with six trials of twelve rounds at each shape.
measureNoise() {
    local job i trial size
    for ((i = 1; i <= $1 && SECONDS < budget_s; ++i)); do
        job=$out/jobs/$ranks.noise.$i
        {
            printf 'cuco-job 1\ncandidate %s\nreference %s\nranks %s\nlimit 110\ntolerance 0.005 0.05\nbaseline again %s\n' \
                "$build/candidates/host.so" "$build/candidates/reference.so" "$ranks" "$build/candidates/host.so"
            for trial in 1 2 3 4 5 6; do
                for size in 2048 4096 8192; do
                    shapeLines "${size}_$trial" "$size" "$size" "$size"
                    printf 'iterations 0\nrounds 12\n'
                done
            done
        } > "$job.txt"
        CUCO_REPORT_FD=3 limited 120 "$build/harness" run "$job.txt" 3> "$job.jsonl" > "$job.log" 2>&1 < /dev/null
        samplesOf "$job.jsonl" host
    done > "$out/noise_samples.$ranks.txt"
    awk -v ranks="$ranks" -f "$root/tests/gpu/statistics.awk" -f "$root/tests/gpu/noise.awk" "$out/noise_samples.$ranks.txt" |
        tee "$out/noise.$ranks.txt"
}
