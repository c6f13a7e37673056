// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/http_chat.h"
#include "core/llm/secret.h"
#include "core/llm/sse_parser.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <utility>

namespace cuco {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

using Events = std::vector<std::pair<std::string, std::string>>;

/// What is read when the text comes in pieces of this many bytes.
Events eventsOf(std::string_view text, std::size_t piece)
{
    Events events;
    SseParser parser([&](std::string_view name, std::string_view data) {
        events.emplace_back(name, data);
        return true;
    });
    for (; !text.empty(); text.remove_prefix(std::min(piece, text.size())))
        parser.feed(text.substr(0, piece));
    return events;
}

TEST(LlmStream, ReadsTheSameEventsInWhateverPiecesTheyCome)
{
    const std::string text =
        ": a comment\r\nevent: first\r\ndata: one\r\ndata: "
        "two\r\n\r\ndata:three\n\ndata: four\r\r";
    for (std::size_t piece = 1; piece <= text.size(); ++piece)
        EXPECT_THAT(eventsOf(text, piece), ElementsAre(Pair("first", "one\ntwo"), Pair("", "three"), Pair("", "four")))
            << "in pieces of " << piece;
}

TEST(LlmStream, DropsAnEventThatTheEndCutsOff)
{
    EXPECT_THAT(eventsOf("data: half of an event\n", 64), IsEmpty());
}

TEST(LlmStream, StopsWhereTheReaderWantsNoMore)
{
    int seen = 0;
    SseParser parser([&](std::string_view, std::string_view) { return ++seen < 2; });
    EXPECT_FALSE(parser.feed("data: 1\n\ndata: 2\n\ndata: 3\n\n"));
    EXPECT_FALSE(parser.feed("data: 4\n\n"));
    EXPECT_EQ(seen, 2);
}

TEST(LlmStream, ReadsRetryAfterAsSecondsAndAsADate)
{
    EXPECT_EQ(parseRetryAfter("7", 0), 7s);
    EXPECT_EQ(parseRetryAfter("Wed, 21 Oct 2015 07:28:10 GMT", 1445412480), 10s);
    EXPECT_EQ(parseRetryAfter("Wed, 21 Oct 2015 07:28:00 GMT", 1445412490), 0s) << "a date in the past";
    EXPECT_EQ(parseRetryAfter("soon", 0), std::nullopt);
}

TEST(LlmStream, TellsTheClassOfAFailureFromTheProvidersWordBeforeTheStatus)
{
    EXPECT_EQ(errorKind(429, "rate_limit_error"), ChatErrorKind::rate_limit);
    EXPECT_EQ(errorKind(429, "insufficient_quota"), ChatErrorKind::budget);
    EXPECT_EQ(errorKind(529, "overloaded_error"), ChatErrorKind::server);
    EXPECT_EQ(errorKind(404, "not_found_error"), ChatErrorKind::unknown_model);
    EXPECT_EQ(errorKind(400, "context_length_exceeded"), ChatErrorKind::too_large);
    EXPECT_EQ(errorKind(400, "invalid_request_error"), ChatErrorKind::bad_request);
}

TEST(LlmStream, ASecretIsReadWithoutTheWhiteSpaceAroundItAndRedactedEverywhere)
{
    ::setenv("CUCO_TEST_SECRET", "  sk-planted\n", 1);
    const Secret secret = Secret::fromEnvironment("CUCO_TEST_SECRET");
    EXPECT_EQ(secret.reveal(), "sk-planted");
    EXPECT_EQ(secret.redact("sk-planted, sk-planted."), "[redacted], [redacted].");
    EXPECT_TRUE(secret.fitsHeader());
    EXPECT_FALSE(Secret("sk\r\nx-injected: 1").fitsHeader());
    EXPECT_TRUE(Secret::fromEnvironment("CUCO_TEST_NOT_SET").empty());
    EXPECT_EQ(Secret().redact("unchanged"), "unchanged");
}

}  // namespace
}  // namespace cuco
