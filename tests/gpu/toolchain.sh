# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154,SC2034
#
# Sourced by run.sh: finds nvcc and a matching pair of NCCL's header and library, and builds.

findCuda() {
    nvcc=$(command -v nvcc || true)
    for folder in "${CUDA_HOME:-}" /usr/local/cuda /usr/local/cuda-*; do
        [ -z "$nvcc" ] && [ -n "$folder" ] && [ -x "$folder/bin/nvcc" ] && nvcc=$folder/bin/nvcc
    done
    [ -n "$nvcc" ] || return 1
    local capability
    capability=$(limited 20 nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -dc 0-9)
    arch=sm_${capability:-90}
    [ "$arch" = sm_90 ] && arch=sm_90a # all that Hopper can do, wgmma too
    target=-gencode=arch=compute_${arch#sm_},code=$arch
}

# The libraries that may belong to a header: of its own tree first, then the system's.
librariesFor() {
    local include=$1 folder
    for folder in "$include/../lib" "$include/../lib64" "$include/../targets/x86_64-linux/lib" \
        "$include/../lib/x86_64-linux-gnu" /usr/local/cuda/lib64 /usr/local/cuda/lib /usr/lib/x86_64-linux-gnu; do
        [ -e "$folder/libnccl.so.2" ] && realpath "$folder/libnccl.so.2"
    done | awk '!seen[$0]++'
}

# Device structures differ between releases, so a header counts only with a library of its very version. The library
# is asked, not its file name. Of several pairs 2.28.9 is preferred, which the kernels were written against.
findNccl() {
    local probe=$build/nccl_probe header include library versions best=0 rank
    cat > "$probe.c" <<'PROBE'
#include <nccl.h>
#include <stdio.h>
int main(void)
{
    int library = 0;
    if (ncclGetVersion(&library) != ncclSuccess)
        return 1;
    printf("%d %d\n", NCCL_VERSION_CODE, library);
    return 0;
}
PROBE
    nccl_include=
    for header in $(limited 40 find ${CUCO_NCCL_HOME:+"$CUCO_NCCL_HOME"} /usr/include /usr/local /opt /root /home /usr/lib \
        -name nccl.h -not -path '*/node_modules/*' 2>/dev/null | xargs -r realpath | awk '!seen[$0]++'); do
        include=$(dirname "$header")
        [ -f "$include/nccl_device.h" ] || continue
        for library in $(librariesFor "$include"); do
            versions=$(g++ -x c "$probe.c" -I"$include" -I"$(dirname "$nvcc")/../include" -x none "$library" \
                -Wl,-rpath,"$(dirname "$library")" -o "$probe" 2>&1 &&
                LD_LIBRARY_PATH="$(dirname "$library"):${LD_LIBRARY_PATH:-}" limited 20 "$probe" 2>&1 | tail -1)
            echo "$include $library: header and library are ${versions:-unknown}" >> "$out/nccl.log"
            set -- $versions
            [ $# = 2 ] && [ "$1" = "$2" ] && [ "$1" -ge 22800 ] 2>/dev/null || continue
            rank=$1
            [ "$1" = 22809 ] && rank=99999999
            if [ "$rank" -gt "$best" ]; then
                best=$rank
                nccl_include=$include
                nccl_library=$library
                nccl_version=$1
            fi
        done
    done
    [ -n "$nccl_include" ] || return 1
    # nvcc wants a name that ends in .so, which pip's package lacks. What is loaded is the library that was linked,
    # whatever else is on the machine.
    mkdir -p "$build/nccl"
    ln -sf "$nccl_library" "$build/nccl/libnccl.so"
    ln -sf "$nccl_library" "$build/nccl/libnccl.so.2"
    nccl_flags="-L$build/nccl -lnccl -Xlinker -rpath -Xlinker $build/nccl"
    export LD_LIBRARY_PATH="$build/nccl:${LD_LIBRARY_PATH:-}"
}

builtCount() { find "$build/candidates" -name '*.so' | wc -l; }

# Compilations are written one a line, the log first, and then run side by side. Where $variants is set, the workloads'
# strategies and baselines give way to the programs that lie there.
buildAll() {
    local commands=$build/commands source name workload
    local flags="$target -std=c++17 -O2 -I$harness_sources -I$nccl_include"
    : > "$commands"
    : > "$build/wanted"
    for source in "$harness_sources"/*.cpp "$harness_sources"/*.cu "$harness_sources"/gpu/*.cpp \
        "$harness_sources"/gpu/*.cu; do
        name=$(basename "$source")
        echo "harness.$name $nvcc $flags -c $source -o $build/objects/$name.o" >> "$commands"
    done
    for workload in $workloads; do
        mkdir -p "$build/candidates/$workload"
        local sources=("$root/workloads/$workload"/{strategies,baselines}/*.cu)
        [ -n "${variants:-}" ] && sources=("$variants/$workload"/*.cu)
        for source in "$root/workloads/$workload"/*.cu "${sources[@]}"; do
            name=$(basename "$source" .cu)
            echo "$workload/$name" >> "$build/wanted"
            echo "$workload.$name $nvcc $flags -I$root/workloads/$workload -shared -Xcompiler -fPIC $source" \
                "-o $build/candidates/$workload/$name.so $nccl_flags -lcublas" >> "$commands"
        done
    done
    # shellcheck disable=SC2016
    xargs -P "$(nproc)" -L 1 timeout -k 5 180 bash -c 'log=$1; shift; "$@" > "$log" 2>&1 || echo "failed: $*" >> "$log"' \
        build < <(sed "s|^|$logs/|; s| |.log |" "$commands")
    "$nvcc" "$target" "$build"/objects/*.o -o "$build/harness" $nccl_flags -ldl -lpthread \
        > "$logs/harness.log" 2>&1
    grep -l '^failed:' "$logs"/*.log | while read -r name; do
        say "did not build: $(basename "$name" .log)"
        grep -m 3 -i 'error' "$name"
    done
}
