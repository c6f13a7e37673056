# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154,SC2034
#
# Sourced by run.sh: writes jobs, runs the harness on them, reads its reports.

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
    printf 'shape %s %s %s %s\nseed 4711\nbuffer in a bf16%s\nbuffer in b bf16%s\nbuffer out c bf16%s\n' \
        "$1" "$2" "$3" "$4" "$a" "$b" "$c"
}

# jobHead CANDIDATE LIMIT_S
jobHead() {
    printf 'cuco-job 1\ncandidate %s\nreference %s\nranks %s\nlimit %s\ntolerance 0.005 0.05\n' \
        "$build/candidates/$1.so" "$build/candidates/reference.so" "$ranks" "$2"
}

# harness MODE JOB_FOLDER LIMIT_S: the report in MODE.jsonl, what the candidate printed in MODE.log.
harness() {
    CUCO_REPORT_FD=3 limited "$3" "$build/harness" "$1" "$2/job.txt" 3> "$2/$1.jsonl" > "$2/$1.log" 2>&1 < /dev/null
    echo "exit status $?" >> "$2/$1.log"
}

# messageOf REPORT: the first failure's sentence, or the first mismatch.
messageOf() {
    grep -h -m 1 -e '"event":"failure"' -e '"event":"mismatch"' "$1" 2>/dev/null |
        sed -E 's/.*"kind":"([^"]*)".*"message":"(([^"\\]|\\.)*)".*/\1: \2/' | cut -c 1-300
}

# verifyCandidate NAME: odd, uneven and tiny shapes and one large, some with ranks that start late.
verifyCandidate() {
    local job=$out/jobs/$1.verify expected
    if [ "$SECONDS" -ge "$budget_s" ]; then
        echo "$1 not run: the time is used up" >> "$out/verdicts"
        return 1
    fi
    if [ ! -f "$build/candidates/$1.so" ]; then
        echo "$1 not built" >> "$out/verdicts"
        return 1
    fi
    mkdir -p "$job"
    {
        jobHead "$1" 40
        shapeLines odd 1021 517 333
        printf 'iterations 4\ndump 1\n'
        shapeLines uneven 1030 1024 512
        printf 'iterations 4\ndump 1\nskew 7\n'
        shapeLines few_rows 3 264 128
        printf 'iterations 3\ndump 1\nskew 8\n'
        shapeLines 4096 4096 4096 4096
        printf 'iterations 1\ndump 1\n'
    } > "$job/job.txt"
    expected=$((12 * ranks))
    harness run "$job" 60
    if ! grep -q '"event":"failure"' "$job/run.jsonl" && grep -q '"event":"done"' "$job/run.jsonl"; then
        harness check "$job" 60
    fi
    rm -f "$job"/out.*.bin
    touch "$job/check.jsonl"
    local checked
    checked=$(grep -c '"event":"checked"' "$job/check.jsonl")
    if [ "$checked" = "$expected" ]; then
        echo "$1 ok" >> "$out/verdicts"
        say "$1: verified, $checked outputs, largest relative l2" \
            "$(sed -n 's/.*"relative_l2":\([0-9.e+-]*\).*/\1/p' "$job/check.jsonl" | sort -g | tail -1)"
        return 0
    fi
    local message
    message=$(messageOf "$job/run.jsonl")
    [ -n "$message" ] || message=$(messageOf "$job/check.jsonl")
    [ -n "$message" ] || message="no verdict; see $job"
    echo "$1 failed: $message" >> "$out/verdicts"
    say "$1: FAILED ($checked of $expected outputs right): $message"
    tail -n 5 "$job/run.log" "$job/check.log" 2>/dev/null | sed 's/^/    /'
    return 1
}

# timeCandidate NAME "SIZES" TAG: square shapes.
timeCandidate() {
    local job=$out/jobs/$1.time.$3 size report
    [ "$SECONDS" -lt "$budget_s" ] && [ -f "$build/candidates/$1.so" ] || return 0
    mkdir -p "$job"
    {
        jobHead "$1" 40
        for size in $2; do
            shapeLines "$size" "$size" "$size" "$size"
            printf 'iterations 20\nwarmup 3\ntime 1\n'
        done
    } > "$job/job.txt"
    harness run "$job" 60
    report=$job/run.jsonl
    for size in $2; do
        sed -n "s/.*\"event\":\"time\",\"shape\":\"$size\",\"samples_us\":\[\([^]]*\)\].*\"event_us\":\[\([^]]*\)\],\"burst\":\([0-9]*\).*/\1;\2;\3/p" \
            "$report" | while IFS=';' read -r host_us event_us burst; do
            echo "$size $1 $3 $(median "$host_us") $(spread "$host_us") $(median "$event_us") $burst"
        done
    done >> "$out/times"
    grep -q '"event":"failure"' "$report" && say "$1: timing failed: $(messageOf "$report")"
    return 0
}

sorted() { echo "$1" | tr ',' '\n' | sort -g; }
median() { sorted "$1" | awk '{ v[NR] = $1 } END { printf "%.1f", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
# Half the distance between the quartiles, in per cent of the median.
spread() { sorted "$1" | awk '{ v[NR] = $1 } END { printf "%.1f", 50 * (v[int(NR * 0.75 + 0.5)] - v[int(NR * 0.25 + 0.5)]) / v[int((NR + 1) / 2)] }'; }

printTable() {
    touch "$out/times" "$out/verdicts"
    echo
    echo "Makespans in µs, medians of 20 with half the interquartile range. The bound is max(product at $tflops TFLOP/s,"
    echo "peers' rows at $gbs GB/s). 'events' are CUDA events around the same iterations."
    printf '%6s %5s %-27s %-9s %10s %6s %10s %6s %8s %8s\n' shape ranks candidate verified 'µs' '± %' 'events' burst \
        'speed-up' 'bound µs'
    sort -s -k 1,1n "$out/times" | awk -v ranks="$ranks" -v tflops="$tflops" -v gbs="$gbs" -v verdicts="$out/verdicts" '
        BEGIN {
            while ((getline line < verdicts) > 0) {
                split(line, words, " ")
                verdict[words[1]] = words[2] == "ok" ? "yes" : "NO"
            }
        }
        {
            if ($2 == "host" && $3 != "again")
                host[$1] = $4
            name = $3 == "again" ? $2 " (again)" : $2
            compute = 2 * $1 * $1 * $1 / ranks / tflops * 1e-6
            link = 2 * $1 * $1 * (ranks - 1) / ranks / gbs * 1e-3
            printf "%6d %5d %-27s %-9s %10.1f %6.1f %10.1f %6d %8s %8.1f\n", $1, ranks, name,
                ($2 in verdict ? verdict[$2] : "variant"), $4, $5, $6, $7,
                ($1 in host ? sprintf("%.2f", host[$1] / $4) : "-"), (compute > link ? compute : link)
        }'
    grep -v ' ok$' "$out/verdicts" | sed 's/^/not verified: /'
}
