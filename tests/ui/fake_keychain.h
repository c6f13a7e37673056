// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/keys/keychain.h"

#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace cuco::ui::testing {

/// A keychain in memory that answers on a thread of its own, as a system's does.
class FakeKeychain final : public Keychain {
    template <class Act>
    auto locked(Act act)
    {
        const std::scoped_lock guard(mutex_);
        return act();
    }
    void tell(Stored done)
    {
        const Result<void> answer = failure_ ? Result<void>(std::unexpected(*failure_)) : Result<void>();
        answers_.emplace_back([done = std::move(done), answer] { done(answer); });
    }

public:
    ~FakeKeychain() override
    {
        for (std::thread& answer : answers_) {
            answer.join();
        }
    }

    void read(const std::string& name, std::function<void(Result<Secret>)> done) override
    {
        const std::scoped_lock guard(mutex_);
        ++reads_;
        if (silent_) {
            unanswered_.push_back(std::move(done));
            return;
        }
        const auto found = keys_.find(name);
        Result<Secret> answer = found == keys_.end() ? Secret() : found->second;
        if (failure_) {
            answer = std::unexpected(*failure_);
        }
        answers_.emplace_back([done = std::move(done), answer] { done(answer); });
    }
    void write(const std::string& name, const Secret& secret, Stored done) override
    {
        const std::scoped_lock guard(mutex_);
        if (!failure_) {
            keys_[name] = secret;
        }
        tell(std::move(done));
    }
    void remove(const std::string& name, Stored done) override
    {
        const std::scoped_lock guard(mutex_);
        if (!failure_) {
            keys_.erase(name);
        }
        tell(std::move(done));
    }

    void fail(std::optional<Error> failure)
    {
        locked([&] { failure_ = std::move(failure); });
    }
    void setSilent(bool silent)
    {
        locked([&] { silent_ = silent; });
    }
    /// What it was silent about fails now.
    void failWhatIsUnanswered(const Error& failure)
    {
        for (const auto& done : locked([&] { return std::exchange(unanswered_, {}); })) {
            done(std::unexpected(failure));
        }
    }
    int reads()
    {
        return locked([&] { return reads_; });
    }
    std::string key(const std::string& name)
    {
        return locked([&] { return keys_.contains(name) ? keys_[name].reveal() : std::string(); });
    }

private:
    std::mutex mutex_;
    std::map<std::string, Secret> keys_;
    std::optional<Error> failure_;
    bool silent_ = false;
    int reads_ = 0;
    std::vector<std::function<void(Result<Secret>)>> unanswered_;
    std::vector<std::thread> answers_;
};

inline Error noService()
{
    return {"No keychain answers here", "no bus", "Start a keychain service, or set the key in the environment."};
}

}  // namespace cuco::ui::testing
