// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/evaluator_turns.h"

namespace cuco {

EvaluatorTurns::Turn::~Turn()
{
    if (!turns_)
        return;
    const std::scoped_lock guard(turns_->mutex_);
    --turns_->turns_;
    turns_->changed_.notify_all();
}

Result<void> EvaluatorTurns::prepareOnce(const std::function<Result<void>()>& prepare, const std::stop_token& stop)
{
    {
        std::unique_lock lock(mutex_);
        const bool free = changed_.wait(lock, stop, [this] { return !preparing_ && (prepared_ || turns_ == 0); });
        if (!free || prepared_)
            return {};
        preparing_ = true;
    }
    auto done = prepare();
    const std::scoped_lock guard(mutex_);
    preparing_ = false;
    prepared_ = done && !stop.stop_requested();
    changed_.notify_all();
    return done;
}

void EvaluatorTurns::prepareAgain()
{
    const std::scoped_lock guard(mutex_);
    prepared_ = false;
}

std::optional<EvaluatorTurns::Turn> EvaluatorTurns::take(Purpose purpose, bool alone, const std::stop_token& stop)
{
    std::unique_lock lock(mutex_);
    const bool promotion = purpose == Purpose::promotion;
    promotions_waiting_ += promotion ? 1 : 0;
    const bool free = changed_.wait(lock, stop, [&] {
        return !preparing_ && (!alone || (turns_ == 0 && (promotion || promotions_waiting_ == 0)));
    });
    promotions_waiting_ -= promotion ? 1 : 0;
    changed_.notify_all();
    if (!free)
        return std::nullopt;
    ++turns_;
    return Turn(*this);
}

}  // namespace cuco
