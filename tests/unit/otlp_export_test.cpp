// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/otlp_export.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace cuco {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class OtlpExport : public ::testing::Test {
protected:
    OtlpExport()
    {
        RunConfig config;
        config.workload = "ring";
        file = std::move(*RunFile::create(folder / "run.cuco", config));
        AgentStep step;
        step.agent = "slow path";
        step.title = "Asked for a child of c1";
        step.candidate_id = "c7";
        step.time_ms = 1'700'000'000'000;
        const int first = file->addSteps({step}).value()[0].id;
        step.parent = first;
        step.title = "Judged it";
        const int second = file->addSteps({step}).value()[0].id;
        LlmCall call;
        call.agent = "slow path";
        call.candidate_id = "c7";
        call.provider = "anthropic";
        call.request.model = "claude-x";
        call.request.system = "SYSTEM TEXT";
        call.request.messages = {{.text = "PROMPT TEXT"}};
        call.request.temperature = 0.5;
        call.request.max_output_tokens = 1000;
        call.started_ms = 1'700'000'000'500;
        call.step = first;
        ChatResponse response;
        response.text = "ANSWER TEXT";
        response.stop_reason = StopReason::token_limit;
        response.model = "claude-x-1";
        response.request_id = "req_1";
        response.usage = {20, 9, 5, 7, 2, true};
        response.total = std::chrono::milliseconds(3000);
        call.result = response;
        call.cost_usd = 0.25;
        file->addLlmCall(call).value();
        ChatError error;
        error.kind = ChatErrorKind::rate_limit;
        error.error = {"Too many requests", {}, {}};
        call.result = std::unexpected(error);
        call.step = second;
        call.cost_usd.reset();
        file->addLlmCall(call).value();
    }

    static nlohmann::json spans(const nlohmann::json& document)
    {
        return document.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans");
    }
    static nlohmann::json named(const nlohmann::json& document, const std::string& name, int nth = 0)
    {
        for (const auto& span : spans(document))
            if (span.at("name") == name && nth-- == 0)
                return span;
        ADD_FAILURE() << "no span " << name;
        return {};
    }
    /// The one value of an attribute, whatever its type.
    static nlohmann::json attribute(const nlohmann::json& span, const std::string& key)
    {
        for (const auto& attribute : span.at("attributes"))
            if (attribute.at("key") == key)
                return attribute.at("value").begin().value();
        return nullptr;
    }

    testing::TemporaryFolder folder;
    std::unique_ptr<RunFile> file;
};

TEST_F(OtlpExport, NamesBedrockAsTheConventionsDo)
{
    LlmCall call;
    call.agent = "slow path";
    call.provider = "bedrock";
    call.request.model = "some.model";
    call.result = ChatResponse{};
    file->addLlmCall(call).value();
    EXPECT_EQ(attribute(named(toOtlp(*file).value(), "chat some.model"), "gen_ai.provider.name"), "aws.bedrock");
}

TEST_F(OtlpExport, PutsCallsBelowStepsBelowTheRun)
{
    const auto document = nlohmann::json::parse(dumpJson(toOtlp(*file).value()));
    EXPECT_EQ(spans(document).size(), 5u);
    const auto run = named(document, "run ring"), asked = named(document, "Asked for a child of c1"),
               judged = named(document, "Judged it"), call = named(document, "chat claude-x"),
               failed = named(document, "chat claude-x", 1);
    EXPECT_FALSE(run.contains("parentSpanId"));
    EXPECT_EQ(asked.at("parentSpanId"), run.at("spanId"));
    EXPECT_EQ(judged.at("parentSpanId"), asked.at("spanId"));
    EXPECT_EQ(call.at("parentSpanId"), asked.at("spanId"));
    EXPECT_EQ(failed.at("parentSpanId"), judged.at("spanId"));
    for (const auto& span : spans(document)) {
        EXPECT_THAT(span.at("traceId").get<std::string>(), MatchesRegex("[0-9a-f]{32}"));
        EXPECT_THAT(span.at("spanId").get<std::string>(), MatchesRegex("[0-9a-f]{16}"));
        EXPECT_EQ(span.at("traceId"), run.at("traceId"));
        EXPECT_LE(std::stoll(span.at("startTimeUnixNano").get<std::string>()),
                  std::stoll(span.at("endTimeUnixNano").get<std::string>()));
    }
    EXPECT_EQ(call.at("startTimeUnixNano"), "1700000000500000000");
    EXPECT_EQ(call.at("endTimeUnixNano"), "1700000003500000000");
    EXPECT_EQ(asked.at("endTimeUnixNano"), "1700000003500000000");
    EXPECT_EQ(toOtlp(*file).value(), document) << "the same ids each time";
}

