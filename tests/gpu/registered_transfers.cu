// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What ncclSend and ncclRecv between two GPUs deliver when the buffers of both, of one or of no side are registered.
//   nvcc -std=c++17 -O2 -I NCCL/include registered_transfers.cu NCCL/lib/libnccl.so.2 -o registered_transfers
//   NCCL_NVLS_ENABLE=0 registered_transfers
// Each pair has processes and a communicator of its own; a transfer that does not end is ended after some seconds.
#include <cuda_runtime.h>
#include <nccl.h>

#include <sys/wait.h>
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr size_t sizes[] = {size_t(4) << 10, size_t(64) << 10, size_t(512) << 10, size_t(4) << 20, size_t(64) << 20};
constexpr size_t most_bytes = size_t(64) << 20;
constexpr int repeats = 3, patience_s = 10;

enum class Memory { plain, symmetric, window, registered };
const char* nameOf(Memory memory)
{
    switch (memory) {
        case Memory::plain:
            return "cudaMalloc";
        case Memory::symmetric:
            return "ncclMemAlloc";
        case Memory::window:
            return "ncclMemAlloc, window";
        case Memory::registered:
            return "ncclMemAlloc, ncclCommRegister";
    }
    return "";
}

template <class Status>
void must(Status status, const char* what)
{
    if (int(status) == 0)
        return;
    std::fprintf(stderr, "%s failed: %d\n", what, int(status));
    std::_Exit(3);
}
#define MUST(call) must(call, #call)

__global__ void fill(uint32_t* to, size_t words, uint32_t seed)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < words; i += size_t(gridDim.x) * blockDim.x)
        to[i] = seed ^ uint32_t(i * 2654435761u);
}

__global__ void countWrong(const uint32_t* got, size_t words, uint32_t seed, unsigned long long* wrong)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < words; i += size_t(gridDim.x) * blockDim.x)
        if (got[i] != (seed ^ uint32_t(i * 2654435761u)))
            atomicAdd(wrong, 1ull);
}

struct Pipe {
    int ends[2];
    Pipe() { must(pipe(ends), "pipe"); }
    void put(const void* data, size_t bytes) const { must(write(ends[1], data, bytes) != ssize_t(bytes), "write"); }
    void get(void* data, size_t bytes) const { must(read(ends[0], data, bytes) != ssize_t(bytes), "read"); }
};

/// Rank 0 sends, rank 1 receives and puts the share of wrong words of each size.
void runRank(int rank, Memory sender, Memory receiver, const Pipe& id_pipe, const Pipe& result)
{
    alarm(patience_s);
    MUST(cudaSetDevice(rank));
    ncclUniqueId id;
    if (rank == 0) {
        MUST(ncclGetUniqueId(&id));
        id_pipe.put(&id, sizeof id);
    } else {
        id_pipe.get(&id, sizeof id);
    }
    ncclComm_t comm = nullptr;
    MUST(ncclCommInitRank(&comm, 2, id, rank));
    cudaStream_t stream = nullptr;
    MUST(cudaStreamCreate(&stream));
    const Memory own = rank == 0 ? sender : receiver;
    void *buffer = nullptr, *other = nullptr, *handle = nullptr;
    // A window is registered by all ranks; the rank whose buffer is not to lie in one registers another.
    if (sender == Memory::window || receiver == Memory::window) {
        MUST(ncclMemAlloc(&other, most_bytes));
        ncclWindow_t window = nullptr;
        MUST(ncclCommWindowRegister(comm, other, most_bytes, &window, NCCL_WIN_COLL_SYMMETRIC));
        must(window == nullptr, "the window");
    }
    if (own == Memory::window)
        buffer = other;
    else if (own == Memory::plain)
        MUST(cudaMalloc(&buffer, most_bytes));
    else
        MUST(ncclMemAlloc(&buffer, most_bytes));
    if (own == Memory::registered)
        MUST(ncclCommRegister(comm, buffer, most_bytes, &handle));
    unsigned long long* wrong = nullptr;
    MUST(cudaMalloc(&wrong, sizeof *wrong));
    uint32_t seed = 1;
    for (const size_t bytes : sizes) {
        double share = 0;
        for (int i = 0; i < repeats; ++i, ++seed) {
            if (rank == 0) {
                fill<<<132, 512, 0, stream>>>(static_cast<uint32_t*>(buffer), bytes / 4, seed);
                MUST(ncclSend(buffer, bytes, ncclInt8, 1, comm, stream));
                MUST(cudaStreamSynchronize(stream));
                continue;
            }
            MUST(cudaMemsetAsync(buffer, 0xff, bytes, stream));
            MUST(cudaMemsetAsync(wrong, 0, sizeof *wrong, stream));
            MUST(ncclRecv(buffer, bytes, ncclInt8, 0, comm, stream));
            countWrong<<<132, 512, 0, stream>>>(static_cast<uint32_t*>(buffer), bytes / 4, seed, wrong);
            unsigned long long count = 0;
            MUST(cudaMemcpyAsync(&count, wrong, sizeof count, cudaMemcpyDeviceToHost, stream));
            MUST(cudaStreamSynchronize(stream));
            share += double(count) / double(bytes / 4) / repeats;
        }
        if (rank == 1)
            result.put(&share, sizeof share);
    }
    std::_Exit(0);
}

void tryPair(Memory sender, Memory receiver)
{
    const Pipe id_pipe, result;
    pid_t children[2];
    for (int rank = 0; rank < 2; ++rank) {
        children[rank] = fork();
        if (children[rank] == 0)
            runRank(rank, sender, receiver, id_pipe, result);
    }
    close(result.ends[1]);
    std::string line;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        double share = 0;
        char text[16] = "no end";
        if (read(result.ends[0], &share, sizeof share) == ssize_t(sizeof share))
            std::snprintf(text, sizeof text, share == 0 ? "right" : "%.0f %%", 100 * share);
        char cell[24];
        std::snprintf(cell, sizeof cell, " %8s", text);
        line += cell;
    }
    for (const pid_t child : children)
        waitpid(child, nullptr, 0);
    std::printf("%-30s %-30s%s\n", nameOf(sender), nameOf(receiver), line.c_str());
    std::fflush(stdout);
}

}  // namespace

int main()
{
    int version = 0;
    MUST(ncclGetVersion(&version));
    std::printf("NCCL %d; right, or the share of wrong words\n%-30s %-30s", version, "sends from", "receives in");
    for (const size_t bytes : sizes)
        std::printf(" %4zu KiB", bytes >> 10);
    std::printf("\n");
    std::fflush(stdout);
    tryPair(Memory::plain, Memory::plain);
    tryPair(Memory::plain, Memory::window);
    tryPair(Memory::symmetric, Memory::window);
    tryPair(Memory::window, Memory::plain);
    tryPair(Memory::window, Memory::window);
    tryPair(Memory::plain, Memory::registered);
    tryPair(Memory::registered, Memory::plain);
    tryPair(Memory::registered, Memory::registered);
    tryPair(Memory::registered, Memory::window);
}
