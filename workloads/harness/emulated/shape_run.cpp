// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "shape_run.h"

#include <algorithm>
#include <fstream>
#include <random>

namespace cuco_harness {
namespace {

static_assert(max_shape_parameters == CUCO_MAX_SHAPE_PARAMETERS);

// Iterations take them in turn, so that addresses move.
constexpr int buffer_sets = 2;
constexpr int64_t longest_skew_ns = 2'000'000;

}  // namespace

ShapeRun::ShapeRun(const Job& job, const ShapeJob& shape, RankLink& link, const CandidateFunctions& candidate,
                   ncclComm_t comm, const cudaDeviceProp& device)
    : job_(job), shape_(shape), link_(link), candidate_(candidate)
{
    context_.abi_version = CUCO_ABI_VERSION;
    context_.rank = link.rank();
    context_.ranks = job.ranks;
    context_.comm = comm;
    std::copy(shape.parameters.begin(), shape.parameters.end(), context_.shape);
    context_.device = link.device();
    context_.sm_count = device.multiProcessorCount;
    context_.l2_bytes = device.l2CacheSize;
}

ShapeRun::~ShapeRun()
{
    if (stream_)
        cudaStreamDestroy(stream_);
}

Outcome ShapeRun::run()
{
    CUCO_CHECK(setUp());
    CUCO_CHECK(iterations());
    return tearDown();
}

Outcome ShapeRun::setUp()
{
    link_.progress(shape_.name, "the set-up of shape " + shape_.name);
    CUCO_CHECK(check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "make a stream"));
    CUCO_CHECK(buffers_.allocate(shape_, link_.rank(), buffer_sets));
    CUCO_CHECK(check(cudaDeviceSynchronize(), "prepare the buffers"));
    context_.symmetric_base = buffers_.symmetricBase();
    context_.symmetric_bytes = buffers_.symmetricBytes();
    buffers_.protect(link_);
    link_.scale(shape_.flop_factor, shape_.byte_factor);
    link_.gather("");
    link_.enterCandidate(__builtin_frame_address(0), &state_);
    const int code = candidate_.setup(&context_, &state_);
    link_.leaveCandidate();
    if (code != 0)
        return candidateFailure(code, "cuco_setup");
    CUCO_CHECK(synchronise("cuco_setup"));
    link_.gather("");
    return std::nullopt;
}

std::string ShapeRun::where(int iteration) const
{
    return "iteration " + std::to_string(iteration) + " of shape " + shape_.name;
}

Outcome ShapeRun::synchronise(const std::string& doing)
{
    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cudaGetLastError();
    if (error != cudaSuccess)
        return deviceFailure(error, doing);
    return std::nullopt;
}

Outcome ShapeRun::runCandidate(int set)
{
    const cuco_io io = buffers_.io(set);
    link_.enterCandidate(__builtin_frame_address(0), &state_);
    const int code = candidate_.run(state_, &io, stream_);
    link_.leaveCandidate();
    if (code != 0)
        return candidateFailure(code, "cuco_run");
    link_.noteEnd(stream_);
    return std::nullopt;
}

Outcome ShapeRun::fillSet(int set, uint64_t seed)
{
    CUCO_CHECK(buffers_.fillInputs(set, seed, stream_));
    return buffers_.poisonOutputs(set, stream_);
}

Outcome ShapeRun::workAfterEnd(int iteration)
{
    const std::string work = link_.workAfterEnd();
    if (work.empty())
        return std::nullopt;
    Failure failure;
    failure.kind = "timing_mismatch";
    failure.rank = link_.rank();
    failure.message = "When the work on cuco_run's stream had ended, " + work + " had not.";
    failure.detail = "In " + where(iteration) +
                     ". Everything that cuco_run does must be ordered on its stream: let the "
                     "stream wait for an event of every other stream.";
    return failure;
}