TEST_F(OtlpExport, NamesAttributesAsTheConventionsDo)
{
    const auto document = toOtlp(*file).value();
    const auto call = named(document, "chat claude-x"), failed = named(document, "chat claude-x", 1);
    EXPECT_EQ(call.at("kind"), 3);
    const std::vector<std::pair<std::string, nlohmann::json>> expected{
        {"gen_ai.operation.name", "chat"},
        {"gen_ai.provider.name", "anthropic"},
        {"gen_ai.request.model", "claude-x"},
        {"gen_ai.request.max_tokens", "1000"},
        {"gen_ai.request.temperature", 0.5},
        {"gen_ai.response.model", "claude-x-1"},
        {"gen_ai.response.id", "req_1"},
        {"gen_ai.response.finish_reasons", {{"values", {{{"stringValue", "length"}}}}}},
        {"gen_ai.usage.input_tokens", "32"},
        {"gen_ai.usage.output_tokens", "9"},
        {"gen_ai.usage.cache_read.input_tokens", "5"},
        {"gen_ai.usage.cache_creation.input_tokens", "7"},
        {"cuco.cost_usd", 0.25},
        {"cuco.candidate", "c7"}};
    for (const auto& [key, value] : expected)
        EXPECT_EQ(attribute(call, key), value) << key;
    EXPECT_TRUE(attribute(call, "error.type").is_null());
    EXPECT_FALSE(call.contains("status"));
    EXPECT_EQ(attribute(failed, "error.type"), "rate_limit");
    EXPECT_EQ(failed.at("status").at("code"), 2);
    EXPECT_TRUE(attribute(failed, "gen_ai.usage.input_tokens").is_null()) << "nobody reported any";
}

TEST_F(OtlpExport, HasPromptsAndAnswersOnlyWhenAskedFor)
{
    const std::string without = dumpJson(toOtlp(*file).value());
    for (const char* text : {"SYSTEM TEXT", "PROMPT TEXT", "ANSWER TEXT"})
        EXPECT_THAT(without, Not(HasSubstr(text)));
    const auto call = named(toOtlp(*file, {.with_content = true}).value(), "chat claude-x");
    const auto input = nlohmann::json::parse(attribute(call, "gen_ai.input.messages").get<std::string>());
    EXPECT_EQ(input[0]["role"], "user");
    EXPECT_EQ(input[0]["parts"][0]["content"], "PROMPT TEXT");
    const auto output = nlohmann::json::parse(attribute(call, "gen_ai.output.messages").get<std::string>());
    EXPECT_EQ(output[0]["parts"][0]["content"], "ANSWER TEXT");
    EXPECT_EQ(output[0]["finish_reason"], "length");
    EXPECT_THAT(attribute(call, "gen_ai.system_instructions").get<std::string>(), HasSubstr("SYSTEM TEXT"));
}

TEST(OtlpExportOfAnEmptyRun, HasItsRootAlone)
{
    const testing::TemporaryFolder folder;
    const auto file = RunFile::create(folder / "run.cuco", {});
    const auto document = toOtlp(**file);
    ASSERT_TRUE(document);
    EXPECT_EQ(document->at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").size(), 1u);
}

}  // namespace
}  // namespace cuco
