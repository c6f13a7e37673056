// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/rank_process.h"

#include "candidate.h"
#include "device_outcome.h"
#include "gpu/cpu_affinity.h"
#include "gpu/failure_wire.h"
#include "gpu/host_share.h"
#include "gpu/node_rates.h"
#include "gpu/rank_buffers.h"
#include "gpu/timing_page.h"
#include "inputs.h"
#include "rank_trace.h"

#include <dlfcn.h>
#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <optional>

namespace cuco_harness {
namespace {

class RankProcess {
public:
    RankProcess(Channel channel, TimingPage& page, const HostShare& share, int rank)
        : channel_(std::move(channel)),
          page_(page),
          share_(share),
          rank_(rank),
          ranks_(share.all_ranks),
          device_(share.deviceOf(rank))
    {
    }

    void serve()
    {
        for (Message message; channel_.receive(message);) {
            reply_ = Packer();
            descriptors_.clear();
            auto failed = take(message);
            if (failed && failed->rank < 0)
                failed->rank = rank_;
            const bool sent = failed ? channel_.send(rank_message::failed, packFailure(*failed))
                                     : channel_.send(rank_message::done, reply_.bytes(), descriptors_);
            for (const int descriptor : descriptors_)
                close(descriptor);
            if (!sent || message.kind == rank_message::leave)
                return;
        }
    }

private:
    Outcome take(const Message& message)
    {
        Unpacker fields(message.bytes);
        switch (message.kind) {
            case rank_message::hello:
                return hello();
            case rank_message::join:
                return join(fields.text());
            case rank_message::link_rate:
                return measureLink();
            case rank_message::load:
                return load(fields.text());
            case rank_message::allocate:
                return allocate(fields);
            case rank_message::setup:
                return setUp();
            case rank_message::run:
                return run(fields);
            case rank_message::begin_trace:
                trace_.measureAxis(comm_);
                trace_.begin();
                return std::nullopt;
            case rank_message::end_trace:
                reply_.text(trace_.end(rank_));
                return std::nullopt;
            case rank_message::teardown:
                return tearDown();
            case rank_message::leave:
                return std::nullopt;
            default:
                return environmentFailure("A rank was asked something it does not know.");
        }
    }

    Outcome hello()
    {
        // A rank that sleeps until its device is idle would wake up late.
        CUCO_CHECK(check(cudaSetDevice(device_), "use its GPU"));
        CUCO_CHECK(check(cudaSetDeviceFlags(cudaDeviceScheduleSpin), "wait by spinning"));
        CUCO_CHECK(stayNearGpu());
        cudaDeviceProp device{};
        CUCO_CHECK(check(cudaGetDeviceProperties(&device, device_), "ask the GPU for its properties"));
        std::string nccl;
        CUCO_CHECK(checkNcclVersion(nccl));
        sm_count_ = device.multiProcessorCount;
        l2_bytes_ = device.l2CacheSize;
        flush_bytes_ = 2 * size_t(std::max(device.l2CacheSize, 1 << 20));
        CUCO_CHECK(check(cudaMalloc(&flush_, flush_bytes_), "allocate its memory"));
        CUCO_CHECK(check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "make a stream"));
        CUCO_CHECK(check(cudaEventCreate(&begin_), "make an event"));
        CUCO_CHECK(check(cudaEventCreate(&end_), "make an event"));
        ncclUniqueId id{};
        if (rank_ == 0)
            CUCO_CHECK(check(ncclGetUniqueId(&id), "get NCCL's unique id"));
        reply_.text(device.name).number(int64_t(sm_count_)).number(l2_bytes_).text(nccl);
        reply_.text(rank_ == 0 ? std::string(id.internal, sizeof id.internal) : std::string());
        size_t free_bytes = 0, all_bytes = 0;
        CUCO_CHECK(check(cudaMemGetInfo(&free_bytes, &all_bytes), "ask for free memory"));
        reply_.number(int64_t(free_bytes));
        return std::nullopt;
    }

    /// The same CPUs for this rank of every program. Before NCCL has threads.
    Outcome stayNearGpu()
    {
        std::vector<std::string> bus_ids;
        for (int device = 0; device < share_.devices; ++device) {
            char id[32] = {};
            CUCO_CHECK(check(cudaDeviceGetPCIBusId(id, sizeof id, device), "ask a GPU for its PCI bus id"));
            bus_ids.emplace_back(id);
        }
        cpus_ = cpusOfRanks(bus_ids)[size_t(device_)];
        stayOn(cpus_);
        return std::nullopt;
    }

