#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Figures of the whole product as a person meets it, on this machine. Needs Xvfb and xwininfo (packages xvfb, x11-utils).
#
#   tests/bench/desktop_bench.sh start [FILE.cuco]   start to window, resident memory; FILE makes it open a run
#   tests/bench/desktop_bench.sh fresh               fresh clone to window, compiler cache off, packages installed
#   tests/bench/desktop_bench.sh evaluate            one emulated candidate, 4 ranks, from source to verdict
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
pids=()
cleanup() {
    for pid in "${pids[@]}"; do kill -- "-$pid" 2>/dev/null || kill "$pid" 2>/dev/null || true; done
    rm -rf "$scratch"
}
trap cleanup EXIT

machine() {
    echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores," \
        "$(awk '/MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo), load $(cut -d' ' -f1 /proc/loadavg)"
}
now_ms() { date +%s%3N; }

start_display() {
    local number=90
    while [ -e "/tmp/.X11-unix/X$number" ]; do number=$((number + 1)); done
    export DISPLAY=:$number
    setsid Xvfb "$DISPLAY" -screen 0 1600x1000x24 >/dev/null 2>&1 &
    pids+=($!)
    for _ in $(seq 100); do
        xwininfo -root >/dev/null 2>&1 && return
        sleep 0.05
    done
    echo "Xvfb did not start." >&2
    exit 3
}

# wait_for_window SECONDS: until a window of the desktop is on the screen.
wait_for_window() {
    local end=$(($(now_ms) + $1 * 1000))
    until xwininfo -root -tree 2>/dev/null | grep -q '("cuco" "cuco")'; do
        [ "$(now_ms)" -lt "$end" ] || { echo "No window after $1 s." >&2; exit 1; }
        sleep 0.01
    done
}

start() {
    start_display
    local program=$root/build/release/bin/cuco begin took runs=()
    [ -x "$program" ] || { echo "Build it first: cmake --preset release && cmake --build --preset release" >&2; exit 3; }
    export XDG_CONFIG_HOME=$scratch/config
    for run in 1 2 3 4 5 6; do
        begin=$(now_ms)
        setsid "$program" ${1+"$1"} >/dev/null 2>"$scratch/err" &
        local pid=$!
        pids+=("$pid")
        wait_for_window 60
        took=$(($(now_ms) - begin))
        # The first start warms the page cache.
        [ "$run" -gt 1 ] && runs+=("$took")
        if [ "$run" = 6 ]; then
            sleep 5
            awk '/VmRSS/ { printf "resident memory 5 s later: %.0f MB\n", $2 / 1024 }' "/proc/$pid/status"
        fi
        kill "$pid"
        wait "$pid" 2>/dev/null || true
    done
    echo "start to window, five starts after a first: $(printf '%s\n' "${runs[@]}" | sort -n | tr '\n' ' ')ms"
}

fresh() {
    start_display
    export CCACHE_DISABLE=1 XDG_CONFIG_HOME=$scratch/config XDG_CACHE_HOME=$scratch/cache
    local begin
    begin=$(now_ms)
    git clone -q "$root" "$scratch/clone"
    setsid "$scratch/clone/packaging/run" >"$scratch/log" 2>&1 &
    pids+=($!)
    wait_for_window 1500
    echo "fresh clone to window: $((($(now_ms) - begin) / 1000)) s"
}

evaluate() {
    local program=$root/build/release/bin/cucoctl times=() begin
    "$program" eval gemm_allgather "$root/workloads/gemm_allgather/seed_lsa.cu" --node emulated >/dev/null
    for name in fused_tile_push lsa_push_sequential stream_overlap_copy_engine stream_overlap_sm_push; do
        begin=$(now_ms)
        "$program" eval gemm_allgather "$root/workloads/gemm_allgather/strategies/$name.cu" --node emulated --ranks 4 \
            --json >"$scratch/$name.json"
        echo "$name, with its baseline: $(($(now_ms) - begin)) ms"
    done
}

machine
case "${1-}" in
start) start "${@:2:1}" ;;
fresh) fresh ;;
evaluate) evaluate ;;
*)
    sed -n 's/^# \{0,1\}//; 5,10p' "$0"
    exit 2
    ;;
esac
