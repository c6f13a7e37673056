// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run_session.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace cuco {

/// Measures promoted candidates again on held-back shapes, one after the other on a thread of its own, beside a search
/// or without one, and settles their promotions. What is stopped stays pending.
class Promotions {
public:
    explicit Promotions(RunShared& run) : run_(run) {}
    ~Promotions();
    Promotions(const Promotions&) = delete;
    Promotions& operator=(const Promotions&) = delete;

    /// Takes up everything that is pending. Does nothing without an evaluator.
    void begin();
    void stop();
    /// Drops what is being measured when its promotion was undone or replaced.
    void reconsider();
    /// Blocks until nothing is being measured. The error is what kept a promotion from being measured.
    Result<void> wait();

private:
    struct Job {
        Decision decision;
        std::stop_source abandoned;
    };
    void work();
    std::optional<Job> next();  ///< nothing: the work has ended
    void end(Error error);
    Result<std::optional<Remeasurement>> measureAgain(const Decision& decision, const std::stop_token& stop);
    Result<void> settle(const Remeasurement& remeasurement);

    RunShared& run_;
    std::mutex mutex_;  ///< taken before RunShared::mutex
    std::condition_variable changed_;
    bool working_ = false, stopped_ = false;
    std::optional<Job> job_;  ///< what is being measured
    std::optional<Error> error_;
    std::jthread thread_;
};

}  // namespace cuco