    Outcome join(const std::string& bytes)
    {
        ncclUniqueId id{};
        if (bytes.size() != sizeof id.internal)
            return environmentFailure("Rank 0 sent no unique id of NCCL.");
        std::memcpy(id.internal, bytes.data(), sizeof id.internal);
        return check(ncclCommInitRank(&comm_, ranks_, id, rank_), "make NCCL's communicator");
    }

    Outcome measureLink()
    {
        double bytes_per_s = 0;
        CUCO_CHECK(measureLinkRate(comm_, rank_, ranks_, stream_, bytes_per_s));
        reply_.number(bytes_per_s);
        return std::nullopt;
    }

    Outcome load(const std::string& path)
    {
        // The handle stays open: kernels of the object may be in use until the process ends.
        void* const object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        Failure failure;
        failure.kind = "setup_failed";
        failure.message = "The candidate cannot be loaded.";
        if (!object) {
            failure.detail = dlerror();
            return failure;
        }
        trace_.useCandidate(object);
        setup_ = reinterpret_cast<decltype(setup_)>(dlsym(object, "cuco_setup"));
        run_ = reinterpret_cast<decltype(run_)>(dlsym(object, "cuco_run"));
        teardown_ = reinterpret_cast<decltype(teardown_)>(dlsym(object, "cuco_teardown"));
        if (!setup_ || !run_ || !teardown_) {
            failure.detail = "It does not define cuco_setup, cuco_run and cuco_teardown.";
            return failure;
        }
        return std::nullopt;
    }

    Outcome allocate(Unpacker& fields)
    {
        const int sets = int(fields.number());
        shape_ = unpackShape(fields);
        if (!fields.ok() || sets < 1)
            return environmentFailure("A rank was sent a shape that it cannot read.");
        buffers_.emplace();
        CUCO_CHECK(buffers_->allocate(shape_, rank_, sets));
        return buffers_->share(reply_, descriptors_);
    }

    Outcome setUp()
    {
        cuco_context context{};
        context.abi_version = CUCO_ABI_VERSION;
        context.rank = rank_;
        context.ranks = ranks_;
        context.comm = comm_;
        std::copy(shape_.parameters.begin(), shape_.parameters.end(), context.shape);
        context.device = device_;
        context.sm_count = sm_count_;
        context.l2_bytes = l2_bytes_;
        context.symmetric_base = buffers_->outputRegion();
        context.symmetric_bytes = buffers_->outputBytes();
        if (const int code = setup_(&context, &state_))
            return candidateFailure(code, "cuco_setup");
        return synchronise("cuco_setup");
    }

    Outcome synchronise(const std::string& doing)
    {
        cudaError_t error = cudaDeviceSynchronize();
        if (error == cudaSuccess)
            error = cudaGetLastError();
        if (error != cudaSuccess)
            return deviceFailure(error, doing);
        return std::nullopt;
    }

    Outcome run(Unpacker& fields)
    {
        const auto stretch = uint32_t(fields.number());
        const auto first_set = size_t(fields.number());
        const int64_t length = fields.number(), delay_ns = fields.number();
        const bool snapshot = fields.number() != 0, flush = fields.number() != 0;
        const int64_t warm_set = fields.number();
        if (!fields.ok() || !buffers_ || length < 1)
            return environmentFailure("A rank was asked to run nothing.");
        if (warm_set >= 0) {
            const cuco_io io = buffers_->io(size_t(warm_set) % buffers_->sets());
            if (const int code = run_(state_, &io, stream_))
                return candidateFailure(code, "cuco_run");
            CUCO_CHECK(synchronise("cuco_run"));
        }
        // One CPU, the same for this rank of every program: between CPUs the start of a stretch differs by some 10 µs.
        if (!cpus_.empty())
            stayOn({cpus_[cpus_.size() / 2]});
        // Empties the L2, and makes this process's context the current one on the GPU.
        if (flush)
            CUCO_CHECK(check(cudaMemsetAsync(flush_, 0, flush_bytes_, stream_), "empty the L2"));
        CUCO_CHECK(check(cudaStreamSynchronize(stream_), "empty the L2"));
        TimingPage::Rank& mine = page_.ranks[rank_];
        mine.ready.store(stretch, std::memory_order_release);
        while (page_.go.load(std::memory_order_acquire) != stretch) {
        }
        const int64_t start = page_.start_ns.load(std::memory_order_relaxed) + delay_ns;
        while (monotonicNs() < start) {
        }
        trace_.markStart();
        const Outcome failed = stretchOf(first_set, length, snapshot);
        stayOn(cpus_);
        mine.ended.store(stretch, std::memory_order_release);
        CUCO_CHECK(failed);
        float event_ms = 0;
        CUCO_CHECK(check(cudaEventElapsedTime(&event_ms, begin_, end_), "read the events"));
        reply_.number(double(event_ms) * 1e3);
        return std::nullopt;
    }

