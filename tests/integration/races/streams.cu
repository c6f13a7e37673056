// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later

// A kernel on one stream, and on another what uses its result.
#include <cuda_runtime.h>

#include <cublas_v2.h>
#include <nccl.h>

#ifndef FIXTURE_CASE
#define FIXTURE_CASE 0
#endif

constexpr int count = 64 * 64;

__global__ void make(float* data)
{
    for (int i = int(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += int(gridDim.x * blockDim.x))
        data[i] = float(i);  // line: make
}

__global__ void use(const float* data, float* out)
{
    for (int i = int(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += int(gridDim.x * blockDim.x))
        out[i] = data[count - 1 - i];  // line: use
}

extern "C" int fixture(int rank, int ranks)
{
    ncclUniqueId id{};
    id.internal[0] = 7;
    ncclComm_t comm;
    if (ncclCommInitRank(&comm, ranks, id, rank) != ncclSuccess)
        return 1;
    float *data, *out;
    const size_t bytes = count * sizeof(float);
    cudaMalloc(&data, bytes);
    cudaMalloc(&out, bytes * ranks);
    cudaStream_t first, second;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEvent_t made;
    cudaEventCreate(&made);
    switch (FIXTURE_CASE) {
        case 0:  // nothing between
            make<<<4, 64, 0, first>>>(data);
            use<<<4, 64, 0, second>>>(data, out);
            break;
        case 1:  // an event
            make<<<4, 64, 0, first>>>(data);
            cudaEventRecord(made, first);
            cudaStreamWaitEvent(second, made, 0);
            use<<<4, 64, 0, second>>>(data, out);
            break;
        case 2:  // recorded before the kernel
            cudaEventRecord(made, first);
            make<<<4, 64, 0, first>>>(data);
            cudaStreamWaitEvent(second, made, 0);
            use<<<4, 64, 0, second>>>(data, out);
            break;
        case 3:  // the host waits
            make<<<4, 64, 0, first>>>(data);
            cudaStreamSynchronize(first);
            use<<<4, 64, 0, second>>>(data, out);
            break;
        case 4:  // waits for the wrong stream
            make<<<4, 64, 0, first>>>(data);
            cudaStreamSynchronize(second);
            use<<<4, 64, 0, second>>>(data, out);
            break;
        case 5:  // a copy
            make<<<4, 64, 0, first>>>(data);
            cudaMemcpyAsync(out, data, bytes, cudaMemcpyDeviceToDevice, second);  // line: copy
            break;
        case 6:  // cleared too late
            make<<<4, 64, 0, first>>>(data);
            cudaMemsetAsync(data, 0, bytes, second);  // line: clear
            break;
        case 7: {  // a product
            cublasHandle_t blas;
            cublasCreate(&blas);
            cublasSetStream(blas, second);
            const float one = 1, zero = 0;
            make<<<4, 64, 0, first>>>(data);
            const auto n = CUBLAS_OP_N;
            cublasSgemm(blas, n, n, 64, 64, 64, &one, data, 64, data, 64, &zero, out, 64);  // line: product
            break;
        }
        case 8:  // a collective
            make<<<4, 64, 0, first>>>(data);
            ncclAllGather(data, out, count, ncclFloat, comm, second);  // line: collective
            break;
        case 9:  // a collective orders the ranks, a stream its operations
            make<<<4, 64, 0, first>>>(data);
            ncclAllGather(data, out, count, ncclFloat, comm, first);
            use<<<4, 64, 0, first>>>(out, data);
            cudaEventRecord(made, first);
            cudaStreamWaitEvent(second, made, 0);
            cudaMemcpyAsync(out, data, bytes, cudaMemcpyDeviceToDevice, second);
            break;
        case 10:  // the default stream waits for streams that do not say otherwise
            cudaStreamCreate(&first);
            make<<<4, 64, 0, first>>>(data);
            cudaMemsetAsync(out, 0, bytes, nullptr);
            use<<<4, 64>>>(data, out);
            make<<<4, 64, 0, first>>>(data);
            break;
        case 11: {  // a graph with a fork and its join, launched twice
            cudaEvent_t joined;
            cudaEventCreate(&joined);
            cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
            make<<<4, 64, 0, first>>>(data);
            cudaEventRecord(made, first);
            cudaStreamWaitEvent(second, made, 0);
            use<<<4, 64, 0, second>>>(data, out);
            cudaEventRecord(joined, second);
            cudaStreamWaitEvent(first, joined, 0);
            cudaGraph_t graph;
            cudaGraphExec_t executable;
            cudaStreamEndCapture(first, &graph);
            cudaGraphInstantiate(&executable, graph, 0);
            cudaGraphLaunch(executable, first);
            cudaGraphLaunch(executable, first);
            break;
        }
        case 12: {  // pinned memory that the host reads too early
            int* pinned;
            cudaMallocHost(&pinned, bytes);
            cudaMemcpyAsync(pinned, data, bytes, cudaMemcpyDeviceToHost, first);         // line: to host
            cudaMemcpyAsync(data, out, pinned[5] & 4, cudaMemcpyDeviceToDevice, first);  // line: host
            break;
        }
        case 13: {  // and in time
            int* pinned;
            cudaMallocHost(&pinned, bytes);
            cudaMemcpyAsync(pinned, data, bytes, cudaMemcpyDeviceToHost, first);
            cudaEventRecord(made, first);
            while (cudaEventQuery(made) == cudaErrorNotReady) {
            }
            cudaMemcpyAsync(data, out, pinned[5] & 4, cudaMemcpyDeviceToDevice, first);
            break;
        }
    }
    return cudaDeviceSynchronize();
}
