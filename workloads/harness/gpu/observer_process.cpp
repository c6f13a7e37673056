// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/observer_process.h"

#include "device_memory.h"
#include "device_outcome.h"
#include "gpu/busy_kernel.h"
#include "gpu/conditions.h"
#include "gpu/device_compare.h"
#include "gpu/failure_wire.h"
#include "gpu/glance.h"
#include "gpu/gpu_threads.h"
#include "gpu/node_rates.h"
#include "gpu/observer.h"
#include "gpu/oracle.h"
#include "gpu/output_comparison.h"
#include "layout.h"

#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace cuco_harness {
namespace {

// A write that arrives after its iteration has arrived by then.
constexpr useconds_t late_us = 20'000;

using observer_message::regions_of_rank;

class ObserverProcess {
public:
    ObserverProcess(const Job& job, const HostShare& share, Channel channel)
        : job_(job), share_(share), channel_(std::move(channel)), comparison_(job)
    {
        channel_.keepDescriptors(regions_of_rank * size_t(share_.ranks));
    }

    void serve()
    {
        for (Message message; channel_.receive(message);) {
            reply_ = Packer();
            auto failed = take(message);
            while (channel_.takeDescriptor() >= 0) {
            }
            const bool sent = failed ? channel_.send(observer_message::failed, packFailure(*failed))
                                     : channel_.send(observer_message::done, reply_.bytes());
            if (!sent)
                return;
        }
    }

private:
    Outcome take(const Message& message)
    {
        Unpacker fields(message.bytes);
        switch (message.kind) {
            case observer_message::open:
                return open();
            case observer_message::attach:
                return attach(fields);
            case observer_message::detach:
                teams_.erase(int(fields.number()));
                return std::nullopt;
            case observer_message::prepare:
                return prepare(fields);
            case observer_message::glance:
                return glance(fields);
            case observer_message::check:
                return checkOutputs(fields);
            case observer_message::guards:
                return checkGuards(int(fields.number()));
            case observer_message::look:
                return look();
            case observer_message::rates:
                return measureRates();
            case observer_message::occupy:
                return occupy(fields);
            default:
                return environmentFailure("The observer was asked something it does not know.");
        }
    }

    const ShapeJob& shapeOf(const AttachedRank& attached) const { return job_.shapes[size_t(attached.shape)]; }

    Outcome onEachGpu(const std::function<Outcome(int)>& body) { return cuco_harness::onEachGpu(share_, body); }

    Outcome open()
    {
        std::string error;
        reference_ = loadReference(job_.pathOf(job_.reference), error);
        if (!reference_) {
            Failure failure = environmentFailure("The oracle cannot be loaded.");
            failure.detail = error;
            return failure;
        }
        // What this thread frees would otherwise open a GPU that may be another share's.
        CUCO_CHECK(check(cudaSetDevice(share_.first_device), "use a GPU"));
        streams_.resize(size_t(job_.ranks));
        bus_ids_.resize(size_t(job_.ranks));
        comparison_.resize(job_.ranks);
        changed_.resize(size_t(job_.ranks));
        glance_.resize(job_.ranks);
        conditions_ = std::make_unique<Conditions>();
        CUCO_CHECK(onEachGpu([&](int rank) -> Outcome {
            CUCO_CHECK(
                check(cudaStreamCreateWithFlags(&streams_[size_t(rank)], cudaStreamNonBlocking), "make a stream"));
            char id[32] = {};
            CUCO_CHECK(
                check(cudaDeviceGetPCIBusId(id, sizeof id, share_.deviceOf(rank)), "ask a GPU for its PCI bus id"));
            bus_ids_[size_t(rank)] = id;
            CUCO_CHECK(comparison_.allocate(rank));
            CUCO_CHECK(glance_.allocate(rank));
            return changed_[size_t(rank)].allocate(sizeof(ChangedBytes));
        }));
        return runOraclesOnce();
    }

    /// While the ranks start: libraries load what the reference needs when it runs first.
    Outcome runOraclesOnce()
    {
        CUCO_CHECK(makeOracles(0));
        return onEachGpu([&](int rank) {
            return oracles_[size_t(rank)].run(reference_, job_.shapes[0], job_.shapes[0].seed, streams_[size_t(rank)]);
        });
    }

