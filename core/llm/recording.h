// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/chat.h"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <mutex>

namespace cuco {

struct RecordedAnswer {
    std::string request_sha256;  ///< requestSha256
    std::string provider;
    ChatResult result;
};

using Recording = std::vector<RecordedAnswer>;

nlohmann::json toJson(const Recording& recording);
Result<Recording> recordingFromJson(const nlohmann::json& json, const std::string& where);

/// Keeps what its inner client answers, errors included, in the order in which
/// the calls end.
class RecordingClient final : public ChatClient {
public:
    explicit RecordingClient(ChatClient& inner) : inner_(&inner) {}
    std::string provider() const override { return inner_->provider(); }
    ChatResult complete(const ChatRequest& request, const CallControl& control) override;
    Recording recording() const;

private:
    ChatClient* inner_;
    mutable std::mutex mutex_;
    Recording recording_;
};

/// Gives recorded answers and calls nobody. A request that was not recorded is
/// an error, and so is one asked more often than it was answered. Recorded
/// times are given back, not waited for.
class ReplayClient final : public ChatClient {
public:
    enum class Order {
        by_request,  ///< each request has its own answers, in their order
        recorded,    ///< requests must also come in the order of the recording
    };
    ReplayClient(Recording recording, Order order) : recording_(std::move(recording)), order_(order) {}
    std::string provider() const override { return "replay"; }
    ChatResult complete(const ChatRequest& request, const CallControl& control) override;

private:
    std::optional<std::size_t> take(const std::string& sha256);

    Recording recording_;
    Order order_;
    std::mutex mutex_;
    std::map<std::string, std::size_t> next_of_request_;
    std::size_t next_ = 0;
};

}  // namespace cuco