void ShapeRun::delayBySkew(int iteration)
{
    if (!shape_.skew_seed)
        return;
    std::seed_seq seeds{uint32_t(*shape_.skew_seed), uint32_t(*shape_.skew_seed >> 32), uint32_t(iteration),
                        uint32_t(link_.rank())};
    std::mt19937_64 random(seeds);
    link_.delay(int64_t(random() % uint64_t(longest_skew_ns)));
}

double ShapeRun::slowest(double mine)
{
    double result = 0;
    for (const auto& other : link_.gather(std::to_string(mine)))
        result = std::max(result, std::atof(other.c_str()));
    return result;
}

Outcome ShapeRun::iterations()
{
    for (int i = 0; i < shape_.warmup; ++i) {
        CUCO_CHECK(fillSet(i % buffers_.sets(), shape_.seed + uint64_t(shape_.iterations + i)));
        CUCO_CHECK(synchronise("the warm-up"));
        link_.gather("");
        CUCO_CHECK(runCandidate(i % buffers_.sets()));
        CUCO_CHECK(synchronise("cuco_run"));
        link_.gather("");
    }
    for (int i = 0; i < shape_.iterations; ++i)
        CUCO_CHECK(checkedIteration(i));
    if (shape_.time && link_.rank() == 0)
        link_.report(ReportLine("time").add("shape", shape_.name).add("samples_us", modelled_us_));
    return std::nullopt;
}

Outcome ShapeRun::checkedIteration(int iteration)
{
    const int set = iteration % buffers_.sets();
    const bool traced = shape_.trace && iteration == shape_.iterations - 1;
    CUCO_CHECK(fillSet(set, shape_.seed + uint64_t(iteration)));
    CUCO_CHECK(check(cudaDeviceSynchronize(), "prepare the iteration"));
    link_.progress(shape_.name, where(iteration));
    if (traced)
        link_.beginTrace(where(iteration));
    if (shape_.skew_seed)
        link_.disturb(*shape_.skew_seed + uint64_t(iteration) + 1);
    const int64_t start = link_.commonStart();
    delayBySkew(iteration);
    // A peer that writes here before this rank's stream has come to the iteration is too early, and this shows it.
    if (shape_.skew_seed)
        CUCO_CHECK(buffers_.poisonOutputs(set, stream_));
    CUCO_CHECK(runCandidate(set));
    CUCO_CHECK(synchronise("cuco_run"));
    CUCO_CHECK(workAfterEnd(iteration));
    const double us = double(link_.nowNs() - start) * 1e-3;
    // Read before anyone waits for anyone: what a peer still has in flight must show as a wrong element.
    if (shape_.dump)
        CUCO_CHECK(dump(iteration, set));
    if (traced) {
        const std::string timeline = link_.endTrace();
        if (!timeline.empty() && link_.rank() == 0)
            link_.report(ReportLine("trace").add("shape", shape_.name).addJson("timeline", timeline));
    }
    if (shape_.skew_seed)
        link_.disturb(0);
    const double makespan = slowest(us);
    if (shape_.time)
        modelled_us_.push_back(makespan);
    return buffers_.checkGuards(link_);
}

Outcome ShapeRun::dump(int iteration, int set)
{
    std::vector<char> bytes;
    for (size_t i = 0; i < shape_.outputs.size(); ++i) {
        CUCO_CHECK(buffers_.readOutput(link_, set, i, bytes));
        const std::string path = job_.dumpPath(shape_, iteration, link_.rank(), shape_.outputs[i]);
        std::ofstream file(path, std::ios::binary | std::ios::trunc);
        file.write(bytes.data(), std::streamsize(bytes.size()));
        file.close();
        if (!file)
            return environmentFailure("The outputs cannot be written to " + path + ".");
    }
    return std::nullopt;
}

Outcome ShapeRun::tearDown()
{
    link_.progress(shape_.name, "the teardown of shape " + shape_.name);
    link_.gather("");
    link_.enterCandidate(__builtin_frame_address(0), &state_);
    candidate_.teardown(state_);
    link_.leaveCandidate();
    state_ = nullptr;
    CUCO_CHECK(synchronise("cuco_teardown"));
    link_.gather("");
    return std::nullopt;
}

}  // namespace cuco_harness
