// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cuco {

Budget::Reservation::Reservation(Reservation&& other) noexcept
    : budget_(std::exchange(other.budget_, nullptr)), usd_(other.usd_)
{
}

Budget::Reservation::~Reservation()
{
    settle(0);
}

void Budget::Reservation::settle(double cost_usd)
{
    if (Budget* const budget = std::exchange(budget_, nullptr))
        budget->close(usd_, cost_usd);
}

std::optional<Budget::Reservation> Budget::reserve(double usd)
{
    const std::scoped_lock lock(mutex_);
    // Written so that a NaN does not fit.
    if (!(usd >= 0 && spent_usd_ + reserved_usd_ + usd <= limit_usd_))
        return std::nullopt;
    reserved_usd_ += usd;
    return Reservation(*this, usd);
}

void Budget::close(double reserved_usd, double cost_usd)
{
    const std::scoped_lock lock(mutex_);
    reserved_usd_ = std::max(0.0, reserved_usd_ - reserved_usd);
    spent_usd_ += cost_usd;
}

Budget::State Budget::state() const
{
    const std::scoped_lock lock(mutex_);
    return {limit_usd_, spent_usd_, reserved_usd_};
}

double settledUsd(const ModelPrice& price, const ChatRequest& request, const ChatResult& result)
{
    if (result)
        return result->usage.reported ? costUsd(price, result->usage) : worstCaseUsd(price, request);
    const ChatError& error = result.error();
    if (error.partial.usage.reported)
        return costUsd(price, error.partial.usage);
    return error.billable ? worstCaseUsd(price, request) : 0;
}

ChatResult BudgetedClient::complete(const ChatRequest& request, const CallControl& control)
{
    const auto price = prices_.find(provider(), request.model);
    ChatError error;
    if (!price) {
        error.kind = ChatErrorKind::no_price;
        error.error = {fmt::format("The price of the model \"{}\" of {} is not "
                                   "known, so it cannot be kept within a "
                                   "budget.",
                                   request.model, provider()),
                       {},
                       "Give its price, 0 where it costs nothing."};
        return std::unexpected(std::move(error));
    }
    auto reservation = budget_->reserve(worstCaseUsd(*price, request));
    if (!reservation) {
        const Budget::State state = budget_->state();
        error.kind = ChatErrorKind::budget;
        error.error = {fmt::format("This call may cost {:.4f} USD; of {:.2f} USD, "
                                   "{:.4f} are spent and {:.4f} reserved "
                                   "for calls in flight.",
                                   worstCaseUsd(*price, request), state.limit_usd, state.spent_usd, state.reserved_usd),
                       {},
                       "Raise the budget, shorten the prompt, or ask for fewer "
                       "output tokens."};
        return std::unexpected(std::move(error));
    }
    ChatResult result = inner_->complete(request, control);
    reservation->settle(settledUsd(*price, request, result));
    return result;
}

}  // namespace cuco
