// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/attached_rank.h"

#include "gpu/device_compare.h"
#include "inputs.h"

namespace cuco_harness {

Outcome mapRegions(AttachedRank& attached, const int64_t* bytes, const int* descriptors, int device,
                   cudaStream_t stream)
{
    const size_t wanted[] = {attached.layout.output_bytes, attached.layout.input_bytes, attached.layout.snapshot_bytes};
    MappedMemory* const memory[] = {&attached.outputs, &attached.inputs, &attached.snapshot};
    for (int i = 0; i < 3; ++i) {
        if (descriptors[i] < 0 || bytes[i] < int64_t(wanted[i]))
            return environmentFailure("A rank shared less memory than its buffers need.");
        CUCO_CHECK(memory[i]->map(descriptors[i], size_t(bytes[i]), device));
    }
    CUCO_CHECK(check(cudaMemsetAsync(attached.outputs.data(), guard_byte, wanted[0], stream), "fill guard zones"));
    CUCO_CHECK(check(cudaMemsetAsync(attached.inputs.data(), guard_byte, wanted[1], stream), "fill guard zones"));
    return check(cudaStreamSynchronize(stream), "fill guard zones");
}

Outcome prepareBuffers(const AttachedRank& attached, const ShapeJob& shape, int rank, int first_set,
                       const std::vector<uint64_t>& seeds, cudaStream_t stream)
{
    const size_t sets = attached.layout.outputs.size();
    for (size_t i = 0; i < seeds.size(); ++i) {
        const size_t set = (size_t(first_set) + i) % sets;
        for (size_t b = 0; b < shape.inputs.size(); ++b) {
            const auto& input = shape.inputs[b];
            CUCO_CHECK(check(fillInput(attached.inputs.data() + attached.layout.inputs[set][b], input.type,
                                       input.elements[size_t(rank)], seeds[i], rank, int(b), stream),
                             "make the inputs"));
        }
        for (size_t b = 0; b < shape.outputs.size(); ++b)
            CUCO_CHECK(check(cudaMemsetAsync(attached.outputs.data() + attached.layout.outputs[set][b], poison_byte,
                                             shape.outputs[b].bytes(rank), stream),
                             "poison the outputs"));
    }
    CUCO_CHECK(check(cudaMemsetAsync(attached.snapshot.data(), poison_byte, attached.layout.snapshot_bytes, stream),
                     "poison the outputs"));
    return check(cudaStreamSynchronize(stream), "prepare the iteration");
}

Outcome checkGuardZones(const AttachedRank& attached, int rank, const DeviceMemory& scratch, cudaStream_t stream)
{
    auto* const result = static_cast<ChangedBytes*>(scratch.data());
    for (const auto& gap : attached.layout.gaps) {
        const char* const memory = (gap.in_outputs ? attached.outputs : attached.inputs).data();
        ChangedBytes changed{};
        CUCO_CHECK(check(findChangedBytes(memory + gap.begin, gap.bytes, guard_byte, result, stream),
                         "look at the guard zones"));
        CUCO_CHECK(check(cudaMemcpyAsync(&changed, result, sizeof changed, cudaMemcpyDeviceToHost, stream),
                         "look at the guard zones"));
        CUCO_CHECK(check(cudaStreamSynchronize(stream), "look at the guard zones"));
        if (changed.count > 0)
            return guardFailure(gap.place, rank, int64_t(changed.count), int64_t(changed.first), gap.bytes);
    }
    return std::nullopt;
}

}  // namespace cuco_harness
