// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/chat.h"
#include "core/llm/model_prices.h"

#include <mutex>

namespace cuco {

/// Money for calls. What may be spent is reserved before a call and settled
/// after it, so that spent and reserved together never pass the limit however
/// many calls are in flight. Any thread may call.
class Budget {
public:
    /// `spent_usd`: by earlier sessions of the run.
    explicit Budget(double limit_usd, double spent_usd = 0) : limit_usd_(limit_usd), spent_usd_(spent_usd) {}

    /// Gives itself back in full unless it was settled. Must not outlive the
    /// budget.
    class Reservation {
    public:
        Reservation(Reservation&& other) noexcept;
        Reservation& operator=(Reservation&&) = delete;
        ~Reservation();
        double usd() const { return usd_; }
        void settle(double cost_usd);

    private:
        friend class Budget;
        Reservation(Budget& budget, double usd) : budget_(&budget), usd_(usd) {}
        Budget* budget_;
        double usd_;
    };

    /// Nothing when it does not fit.
    std::optional<Reservation> reserve(double usd);

    struct State {
        double limit_usd = 0, spent_usd = 0, reserved_usd = 0;
    };
    State state() const;

private:
    void close(double reserved_usd, double cost_usd);

    mutable std::mutex mutex_;
    double limit_usd_, spent_usd_, reserved_usd_ = 0;
};

/// Lets a call through when its worst case fits the budget and its model has a
/// price. A call that reports no final usage but may have cost something
/// (ChatError::billable) is settled at its worst case.
class BudgetedClient final : public ChatClient {
public:
    BudgetedClient(ChatClient& inner, Budget& budget, ModelPrices prices)
        : inner_(&inner), budget_(&budget), prices_(std::move(prices))
    {
    }
    std::string provider() const override { return inner_->provider(); }
    ChatResult complete(const ChatRequest& request, const CallControl& control) override;

private:
    ChatClient* inner_;
    Budget* budget_;
    ModelPrices prices_;
};

/// What a call is settled at.
double settledUsd(const ModelPrice& price, const ChatRequest& request, const ChatResult& result);

}  // namespace cuco
