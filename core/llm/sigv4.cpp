// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/sigv4.h"

#include "core/source/kernel_source.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <ctime>
#include <new>

namespace cuco {

namespace {

std::string hmacSha256(std::string_view key, std::string_view text)
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size) == nullptr)
        throw std::bad_alloc();
    return {reinterpret_cast<const char*>(digest.data()), size};
}

std::string hex(std::string_view bytes)
{
    std::string text;
    for (const char byte : bytes)
        text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

/// "20150830T123600Z"
std::string timestamp(std::int64_t unix_s)
{
    const auto time = static_cast<std::time_t>(unix_s);
    std::tm parts{};
    ::gmtime_r(&time, &parts);
    std::array<char, 20> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts)};
}

}  // namespace

std::string percentEncoded(std::string_view text, bool keep_slash)
{
    std::string encoded;
    for (const char c : text) {
        const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                           c == '.' || c == '_' || c == '~' || (keep_slash && c == '/');
        encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return encoded;
}

std::vector<std::pair<std::string, std::string>> sigV4Headers(const AwsRequest& request,
                                                              const AwsCredentials& credentials,
                                                              std::int64_t now_unix_s)
{
    const std::string time = timestamp(now_unix_s), day = time.substr(0, 8);
    // In the order of their names, as they are signed.
    std::vector<std::pair<std::string, std::string>> headers;
    if (!request.content_type.empty())
        headers.emplace_back("content-type", request.content_type);
    headers.emplace_back("host", request.host);
    headers.emplace_back("x-amz-date", time);
    if (!credentials.session_token.empty())
        headers.emplace_back("x-amz-security-token", credentials.session_token.reveal());

    std::string lines, names;
    for (const auto& [name, value] : headers) {
        lines += name + ":" + value + "\n";
        names += (names.empty() ? "" : ";") + name;
    }
    const std::string canonical =
        fmt::format("{}\n{}\n\n{}\n{}\n{}", request.method, percentEncoded(request.path, true), lines, names,
                    sha256Hex(request.body));
    const std::string scope = fmt::format("{}/{}/{}/aws4_request", day, request.region, request.service);
    const std::string to_sign = fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", time, scope, sha256Hex(canonical));
    std::string key = "AWS4" + credentials.secret_key.reveal();
    for (const std::string& part : {day, request.region, request.service, std::string("aws4_request")})
        key = hmacSha256(key, part);
    headers.emplace_back("authorization",
                         fmt::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}",
                                     credentials.access_key_id, scope, names, hex(hmacSha256(key, to_sign))));
    return headers;
}

}  // namespace cuco