    /// Memory of all ranks of a team, each on its GPU.
    Outcome attach(Unpacker& fields)
    {
        const int team = int(fields.number()), shape = int(fields.number()), sets = int(fields.number());
        std::vector<int64_t> bytes;
        std::vector<int> descriptors;
        for (size_t i = 0; i < regions_of_rank * size_t(job_.ranks); ++i) {
            bytes.push_back(fields.number());
            descriptors.push_back(share_.has(int(i / regions_of_rank)) ? channel_.takeDescriptor() : -1);
        }
        Outcome failed;
        if (!fields.ok() || shape < 0 || size_t(shape) >= job_.shapes.size())
            failed = environmentFailure("The observer was told of memory that no rank has.");
        if (!failed)
            failed = makeOracles(shape);
        auto& ranks = teams_[team];
        for (int i = 0; i < share_.ranks; ++i)
            ranks[share_.first_rank + i] = AttachedRank();
        if (!failed)
            failed = onEachGpu([&](int rank) {
                const size_t first = regions_of_rank * size_t(rank);
                AttachedRank& attached = ranks.at(rank);
                attached.shape = shape;
                attached.layout = layOut(job_.shapes[size_t(shape)], rank, sets);
                return mapRegions(attached, &bytes[first], &descriptors[first], share_.deviceOf(rank),
                                  streams_[size_t(rank)]);
            });
        for (const int descriptor : descriptors) {
            if (descriptor >= 0)
                close(descriptor);
        }
        return failed;
    }

    /// Once a shape.
    Outcome makeOracles(int shape)
    {
        if (oracle_shape_ == shape)
            return std::nullopt;
        oracles_.clear();
        oracles_.resize(size_t(job_.ranks));
        oracle_shape_ = shape;
        return onEachGpu(
            [&](int rank) { return oracles_[size_t(rank)].allocate(job_.shapes[size_t(shape)], rank, job_.ranks); });
    }

    struct Selection {
        int team = 0, first_set = 0;
        std::vector<uint64_t> seeds;
        std::map<int, AttachedRank>* ranks = nullptr;
    };

    Outcome select(Unpacker& fields, Selection& selection)
    {
        selection.team = int(fields.number());
        selection.first_set = int(fields.number());
        for (int64_t count = fields.number(); count > 0 && fields.ok(); --count)
            selection.seeds.push_back(uint64_t(fields.number()));
        const auto team = teams_.find(selection.team);
        if (!fields.ok() || team == teams_.end() || int(team->second.size()) != share_.ranks)
            return environmentFailure("The observer was asked about ranks that it does not know.");
        selection.ranks = &team->second;
        return std::nullopt;
    }

    Outcome prepare(Unpacker& fields)
    {
        Selection selection;
        CUCO_CHECK(select(fields, selection));
        return onEachGpu([&](int rank) -> Outcome {
            const AttachedRank& attached = selection.ranks->at(rank);
            return prepareBuffers(attached, shapeOf(attached), rank, selection.first_set, selection.seeds,
                                  streams_[size_t(rank)]);
        });
    }

    Outcome glance(Unpacker& fields)
    {
        const int number = int(fields.number()), first_set = int(fields.number()), length = int(fields.number());
        const auto team = teams_.find(number);
        if (!fields.ok() || team == teams_.end() || length < 1 || length > Glance::longest)
            return environmentFailure("The observer was asked about ranks that it does not know.");
        glance_.begin(number, first_set, length);
        // On this one thread: starting others would take longer than the copies.
        for (auto& [rank, attached] : team->second) {
            CUCO_CHECK(check(cudaSetDevice(share_.deviceOf(rank)), "use a GPU"));
            CUCO_CHECK(glance_.take(attached, shapeOf(attached), rank, streams_[size_t(rank)]));
        }
        return std::nullopt;
    }

    Outcome checkOutputs(Unpacker& fields)
    {
        Selection selection;
        CUCO_CHECK(select(fields, selection));
        const bool snapshot = fields.number() != 0;
        const bool glanced = glance_.end() == selection.team;
        std::vector<std::vector<Observation>> seen(size_t(job_.ranks));
        CUCO_CHECK(onEachGpu([&](int rank) -> Outcome {
            for (size_t i = 0; i < selection.seeds.size(); ++i)
                CUCO_CHECK(checkIteration(selection, int(i), rank, snapshot, seen[size_t(rank)]));
            bool same = true;
            const AttachedRank& attached = selection.ranks->at(rank);
            if (glanced)
                CUCO_CHECK(glance_.compare(attached, shapeOf(attached), rank, streams_[size_t(rank)], same));
            if (!same) {
                Observation& one = seen[size_t(rank)].emplace_back();
                one.rank = rank;
                one.late = true;
            }
            return std::nullopt;
        }));
        int64_t count = 0;
        for (const auto& of_rank : seen)
            count += int64_t(of_rank.size());
        reply_.number(count);
        for (const auto& of_rank : seen) {
            for (const auto& one : of_rank)
                pack(one);
        }
        return std::nullopt;
    }

    void pack(const Observation& one)
    {
        const Comparison& c = one.comparison;
        reply_.number(int64_t(one.iteration)).number(int64_t(one.rank)).number(int64_t(one.output));
        reply_.number(int64_t(one.right)).number(int64_t(one.late));
        reply_.number(c.relative_l2).number(c.max_error).number(c.elements).number(c.wrong_elements).number(c.element);
        reply_.number(c.expected).number(c.got).number(int64_t(one.wrong_in_bin.size()));
        for (const int64_t bin : one.wrong_in_bin)
            reply_.number(bin);
    }

