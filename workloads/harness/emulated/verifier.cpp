// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "verifier.h"

#include "compare.h"
#include "device_memory.h"
#include "inputs.h"
#include "platform.h"
#include "processes.h"
#include "reference.h"

#include <unistd.h>
#include <algorithm>
#include <fstream>

namespace cuco_harness {
namespace {

Outcome readDump(const std::string& path, size_t bytes, std::vector<char>& out)
{
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file || file.tellg() != std::streamoff(bytes)) {
        Failure failure;
        failure.kind = "tampering";  // the run that wrote it was complete
        failure.message = "The dump " + path + " is missing or has another size than its buffer.";
        return failure;
    }
    out.resize(bytes);
    file.seekg(0);
    file.read(out.data(), std::streamsize(bytes));
    if (!file)
        return environmentFailure("The dump " + path + " cannot be read.");
    return std::nullopt;
}

class ShapeVerifier {
public:
    ShapeVerifier(const Job& job, const ShapeJob& shape, ReferenceFunction reference, int report_descriptor,
                  const cudaDeviceProp& device)
        : job_(job), shape_(shape), reference_(reference), report_descriptor_(report_descriptor)
    {
        context_.abi_version = CUCO_ABI_VERSION;
        context_.ranks = job.ranks;
        std::copy(shape.parameters.begin(), shape.parameters.end(), context_.shape);
        context_.sm_count = device.multiProcessorCount;
        context_.l2_bytes = device.l2CacheSize;
    }

    Outcome checkIteration(int iteration)
    {
        CUCO_CHECK(allocate());
        CUCO_CHECK(makeInputs(iteration));
        for (int rank = 0; rank < job_.ranks; ++rank)
            CUCO_CHECK(checkRank(iteration, rank));
        return std::nullopt;
    }

private:
    Outcome allocate()
    {
        for (int rank = 0; rank < job_.ranks; ++rank) {
            for (const auto& input : shape_.inputs) {
                CUCO_CHECK(memory_.emplace_back().allocate(input.bytes(rank)));
                inputs_.push_back(memory_.back().data());
            }
        }
        for (const auto& output : shape_.outputs) {
            CUCO_CHECK(memory_.emplace_back().allocate(output.largestBytes() / bytesOf(output.type) * sizeof(float)));
            outputs_.push_back(static_cast<float*>(memory_.back().data()));
        }
        return std::nullopt;
    }

    Outcome makeInputs(int iteration)
    {
        for (int rank = 0; rank < job_.ranks; ++rank) {
            for (size_t i = 0; i < shape_.inputs.size(); ++i) {
                CUCO_CHECK(check(fillInput(const_cast<void*>(inputs_[size_t(rank) * shape_.inputs.size() + i]),
                                           shape_.inputs[i].type, shape_.inputs[i].elements[size_t(rank)],
                                           shape_.seed + uint64_t(iteration), rank, int(i), nullptr),
                                 "make the inputs again"));
            }
        }
        return check(cudaDeviceSynchronize(), "make the inputs again");
    }

    Outcome checkRank(int iteration, int rank)
    {
        context_.rank = rank;
        if (const int code = reference_(&context_, inputs_.data(), outputs_.data(), nullptr))
            return environmentFailure("The oracle failed: " + candidateFailure(code, "cuco_reference").message);
        CUCO_CHECK(check(cudaDeviceSynchronize(), "run the oracle"));

        double relative_l2 = 0, max_error = 0;
        bool right = true;
        std::vector<char> bytes;
        std::vector<float> reference;
        for (size_t i = 0; i < shape_.outputs.size(); ++i) {
            const auto& output = shape_.outputs[i];
            CUCO_CHECK(readDump(job_.dumpPath(shape_, iteration, rank, output), output.bytes(rank), bytes));
            reference.resize(size_t(output.elements[size_t(rank)]));
            CUCO_CHECK(check(
                cudaMemcpy(reference.data(), outputs_[i], reference.size() * sizeof(float), cudaMemcpyDeviceToHost),
                "read the oracle's output"));
            const auto result = compare(bytes, output.type, reference, job_.relative_l2, job_.max_error);
            if (!result.right(job_.relative_l2, job_.max_error)) {
                right = false;
                report(ReportLine("mismatch")
                           .add("shape", shape_.name)
                           .add("iteration", iteration)
                           .add("rank", rank)
                           .add("buffer", output.name)
                           .add("element", result.element)
                           .add("expected", result.expected)
                           .add("got", result.got)
                           .add("wrong_elements", result.wrong_elements)
                           .add("elements", result.elements)
                           .add("relative_l2", result.relative_l2));
            }
            relative_l2 = std::max(relative_l2, result.relative_l2);
            max_error = std::max(max_error, result.max_error);
        }
        if (right) {
            report(ReportLine("checked")
                       .add("shape", shape_.name)
                       .add("iteration", iteration)
                       .add("rank", rank)
                       .add("relative_l2", relative_l2)
                       .add("max_error", max_error));
        }
        return std::nullopt;
    }

    void report(const ReportLine& line) const { writeReport(report_descriptor_, line.text()); }

    const Job& job_;
    const ShapeJob& shape_;
    const ReferenceFunction reference_;
    const int report_descriptor_;
    cuco_context context_{};
    std::vector<DeviceMemory> memory_;
    std::vector<const void*> inputs_;
    std::vector<float*> outputs_;
};

struct Piece {
    const ShapeJob* shape;
    int iteration;
};

void checkPiece(const Job& job, const Piece& piece, int report_descriptor)
{
    auto outcome = runOnOneDevice(job, report_descriptor, [&]() -> Outcome {
        std::string error;
        const auto reference = loadReference(job.pathOf(job.reference), error);
        if (!reference) {
            Failure failure = environmentFailure("The oracle cannot be loaded.");
            failure.detail = error;
            return failure;
        }
        cudaDeviceProp device{};
        CUCO_CHECK(check(cudaGetDeviceProperties(&device, 0), "ask the GPU for its properties"));
        return ShapeVerifier(job, *piece.shape, reference, report_descriptor, device).checkIteration(piece.iteration);
    });
    if (outcome) {
        outcome->shape = piece.shape->name;
        writeReport(report_descriptor, outcome->toLine().text());
    }
    writeReport(report_descriptor, ReportLine("done").text());
}

}  // namespace

int verify(const Job& job, int report_descriptor)
{
    std::vector<Piece> pieces;
    for (const auto& shape : job.shapes)
        for (int iteration = 0; shape.dump && iteration < shape.iterations; ++iteration)
            pieces.push_back({&shape, iteration});
    if (!(job.relative_l2 > 0) || !(job.max_error > 0)) {
        const Failure failure = environmentFailure("The job has no tolerance, so that nothing can be checked.");
        writeReport(report_descriptor, failure.toLine().text());
        return writeReport(report_descriptor, ReportLine("done").text()) ? 0 : 1;
    }
    const auto reports = inProcesses(pieces.size(), [&](size_t number, int descriptor) {
        close(report_descriptor);
        checkPiece(job, pieces[number], descriptor);
    });
    for (const auto& report : reports) {
        writeText(report_descriptor, report.text);
        if (!report.complete)
            return 1;
    }
    return writeReport(report_descriptor, ReportLine("done").text()) ? 0 : 1;
}

}  // namespace cuco_harness
