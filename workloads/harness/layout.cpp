// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "layout.h"

namespace cuco_harness {
namespace {

constexpr size_t guard_bytes = 4096, alignment = 256;

size_t alignUp(size_t bytes)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

BufferLayout layOut(const ShapeJob& shape, int rank, int sets)
{
    BufferLayout layout;
    // A zone before each buffer, and one behind the last that also takes up what alignment left over.
    for (int set = 0; set < sets; ++set) {
        auto& outputs = layout.outputs.emplace_back();
        for (const auto& output : shape.outputs) {
            layout.gaps.push_back({true, layout.output_bytes, guard_bytes, "before output " + output.name});
            const size_t begin = layout.output_bytes + guard_bytes, end = begin + output.bytes(rank);
            outputs.push_back(begin);
            layout.output_bytes = begin + alignUp(output.largestBytes());
            layout.gaps.push_back({true, end, layout.output_bytes - end, "behind output " + output.name});
        }
        auto& inputs = layout.inputs.emplace_back();
        for (const auto& input : shape.inputs) {
            layout.gaps.push_back({false, layout.input_bytes, guard_bytes, "before input " + input.name});
            const size_t begin = layout.input_bytes + guard_bytes, end = begin + input.bytes(rank);
            inputs.push_back(begin);
            layout.input_bytes = begin + alignUp(input.bytes(rank));
            layout.gaps.push_back({false, end, layout.input_bytes - end, "behind input " + input.name});
        }
    }
    layout.gaps.push_back({true, layout.output_bytes, guard_bytes, "behind the last output"});
    layout.output_bytes += guard_bytes;
    layout.gaps.push_back({false, layout.input_bytes, guard_bytes, "behind the last input"});
    layout.input_bytes += guard_bytes;
    for (const auto& output : shape.outputs) {
        layout.snapshot.push_back(layout.snapshot_bytes);
        layout.snapshot_bytes += alignUp(output.largestBytes());
    }
    return layout;
}

size_t bytesOfSet(const ShapeJob& shape, int rank)
{
    const BufferLayout one = layOut(shape, rank, 1);
    return one.output_bytes + one.input_bytes;
}

}  // namespace cuco_harness
