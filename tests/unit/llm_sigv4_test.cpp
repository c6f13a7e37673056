// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/sigv4.h"

#include <gmock/gmock.h>

namespace cuco {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// AWS's Signature Version 4 test suite: its credentials, scope and time.
constexpr std::int64_t suite_time = 1'440'938'160;  // 2015-08-30T12:36:00Z

AwsCredentials suiteCredentials()
{
    return {"AKIDEXAMPLE", Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), Secret()};
}

AwsRequest suiteRequest(const std::string& body = {}, const std::string& content_type = {})
{
    return {"POST", "example.amazonaws.com", "/", content_type, body, "us-east-1", "service"};
}

std::string authorization(const AwsRequest& request, const AwsCredentials& credentials)
{
    const auto headers = sigV4Headers(request, credentials, suite_time);
    EXPECT_EQ(headers.back().first, "authorization");
    return headers.back().second;
}

TEST(LlmSigV4, SignsAsTheTestSuiteOfAwsSays)
{
    // post-vanilla, post-x-www-form-urlencoded
    EXPECT_EQ(authorization(suiteRequest(), suiteCredentials()),
              "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
              "SignedHeaders=host;x-amz-date, "
              "Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
    EXPECT_THAT(authorization(suiteRequest("Param1=value1", "application/x-www-form-urlencoded"), suiteCredentials()),
                HasSubstr("SignedHeaders=content-type;host;x-amz-date, "
                          "Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"));
}

TEST(LlmSigV4, TheTokenOfTemporaryCredentialsIsSignedToo)
{
    // post-sts-header-before
    AwsCredentials credentials = suiteCredentials();
    credentials.session_token = Secret(
        "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTfl"
        "fKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvl"
        "Rd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx"
        "3iSIlTJabIQwj2ICCR/oLxBA==");
    EXPECT_THAT(authorization(suiteRequest(), credentials),
                HasSubstr("SignedHeaders=host;x-amz-date;x-amz-security-token, "
                          "Signature=85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"));
}

TEST(LlmSigV4, APathIsEncodedOnceToTravelAndOnceMoreToBeSigned)
{
    EXPECT_EQ(percentEncoded("anthropic.claude-x-v1:0"), "anthropic.claude-x-v1%3A0");
    EXPECT_EQ(percentEncoded("arn:aws:bedrock:us-east-1:1:inference-profile/a~b_c"),
              "arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fa~b_c");
    EXPECT_EQ(percentEncoded("/model/v1%3A0/converse", true), "/model/v1%253A0/converse");
    EXPECT_EQ(percentEncoded("é \n"), "%C3%A9%20%0A");
    AwsRequest colon = suiteRequest(), encoded = suiteRequest();
    colon.path = "/model/v1:0/converse";
    encoded.path = "/model/v1%3A0/converse";
    EXPECT_NE(authorization(colon, suiteCredentials()), authorization(encoded, suiteCredentials()));
}

TEST(LlmSigV4, TheDateIsThatOfGreenwich)
{
    EXPECT_THAT(authorization(suiteRequest(), suiteCredentials()),
                StartsWith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/"));
    EXPECT_EQ(sigV4Headers(suiteRequest(), suiteCredentials(), suite_time)[1].second, "20150830T123600Z");
}

}  // namespace
}  // namespace cuco
