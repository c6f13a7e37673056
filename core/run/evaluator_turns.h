// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace cuco {

/// Who may use a run's evaluator, and when: the search and promotions share it. Waiting ends when stop is requested.
/// May be used from several threads.
class EvaluatorTurns {
public:
    enum class Purpose { search, promotion };

    /// Gives the turn back when it is destroyed.
    class Turn {
    public:
        explicit Turn(EvaluatorTurns& turns) : turns_(&turns) {}
        Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)) {}
        Turn& operator=(Turn&&) = delete;
        ~Turn();

    private:
        EvaluatorTurns* turns_;
    };

    /// Calls `prepare` unless an earlier call succeeded; while it runs nobody has a turn, and others who prepare wait
    /// for it. Nothing happens when stop is requested before.
    Result<void> prepareOnce(const std::function<Result<void>()>& prepare, const std::stop_token& stop);
    /// After a failure, which may have been the node's.
    void prepareAgain();

    /// `alone`: on a GPU, which measures one candidate at a time, a promotion's before those of the search. Nothing
    /// when stop was requested meanwhile.
    std::optional<Turn> take(Purpose purpose, bool alone, const std::stop_token& stop);

private:
    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool prepared_ = false, preparing_ = false;
    int turns_ = 0, promotions_waiting_ = 0;
};

}  // namespace cuco
