// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/keys/keychain_keys.h"

#include <future>
#include <mutex>
#include <utility>

namespace cuco::ui {

namespace {

using Clock = std::chrono::steady_clock;

class KeychainKeys {
public:
    KeychainKeys(std::shared_ptr<Keychain> keychain, std::chrono::milliseconds patience)
        : keychain_(std::move(keychain)), patience_(patience)
    {
    }

    Secret find(const std::string& name)
    {
        Secret kept = inKeychain(name);
        return kept.empty() ? environmentKey(name) : kept;
    }

private:
    Secret inKeychain(const std::string& name)
    {
        {
            const std::scoped_lock guard(mutex_);
            if (Clock::now() < silent_until_) {
                return {};
            }
        }
        auto answer = std::make_shared<std::promise<Result<Secret>>>();
        auto answered = answer->get_future();
        keychain_->read(name, [answer](Result<Secret> read) { answer->set_value(std::move(read)); });
        if (answered.wait_for(patience_) == std::future_status::ready) {
            if (auto read = answered.get()) {
                return std::move(*read);
            }
        }
        const std::scoped_lock guard(mutex_);
        silent_until_ = Clock::now() + patience_;
        return {};
    }

    std::shared_ptr<Keychain> keychain_;
    std::chrono::milliseconds patience_;
    std::mutex mutex_;
    Clock::time_point silent_until_{};
};

}  // namespace

KeySource keysFrom(std::shared_ptr<Keychain> keychain, std::chrono::milliseconds patience)
{
    return [keys = std::make_shared<KeychainKeys>(std::move(keychain), patience)](const std::string& name) {
        return keys->find(name);
    };
}

}  // namespace cuco::ui
