// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/observer.h"

#include "gpu/failure_wire.h"
#include "gpu/observer_process.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>

namespace cuco_harness {
namespace {

Failure observerGone()
{
    return environmentFailure(
        "The process that checks the outputs ended by itself. Run cucoctl node probe; a GPU may "
        "be in an error state.");
}

Packer packedSeeds(int team, int first_set, const std::vector<uint64_t>& seeds)
{
    Packer packer;
    packer.number(int64_t(team)).number(int64_t(first_set)).number(int64_t(seeds.size()));
    for (const uint64_t seed : seeds)
        packer.number(int64_t(seed));
    return packer;
}

}  // namespace

Outcome Observer::start(const Job& job, const HostShare& share)
{
    Channel theirs;
    hosts_.resize(1);
    if (!Channel::makePair(hosts_[0], theirs))
        return environmentFailure("No socket could be made for the observer.");
    process_ = fork();
    if (process_ < 0)
        return environmentFailure("The observer's process could not be started.");
    if (process_ == 0) {
        hosts_.clear();
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGTERM, SIG_IGN);
        signal(SIGINT, SIG_IGN);
        // What profiles a candidate must not profile the oracle.
        unsetenv("CUDA_INJECTION64_PATH");
        serveAsObserver(job, share, std::move(theirs));
        _exit(0);
    }
    return std::nullopt;
}

Observer::~Observer()
{
    hosts_.clear();
    if (process_ > 0) {
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
}

/// Of every host, also when one has failed: the next question needs them all to be listening.
Outcome Observer::answers()
{
    Outcome failed;
    replies_.assign(hosts_.size(), "");
    for (size_t i = 0; i < hosts_.size(); ++i) {
        Message message;
        Outcome of_host;
        if (!hosts_[i].receive(message))
            of_host = observerGone();
        else if (message.kind == observer_message::failed)
            of_host = unpackFailure(message.bytes);
        else
            replies_[i] = std::move(message.bytes);
        if (!failed)
            failed = std::move(of_host);
    }
    return failed;
}

Outcome Observer::ask(char kind, const std::string& bytes, const std::vector<int>& descriptors)
{
    for (auto& host : hosts_) {
        if (!host.send(kind, bytes, descriptors))
            return observerGone();
    }
    return answers();
}

void Observer::postOpen()
{
    // A failure to send shows when the answer is waited for.
    for (auto& host : hosts_)
        host.send(observer_message::open, "");
}

Outcome Observer::finishOpen()
{
    return answers();
}

Outcome Observer::attach(int team, int shape, int sets, const std::vector<SharedRegions>& of_ranks)
{
    Packer packer;
    std::vector<int> descriptors;
    packer.number(int64_t(team)).number(int64_t(shape)).number(int64_t(sets));
    for (const auto& regions : of_ranks) {
        for (const int64_t bytes : regions.bytes)
            packer.number(bytes);
        descriptors.insert(descriptors.end(), regions.descriptors.begin(), regions.descriptors.end());
    }
    return ask(observer_message::attach, packer.bytes(), descriptors);
}

Outcome Observer::detach(int team)
{
    return ask(observer_message::detach, Packer().number(int64_t(team)).bytes());
}

Outcome Observer::prepare(int team, int first_set, const std::vector<uint64_t>& seeds)
{
    return ask(observer_message::prepare, packedSeeds(team, first_set, seeds).bytes());
}

Outcome Observer::glance(int team, int first_set, int length)
{
    return ask(observer_message::glance,
               Packer().number(int64_t(team)).number(int64_t(first_set)).number(int64_t(length)).bytes());
}

Outcome Observer::check(int team, int first_set, const std::vector<uint64_t>& seeds, bool snapshot,
                        std::vector<Observation>& observations)
{
    CUCO_CHECK(ask(observer_message::check, packedSeeds(team, first_set, seeds).number(int64_t(snapshot)).bytes()));
    observations.clear();
    for (const auto& reply : replies_) {
        Unpacker fields(reply);
        for (int64_t count = fields.number(); count > 0 && fields.ok(); --count) {
            Observation& seen = observations.emplace_back();
            seen.iteration = int(fields.number());
            seen.rank = int(fields.number());
            seen.output = int(fields.number());
            seen.right = fields.number() != 0;
            seen.late = fields.number() != 0;
            seen.comparison.relative_l2 = fields.real();
            seen.comparison.max_error = fields.real();
            seen.comparison.elements = fields.number();
            seen.comparison.wrong_elements = fields.number();
            seen.comparison.element = fields.number();
            seen.comparison.expected = fields.real();
            seen.comparison.got = fields.real();
            for (int64_t bins = fields.number(); bins > 0 && fields.ok(); --bins)
                seen.wrong_in_bin.push_back(fields.number());
        }
        if (!fields.ok())
            return observerGone();
    }
    return std::nullopt;
}

Outcome Observer::checkGuards(int team)
{
    return ask(observer_message::guards, Packer().number(int64_t(team)).bytes());
}

Outcome Observer::measureRates(double& link_bytes_per_s, double& hbm_bytes_per_s)
{
    CUCO_CHECK(ask(observer_message::rates, ""));
    for (size_t i = 0; i < replies_.size(); ++i) {
        Unpacker fields(replies_[i]);
        const double link = fields.real(), hbm = fields.real();
        if (!fields.ok())
            return observerGone();
        link_bytes_per_s = i > 0 ? std::min(link_bytes_per_s, link) : link;
        hbm_bytes_per_s = i > 0 ? std::min(hbm_bytes_per_s, hbm) : hbm;
    }
    return std::nullopt;
}

Outcome Observer::occupy(int rank, int64_t duration_ns)
{
    return ask(observer_message::occupy, Packer().number(int64_t(rank)).number(duration_ns).bytes());
}

Outcome Observer::look(std::vector<ObservedGpu>& gpus)
{
    CUCO_CHECK(ask(observer_message::look, ""));
    gpus.clear();
    for (const auto& reply : replies_) {
        Unpacker fields(reply);
        for (int64_t count = fields.number(); count > 0 && fields.ok(); --count) {
            ObservedGpu& gpu = gpus.emplace_back();
            gpu.pci_bus_id = fields.text();
            gpu.sm_mhz = int(fields.number());
            gpu.memory_mhz = int(fields.number());
            gpu.temperature_c = int(fields.number());
            gpu.power_w = fields.real();
            for (int64_t names = fields.number(); names > 0 && fields.ok(); --names)
                gpu.throttling.push_back(fields.text());
            gpu.processes_json = fields.text();
            gpu.observer = fields.number();
        }
        if (!fields.ok())
            return observerGone();
    }
    return std::nullopt;
}

}  // namespace cuco_harness
