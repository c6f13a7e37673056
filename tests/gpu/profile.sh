#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154,SC1091
#
# Traces strategies of gemm_allgather on two GPUs: the CUPTI injection library, phases inside kernels, both ranks on one
# axis with its measured error, dropped records, and what tracing costs. It needs bash, a CUDA toolkit with CUPTI,
# NCCL 2.28 or newer, and nothing of the project's own build.
#
#   tests/gpu/profile.sh [--build-only] [FOLDER]     logs, timelines and summary.txt go to FOLDER
set -u

build_only=0
if [ "${1:-}" = --build-only ]; then
    build_only=1
    shift
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "${1:-gpu-profile}" || exit 3
out=$(cd "${1:-gpu-profile}" && pwd)
sources=$root/workloads/harness
workload=$root/workloads/gemm_allgather
build=$(mktemp -d) || exit 3
trap 'rm -rf "$build"' EXIT
rm -f "$out/nccl.log"

# A machine may carry GPUs on which NVLink multicast must not be used.
export NCCL_NVLS_ENABLE=0
export NCCL_SOCKET_IFNAME=${NCCL_SOCKET_IFNAME:-lo}

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

# The header and the library of one CUPTI: the toolkit's own, or that of its extras.
findCupti() {
    local toolkit folder library
    toolkit=$(cd "$(dirname "$(readlink -f "$nvcc")")/.." && pwd)
    for folder in "$toolkit/extras/CUPTI" "$toolkit" "$toolkit/targets/x86_64-linux"; do
        [ -f "$folder/include/cupti.h" ] || continue
        for library in "$folder"/lib64/libcupti.so* "$folder"/lib/libcupti.so* "$toolkit"/lib64/libcupti.so*; do
            [ -e "$library" ] || continue
            cupti_include=$folder/include
            cupti_folder=$(dirname "$(realpath "$library")")
            mkdir -p "$build/cupti"
            ln -sf "$(realpath "$library")" "$build/cupti/libcupti.so"
            return 0
        done
    done
    return 1
}

# job NAME COMMAND…: beside the others, its output in a log.
job() {
    local name=$1
    shift
    (limited 90 "$@" > "$out/$name.log" 2>&1 || echo failed >> "$build/failed") &
}

buildAll() {
    local toolkit_include name flags
    toolkit_include=$(dirname "$nvcc")/../include
    flags="$target -std=c++17 -O2 -I$sources -I$nccl_include"
    # shellcheck disable=SC2086
    for name in host strategies/fused_tile_push strategies/stream_overlap_copy_engine strategies/stream_overlap_sm_push; do
        job "build.$(basename $name)" "$nvcc" $flags -shared -Xcompiler -fPIC "$workload/$name.cu" \
            -o "$build/$(basename $name).so" $nccl_flags -lcublas
        job "build.$(basename $name).traced" "$nvcc" $flags -DCUCO_PROFILE -shared -Xcompiler -fPIC "$workload/$name.cu" \
            -o "$build/$(basename $name).traced.so" $nccl_flags -lcublas
    done
    job build.profile g++ -std=c++17 -O2 -shared -fPIC -fvisibility=hidden -Wall -Wextra -I"$cupti_include" \
        -I"$toolkit_include" "$sources"/profile/*.cpp -o "$build/libcuco_profile.so" -L"$build/cupti" -lcupti \
        -Wl,-rpath,"$cupti_folder" -ldl
    # shellcheck disable=SC2086
    job build.driver "$nvcc" $flags "$root/tests/gpu/profile_driver.cpp" "$sources"/rank_trace*.cpp \
        "$sources"/rank_trace*.cu -o "$build/profile_driver" $nccl_flags -ldl
    wait
    [ ! -e "$build/failed" ]
}

# trace NAME SIZE [WORD…]
trace() {
    local name=$1 size=$2 suffix=
    shift 2
    case " $* " in *" hold-cupti "*) suffix=.held ;; esac
    say "$name, $size³${suffix:+, CUPTI held by another subscriber}"
    if CUDA_INJECTION64_PATH=$build/libcuco_profile.so LD_LIBRARY_PATH="$cupti_folder:${LD_LIBRARY_PATH:-}" limited 40 \
        "$build/profile_driver" "$build/$name.so" "$build/$name.traced.so" "$size" "$out/$name.$size$suffix.json" "$@" \
        < /dev/null; then
        return 0
    fi
    failed=$((failed + 1))
    say "$name FAILED"
}

main() {
    findCuda || stop "No nvcc was found: put the CUDA toolkit's bin folder on PATH."
    findCupti || stop "No CUPTI was found in the toolkit of $nvcc: install cuda-cupti-dev."
    findNccl || stop "No NCCL of 2.28 or newer was found whose header and library are the same version; see $out/nccl.log."
    say "nvcc $nvcc, architecture $arch; CUPTI $cupti_folder; NCCL $nccl_version"
    buildAll || { tail -n 5 "$out"/build.*.log; stop "It does not build; see $out/build.*.log."; }
    say "built"
    [ "$build_only" = 1 ] && exit 0
    [ "$(limited 20 nvidia-smi -L 2>/dev/null | grep -c '^GPU ')" -ge 2 ] || stop "This test needs two GPUs."
    failed=0
    trace fused_tile_push 8192 expect-phases
    trace stream_overlap_copy_engine 8192 expect-phases
    trace stream_overlap_sm_push 8192 expect-phases
    trace host 8192
    trace fused_tile_push 4096 expect-phases hold-cupti
    say "$failed failed"
    [ "$failed" = 0 ]
}

main 2>&1 | tee "$out/summary.txt"
exit "${PIPESTATUS[0]}"