    Outcome checkIteration(const Selection& selection, int iteration, int rank, bool snapshot,
                           std::vector<Observation>& seen)
    {
        const AttachedRank& attached = selection.ranks->at(rank);
        const ShapeJob& shape = shapeOf(attached);
        const size_t set = size_t(selection.first_set + iteration) % attached.layout.outputs.size();
        Oracle& oracle = oracles_[size_t(rank)];
        const cudaStream_t stream = streams_[size_t(rank)];
        CUCO_CHECK(oracle.run(reference_, shape, selection.seeds[size_t(iteration)], stream));
        for (size_t b = 0; b < shape.outputs.size(); ++b) {
            const char* const output = snapshot ? attached.snapshot.data() + attached.layout.snapshot[b]
                                                : attached.outputs.data() + attached.layout.outputs[set][b];
            Observation& one = seen.emplace_back();
            one.iteration = iteration;
            one.rank = rank;
            one.output = int(b);
            CUCO_CHECK(comparison_.compare(output, shape.outputs[b], oracle.output(b), rank, stream, one));
            if (one.right)
                continue;
            usleep(late_us);
            Observation again;
            CUCO_CHECK(comparison_.compare(attached.outputs.data() + attached.layout.outputs[set][b], shape.outputs[b],
                                           oracle.output(b), rank, stream, again));
            one.late = again.right;
        }
        return std::nullopt;
    }

    Outcome checkGuards(int team)
    {
        const auto ranks = teams_.find(team);
        if (ranks == teams_.end())
            return std::nullopt;
        return onEachGpu([&](int rank) -> Outcome {
            const auto found = ranks->second.find(rank);
            if (found == ranks->second.end())
                return std::nullopt;
            return checkGuardZones(found->second, rank, changed_[size_t(rank)], streams_[size_t(rank)]);
        });
    }

    Outcome measureRates()
    {
        NodeRates rates;
        CUCO_CHECK(measureNodeRates(share_, streams_, rates));
        reply_.number(rates.link_bytes_per_s).number(rates.hbm_bytes_per_s);
        return std::nullopt;
    }

    /// Returns as soon as the GPU has something to do.
    Outcome occupy(Unpacker& fields)
    {
        const int64_t rank = fields.number(), duration_ns = fields.number();
        if (!fields.ok() || rank < 0 || rank >= job_.ranks)
            return environmentFailure("The observer was asked to use a GPU that no rank has.");
        if (!share_.has(int(rank)))
            return std::nullopt;
        CUCO_CHECK(check(cudaSetDevice(share_.deviceOf(int(rank))), "use a GPU"));
        return check(keepBusy(duration_ns, streams_[size_t(rank)]), "keep a GPU busy");
    }

    Outcome look()
    {
        // A GPU that a candidate has broken fails here, and not in the next candidate's run.
        CUCO_CHECK(onEachGpu([&](int rank) -> Outcome {
            const cudaStream_t stream = streams_[size_t(rank)];
            CUCO_CHECK(check(cudaMemsetAsync(changed_[size_t(rank)].data(), 0, sizeof(ChangedBytes), stream),
                             "use the GPU after the candidate"));
            return check(cudaStreamSynchronize(stream), "use the GPU after the candidate");
        }));
        reply_.number(int64_t(share_.ranks));
        for (int i = 0; i < share_.ranks; ++i) {
            const auto& id = bus_ids_[size_t(share_.first_rank + i)];
            const GpuCondition now = conditions_->of(id);
            reply_.text(id).number(int64_t(now.sm_mhz)).number(int64_t(now.memory_mhz));
            reply_.number(int64_t(now.temperature_c)).number(now.power_w).number(int64_t(now.throttling.size()));
            for (const auto& reason : now.throttling)
                reply_.text(reason);
            reply_.text(toJson(now.processes)).number(int64_t(getpid()));
        }
        return std::nullopt;
    }

    const Job& job_;
    const HostShare share_;
    Channel channel_;
    Packer reply_;
    ReferenceFunction reference_ = nullptr;
    std::vector<cudaStream_t> streams_;
    std::vector<std::string> bus_ids_;
    OutputComparison comparison_;
    std::vector<DeviceMemory> changed_;
    Glance glance_;
    std::vector<Oracle> oracles_;
    int oracle_shape_ = -1;
    std::map<int, std::map<int, AttachedRank>> teams_;  ///< of this host's ranks
    std::unique_ptr<Conditions> conditions_;
};

}  // namespace

void serveAsObserver(const Job& job, const HostShare& share, Channel channel)
{
    ObserverProcess(job, share, std::move(channel)).serve();
}

int teamOfAttach(const std::string& bytes)
{
    return int(Unpacker(bytes).number());
}

}  // namespace cuco_harness