    /// Ends when the device is idle.
    Outcome stretchOf(size_t first_set, int64_t length, bool snapshot)
    {
        CUCO_CHECK(check(cudaEventRecord(begin_, stream_), "record an event"));
        for (int64_t i = 0; i < length; ++i) {
            const size_t set = (first_set + size_t(i)) % buffers_->sets();
            const cuco_io io = buffers_->io(set);
            // What a peer wrote before this rank came is lost, as it would be where this memory was in use until now.
            for (size_t b = 0; snapshot && b < shape_.outputs.size(); ++b)
                CUCO_CHECK(check(cudaMemsetAsync(io.outputs[b], poison_byte, shape_.outputs[b].bytes(rank_), stream_),
                                 "poison the outputs"));
            if (const int code = run_(state_, &io, stream_)) {
                cudaDeviceSynchronize();
                return candidateFailure(code, "cuco_run");
            }
            // Ordered behind the candidate's work on this rank alone: what a peer still has to send is missing in it.
            for (size_t b = 0; snapshot && b < shape_.outputs.size(); ++b)
                CUCO_CHECK(
                    leftBehind(cudaMemcpyAsync(buffers_->snapshotOf(b), io.outputs[b], shape_.outputs[b].bytes(rank_),
                                               cudaMemcpyDeviceToDevice, stream_)));
        }
        CUCO_CHECK(leftBehind(cudaEventRecord(end_, stream_)));
        return synchronise("cuco_run");
    }

    /// The first call of the harness behind a candidate's faulty launch returns that launch's error.
    static Outcome leftBehind(cudaError_t error)
    {
        if (error != cudaSuccess)
            return deviceFailure(error, "cuco_run");
        return std::nullopt;
    }

    Outcome tearDown()
    {
        teardown_(state_);
        state_ = nullptr;
        CUCO_CHECK(synchronise("cuco_teardown"));
        buffers_.reset();
        return std::nullopt;
    }

    Channel channel_;
    TimingPage& page_;
    const HostShare share_;
    const int rank_, ranks_, device_;
    std::vector<int> cpus_;
    Packer reply_;
    std::vector<int> descriptors_;
    RankTrace trace_;

    int sm_count_ = 0;
    int64_t l2_bytes_ = 0;
    void* flush_ = nullptr;
    size_t flush_bytes_ = 0;
    cudaStream_t stream_ = nullptr;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
    ncclComm_t comm_ = nullptr;

    int (*setup_)(const cuco_context*, void**) = nullptr;
    int (*run_)(void*, const cuco_io*, cudaStream_t) = nullptr;
    void (*teardown_)(void*) = nullptr;
    void* state_ = nullptr;
    ShapeJob shape_;
    std::optional<RankBuffers> buffers_;
};

}  // namespace

std::string packShape(const ShapeJob& shape)
{
    Packer packer;
    packer.text(shape.name).number(int64_t(shape.parameters.size()));
    for (const int64_t parameter : shape.parameters)
        packer.number(parameter);
    for (const auto* buffers : {&shape.inputs, &shape.outputs}) {
        packer.number(int64_t(buffers->size()));
        for (const auto& buffer : *buffers) {
            packer.text(buffer.name).number(int64_t(buffer.type)).number(int64_t(buffer.elements.size()));
            for (const int64_t elements : buffer.elements)
                packer.number(elements);
        }
    }
    return packer.bytes();
}

ShapeJob unpackShape(Unpacker& fields)
{
    ShapeJob shape;
    shape.name = fields.text();
    for (int64_t count = fields.number(); count > 0 && fields.ok(); --count)
        shape.parameters.push_back(fields.number());
    for (auto* buffers : {&shape.inputs, &shape.outputs}) {
        for (int64_t count = fields.number(); count > 0 && fields.ok(); --count) {
            BufferJob& buffer = buffers->emplace_back();
            buffer.name = fields.text();
            buffer.type = ElementType(fields.number());
            for (int64_t ranks = fields.number(); ranks > 0 && fields.ok(); --ranks)
                buffer.elements.push_back(fields.number());
        }
    }
    return shape;
}

void serveAsRank(Channel channel, TimingPage& page, const HostShare& share, int rank)
{
    RankProcess(std::move(channel), page, share, rank).serve();
}

}  // namespace cuco_harness
