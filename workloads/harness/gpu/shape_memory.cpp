// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/shape_memory.h"

#include "gpu/rank_process.h"
#include "layout.h"

#include <unistd.h>
#include <algorithm>
#include <utility>

namespace cuco_harness {
namespace {

constexpr int most_sets = 17;
// Of small shapes there is a set for each iteration of a burst and one more; together they need not be more than this.
constexpr size_t many_bytes = size_t(2) << 30;

size_t largestSet(const Job& job, const ShapeJob& shape)
{
    size_t bytes = 1;
    for (int rank = 0; rank < job.ranks; ++rank)
        bytes = std::max(bytes, bytesOfSet(shape, rank));
    return bytes;
}

size_t setsBeyondL2(size_t bytes, const GpuMemory& gpus)
{
    return 3 * size_t(gpus.l2_bytes) / bytes + 1;
}

}  // namespace

Outcome chooseSets(const Job& job, const ShapeJob& shape, size_t programs, const GpuMemory& gpus, int& sets)
{
    const size_t bytes = largestSet(job, shape);
    const size_t room = size_t(std::max<int64_t>(gpus.free_bytes, 0)) / 2 / programs / bytes;
    if (room < 2)
        return environmentFailure("The GPUs have too little free memory for shape " + shape.name +
                                  ". End other programs on them, or choose a smaller shape.");
    const size_t wanted = shape.rounds > 0 ? std::max(setsBeyondL2(bytes, gpus), many_bytes / bytes)
                                           : size_t(std::max(shape.consecutive, 2));
    sets = int(std::min(std::clamp<size_t>(wanted, 2, most_sets), room));
    return std::nullopt;
}

int setsForBurst(const Job& job, const ShapeJob& shape, const GpuMemory& gpus, int burst)
{
    const size_t beyond_l2 = setsBeyondL2(largestSet(job, shape), gpus);
    return int(std::clamp<size_t>(std::max(beyond_l2, size_t(burst) + 1), 2, most_sets));
}

void postAllocate(Team& team, const ShapeJob& shape, int sets)
{
    team.post(rank_message::allocate, "the buffers of shape " + shape.name,
              Packer().number(int64_t(sets)).bytes() + packShape(shape));
}

Outcome shareMemory(const Job& job, Team& team, int number, int shape, int sets, Observer& observer)
{
    std::vector<std::string> replies;
    CUCO_CHECK(team.collect(replies));
    std::vector<Observer::SharedRegions> of_ranks(size_t(job.ranks));
    bool shared = true;
    for (int rank = 0; rank < job.ranks; ++rank) {
        auto& regions = of_ranks[size_t(rank)];
        Unpacker fields(replies[size_t(rank)]);
        for (int i = 0; i < 3; ++i) {
            regions.bytes.push_back(fields.number());
            if (team.isElsewhere())
                continue;
            regions.descriptors.push_back(team.takeDescriptor(rank));
            shared = shared && regions.descriptors.back() >= 0;
        }
    }
    Outcome failed = shared ? observer.attach(number, shape, sets, of_ranks)
                            : environmentFailure("A rank did not share its memory.");
    // What is shared comes from processes that the program is in.
    if (failed) {
        failed->kind = "crash";
        if (auto lost = team.lost())
            failed = std::move(lost);
    }
    for (const auto& regions : of_ranks) {
        for (const int descriptor : regions.descriptors) {
            if (descriptor >= 0)
                close(descriptor);
        }
    }
    return failed;
}

}  // namespace cuco_harness
