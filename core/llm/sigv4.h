// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/secret.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuco {

struct AwsCredentials {
    std::string access_key_id;
    Secret secret_key;
    Secret session_token;  ///< of temporary credentials; else empty
};

/// A request without a query.
struct AwsRequest {
    std::string method, host;  ///< host as in the header: with a port that is not the usual one
    std::string path;          ///< as it travels, encoded
    std::string content_type, body;
    std::string region, service;
};

/// The headers of AWS Signature Version 4 (IAM User Guide, "Create a signed AWS API request"): host, content-type,
/// x-amz-date, x-amz-security-token where there is one, and authorization. The path is encoded once more for the
/// signature, as all services but S3 want it. libcurl's own CURLOPT_AWS_SIGV4 does not do that before its 8.x (curl
/// issues 16927 and 18423), and most of Bedrock's model ids have a colon.
std::vector<std::pair<std::string, std::string>> sigV4Headers(const AwsRequest& request,
                                                              const AwsCredentials& credentials,
                                                              std::int64_t now_unix_s);

/// Everything but letters, digits and -._~ as %XX, the slash too unless it is kept.
std::string percentEncoded(std::string_view text, bool keep_slash = false);

}  // namespace cuco
