// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/event_stream_parser.h"
#include "tests/support/event_stream_frames.h"

#include <gmock/gmock.h>

#include <random>

namespace cuco {
namespace {

using testing::bedrockEvent;
using testing::bigEndian;
using ::testing::ElementsAre;
using testing::eventStreamFrame;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::textHeader;

struct Outcome {
    std::vector<std::string> messages;  ///< ":event-type payload"
    std::string fault;
    bool going = true;
};

Outcome outcomeOf(std::string_view bytes, std::size_t piece = 1u << 20)
{
    Outcome outcome;
    EventStreamParser parser([&](const EventStreamMessage& message) {
        const auto type = message.headers.find(":event-type");
        outcome.messages.push_back((type == message.headers.end() ? "-" : type->second) + " " +
                                   std::string(message.payload));
        return true;
    });
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
        outcome.going = parser.feed(bytes.substr(0, piece));
    outcome.fault = parser.fault();
    return outcome;
}

TEST(LlmEventStream, ReadsTheMessagesThatAwsPublishesAsExamples)
{
    // aws-c-event-stream, test vectors "empty_message" and "payload_no_headers".
    const std::string empty("\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb\x7d\x98\xc8\xff", 16);
    const std::string payload("\x00\x00\x00\x1d\x00\x00\x00\x00\xfd\x52\x8c\x5a{'foo':'bar'}\xc3\x65\x39\x36", 29);
    const Outcome outcome = outcomeOf(empty + payload);
    EXPECT_THAT(outcome.messages, ElementsAre("- ", "- {'foo':'bar'}"));
    EXPECT_THAT(outcome.fault, IsEmpty());
}

TEST(LlmEventStream, ReadsTheSameMessagesInWhateverPiecesTheyCome)
{
    const std::string bytes =
        bedrockEvent("a", "{}") + eventStreamFrame("", "") + bedrockEvent("b", std::string(300, 'x'));
    for (std::size_t piece = 1; piece <= bytes.size(); ++piece)
        EXPECT_THAT(outcomeOf(bytes, piece).messages, ElementsAre("a {}", "- ", "b " + std::string(300, 'x')))
            << "in pieces of " << piece;
}

TEST(LlmEventStream, PassesOverHeadersOfEveryOtherType)
{
    std::string headers;
    const std::vector<std::size_t> sizes{0, 0, 1, 2, 4, 8, 0, 0, 8, 16};
    for (std::size_t type = 0; type < sizes.size(); ++type)
        if (type != 6 && type != 7)
            headers += std::string("\x01h", 2) + static_cast<char>(type) + std::string(sizes[type], '\x07');
    headers += std::string("\x01h\x06\x00\x02zz", 7) + textHeader(":event-type", "found");
    EXPECT_THAT(outcomeOf(eventStreamFrame(headers, "p")).messages, ElementsAre("found p"));
}

TEST(LlmEventStream, DropsAMessageThatTheEndCutsOff)
{
    const std::string frame = bedrockEvent("a", "{}");
    for (std::size_t size = 0; size < frame.size(); ++size) {
        const Outcome outcome = outcomeOf(frame.substr(0, size));
        EXPECT_THAT(outcome.messages, IsEmpty());
        EXPECT_TRUE(outcome.going) << "nothing is wrong yet";
    }
}

TEST(LlmEventStream, StopsWhereTheReaderWantsNoMore)
{
    int seen = 0;
    EventStreamParser parser([&](const EventStreamMessage&) { return ++seen < 2; });
    const std::string frame = bedrockEvent("a", "{}");
    EXPECT_FALSE(parser.feed(frame + frame + frame));
    EXPECT_FALSE(parser.feed(frame));
    EXPECT_EQ(seen, 2);
    EXPECT_THAT(parser.fault(), IsEmpty());
}

TEST(LlmEventStream, ChangingAnyOneByteIsNoticed)
{
    const std::string frame = bedrockEvent("contentBlockDelta", "{\"delta\":{\"text\":\"x\"}}");
    for (std::size_t i = 0; i < frame.size(); ++i) {
        std::string broken = frame;
        broken[i] = static_cast<char>(broken[i] ^ 0x20);
        const Outcome outcome = outcomeOf(broken + frame);
        EXPECT_THAT(outcome.messages, IsEmpty()) << "byte " << i;
        EXPECT_FALSE(outcome.going);
        EXPECT_FALSE(outcome.fault.empty());
    }
}

TEST(LlmEventStream, LengthsThatCannotBeAreRefusedBeforeAnyByteIsAwaited)
{
    const auto prelude = [](std::uint32_t total, std::uint32_t headers) {
        const std::string lengths = bigEndian(total) + bigEndian(headers);
        return lengths + bigEndian(testing::crc32Of(lengths));
    };
    for (const auto& [total, headers] :
         {std::pair{0u, 0u}, std::pair{15u, 0u}, std::pair{16u, 1u}, std::pair{0xffffffffu, 0u},
          std::pair{0x40000000u, 0x20000u}, std::pair{0x30000u, 0x20001u}, std::pair{16u, 0xffffffffu}}) {
        const Outcome outcome = outcomeOf(prelude(total, headers));
        EXPECT_THAT(outcome.fault, HasSubstr("impossible length")) << total << " " << headers;
    }
    EXPECT_THAT(outcomeOf("event: message_start\n").fault, HasSubstr("no event stream"));
}

TEST(LlmEventStream, HeadersThatReachOverTheirEndAreRefused)
{
    const std::string headers = textHeader("name", "value");
    for (std::size_t size = 1; size < headers.size(); ++size)
        EXPECT_THAT(outcomeOf(eventStreamFrame(headers.substr(0, size), "payload")).fault, HasSubstr("headers"))
            << size;
    EXPECT_THAT(outcomeOf(eventStreamFrame(std::string("\x01n\x0a", 3), "")).fault, HasSubstr("headers"));
    EXPECT_THAT(outcomeOf(eventStreamFrame(std::string("\x00\x00", 2), "")).fault, HasSubstr("headers"));
}

TEST(LlmEventStream, SurvivesWhateverComes)
{
    std::mt19937 random(7);
    const std::string base = bedrockEvent("a", "{}") + bedrockEvent("b", "{\"x\":1}");
    for (int round = 0; round < 4000; ++round) {
        // Headers of rubbish behind checksums that are right, and rubbish all through.
        std::string rubbish(random() % 64, '\0');
        for (char& byte : rubbish)
            byte = static_cast<char>(random() % 12);
        outcomeOf(eventStreamFrame(rubbish, rubbish), 1 + random() % 9);
        std::string mixed = base;
        for (int change = 0; change < 3; ++change)
            mixed[random() % mixed.size()] = static_cast<char>(random());
        outcomeOf(mixed, 1 + random() % 40);
    }
}

}  // namespace
}  // namespace cuco
