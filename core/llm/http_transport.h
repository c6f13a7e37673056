// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/secret.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuco {

struct HttpLimits {
    std::chrono::milliseconds connect{10'000};
    std::chrono::milliseconds total{600'000};  ///< where the caller has no deadline
    std::chrono::seconds stall{120};           ///< of a streamed answer that has begun; 0: no limit
    std::uint64_t response_bytes = 10u << 20;
    std::uint64_t header_bytes = 64u << 10;
    std::filesystem::path ca_file;  ///< certificate authorities; empty: the system's
};

struct HttpRequest {
    std::string url;  ///< https; http only without a key, or to this machine
    std::vector<std::pair<std::string, std::string>> headers;
    std::string key_header, key_prefix;  ///< "authorization", "Bearer "
    Secret key;                          ///< the header is not sent without a key or a name
    std::vector<Secret> secrets;         ///< others that headers have
    std::string body;
    bool streamed = false;  ///< HttpLimits::stall holds

    /// The text without the key and the other secrets.
    std::string redact(std::string_view text) const;
};

enum class HttpFault {
    none,
    refused_url,
    unreachable,  ///< nothing of the request was sent
    tls,          ///< the server could not prove who it is
    interrupted,
    stalled,
    too_large,
    receiver,  ///< the receiver wanted no more
    deadline,
    cancelled,
};

struct HttpAnswer {
    HttpFault fault = HttpFault::none;
    std::string fault_text;  ///< of the network, one line
    bool sent = false;       ///< some of the request was
    int status = 0;
    std::map<std::string, std::string> headers;       ///< names in lower case
    std::string body;                                 ///< as far as it came
    std::chrono::microseconds first_byte{}, total{};  ///< first_byte: of the body
};

/// Takes the body of a 200 as it comes; false ends the transfer.
using HttpReceiver = std::function<bool(std::string_view piece)>;

/// HTTP POST by libcurl. Certificates are verified, redirects are not followed,
/// compressed answers not asked for, proxies those of the environment
/// (https_proxy, no_proxy). Connections are kept for later calls. Any thread
/// may call.
class HttpTransport {
public:
    explicit HttpTransport(HttpLimits limits = {});
    ~HttpTransport();
    HttpTransport(const HttpTransport&) = delete;
    HttpTransport& operator=(const HttpTransport&) = delete;

    const HttpLimits& limits() const { return limits_; }
    /// What the receiver throws comes out here.
    HttpAnswer post(const HttpRequest& request, const HttpReceiver& receive, const std::stop_token& stop,
                    std::optional<std::chrono::steady_clock::time_point> deadline);

private:
    using Multi = std::unique_ptr<void, int (*)(void*)>;  ///< a CURLM with its connections
    Multi takeIdle();

    HttpLimits limits_;
    std::mutex mutex_;
    std::vector<Multi> idle_;
};

}  // namespace cuco
