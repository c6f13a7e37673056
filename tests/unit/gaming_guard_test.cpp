// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/gaming_guard.h"
#include "core/base/files.h"
#include "core/evaluation/judgement.h"
#include "core/evaluation/object_guard.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace cuco {
namespace {

using testing::HasSubstr;

/// What the guard says of `code` in an evolve block before frozen code that uses `run` and CUCO_TRY.
std::optional<GamingFault> guarded(const std::string& code, const std::string& backend = "lsa")
{
    const auto source = KernelSource::parse(
        "#include \"candidate.h\"\n"
        "// EVOLVE-BLOCK-START\n" +
        code +
        "\n// EVOLVE-BLOCK-END\n"
        "int cuco_run(void* state) { CUCO_TRY(run(state)); return 0; }\n");
    EXPECT_TRUE(source.has_value());
    Directive directive;
    directive.backend = backend;
    return findGaming(*source, directive);
}

Verdict verdictOf(const std::string& code)
{
    const auto found = guarded(code);
    return found ? found->verdict : Verdict::verified;
}

TEST(GamingGuard, SaysNothingOfHonestCode)
{
    EXPECT_FALSE(
        guarded("#define TILE 16\n"
                "#include <thread>\n"
                "__global__ void kernel() { asm volatile(\"st.global.f32 [%0], %1;\"); }\n"
                "#define cudaCheckError(call) CUCO_TRY(call)\n"
                "int cudaCheck(cudaError_t error) { return error; }\n"
                "struct Peer { void open(); void signal(); int clone() { return 0; } };\n"
                "int run(void*) { Peer peer; peer.open(); if (cudaGetLastError()) { return 1; } return 0; }"));
}

TEST(GamingGuard, ReadsNeitherCommentsNorLiterals)
{
    EXPECT_FALSE(
        guarded("// fork(); #define run nothing\n"
                "/* dlopen(\"x\"); ncclAllGather */\n"
                "const char* words = \"ptrace ncclAllGather \\\" fork()\";\n"
                "const char* raw = R\"x(#undef CUCO_TRY\n)x\";\n"
                "int run(void*) { return 0; }"));
}

TEST(GamingGuard, FindsMacrosThatChangeFrozenCode)
{
    for (const auto* code : {"#define run nothing", "# define  run(x) 0", "#undef CUCO_TRY", "#define return",
                             "#define CUCO_NEW 1", "#pragma push_macro(\"run\")"}) {
        const auto found = guarded(std::string("int x;\n") + code);
        ASSERT_TRUE(found.has_value()) << code;
        EXPECT_EQ(found->verdict, Verdict::frozen_code_changed) << code;
        EXPECT_EQ(found->fault.line, 4u) << code;
    }
    EXPECT_EQ(verdictOf("#define \\\n run nothing"), Verdict::frozen_code_changed);
    EXPECT_EQ(verdictOf("%:define run nothing"), Verdict::tampering);
    EXPECT_EQ(verdictOf("_Pragma(\"push_macro(\\\"run\\\")\")"), Verdict::tampering);
}

TEST(GamingGuard, FindsWhatReachesAroundTheContract)
{
    for (const auto* code :
         {"void f() { fork(); }", "auto g = &::ptrace;", "#include <sys/socket.h>", "#include \"/etc/passwd\"",
          "#include \"../../secret\"", "void f() { asm(\"sys\" \"call\"); }",
          "__attribute__((constructor)) void f() {}", "[[gnu::constructor]] void f() {}",
          "namespace cuco_emu { void f(); }", "#define CALL dlsym"})
        EXPECT_EQ(verdictOf(code), Verdict::tampering) << code;
}

TEST(GamingGuard, HoldsHostCollectivesAgainstTheDirective)
{
    const std::string code = "int run(void*) { return ncclAllGather(a, b, 1, t, c, s); }";
    const auto found = guarded(code);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->verdict, Verdict::invalid_directive);
    EXPECT_THAT(found->fault.message, HasSubstr("ncclAllGather"));
    EXPECT_FALSE(guarded(code, "host"));
}

TEST(ObjectGuard, LooksAtImportsExportsAndConstructors)
{
    ObjectSymbols object;
    object.imports = {"cudaMalloc", "memcpy", "pthread_create"};
    object.exports = {"cuco_setup", "cuco_run", "cuco_teardown"};
    EXPECT_FALSE(findGamingInObject(object, "lsa"));
    auto changed = object;
    changed.imports.emplace_back("ncclAllGather");
    EXPECT_EQ(findGamingInObject(changed, "lsa")->verdict, Verdict::invalid_directive);
    EXPECT_FALSE(findGamingInObject(changed, "host"));
    changed = object;
    changed.exports.emplace_back("clock_gettime");
    EXPECT_EQ(findGamingInObject(changed, "lsa")->verdict, Verdict::tampering);
    changed = object;
    changed.exports = {"cuco_run", "_ZneRK1AS1_", "_Z9cudaCheck9cudaError", "_Z4openv"};
    EXPECT_FALSE(findGamingInObject(changed, "lsa"));
    changed.exports.emplace_back("_Znwm");
    EXPECT_EQ(findGamingInObject(changed, "lsa")->verdict, Verdict::tampering);
    changed = object;
    changed.has_static_constructors = true;
    EXPECT_EQ(findGamingInObject(changed, "host")->verdict, Verdict::tampering);
    changed = object;
    changed.imports.emplace_back("dlsym");
    EXPECT_EQ(findGamingInObject(changed, "lsa")->verdict, Verdict::tampering);
    // With the CUDA runtime inside, which needs it too.
    std::erase(changed.imports, "cudaMalloc");
    EXPECT_FALSE(findGamingInObject(changed, "lsa"));
}

TEST(ObjectGuard, ReadsThisProgramAndNoRubbish)
{
    const auto bytes = readFile(std::filesystem::canonical("/proc/self/exe"), 1u << 30);
    ASSERT_TRUE(bytes.has_value());
    const auto symbols = readObjectSymbols(*bytes);
    ASSERT_TRUE(symbols.has_value());
    EXPECT_THAT(symbols->imports, testing::Contains("memcpy"));
    EXPECT_TRUE(symbols->has_static_constructors);  // gtest registers its tests so
    EXPECT_FALSE(readObjectSymbols("").has_value());
    EXPECT_FALSE(readObjectSymbols("\177ELF").has_value());
    // Cut off anywhere it must not be read beyond its end.
    for (std::size_t size = 0; size < 4096; size += 7)
        readObjectSymbols(std::string_view(*bytes).substr(0, size));
    auto damaged = bytes->substr(0, 1 << 16);
    for (std::size_t i = 32; i < 64; ++i) {
        damaged[i] = '\xff';
        readObjectSymbols(damaged);
    }
}

CommandOutcome ended()
{
    CommandOutcome outcome;
    outcome.exit_code = 0;
    return outcome;
}

constexpr std::string_view start = R"({"event":"start","ranks":2})"
                                   "\n";
constexpr std::string_view broken_node = R"({"event":"failure","kind":"environment","message":"The GPU is gone."})"
                                         "\n";
constexpr std::string_view done = R"({"event":"done"})"
                                  "\n";

std::string joined(std::initializer_list<std::string_view> lines)
{
    std::string text;
    for (const auto line : lines)
        text += line;
    return text;
}

TEST(UntrustedReport, AnEnvironmentFailureIsTheEnginesOnlyBeforeTheCandidateIsLoaded)
{
    Evaluation evaluation;
    EXPECT_FALSE(judgeRun({}, ended(), parseHarnessReport(joined({broken_node, done})), evaluation).has_value());

    ASSERT_TRUE(judgeRun({}, ended(), parseHarnessReport(joined({start, broken_node, done})), evaluation).has_value());
    EXPECT_EQ(evaluation.verdict, Verdict::crash);
    EXPECT_THAT(evaluation.message, HasSubstr("The GPU is gone"));
}

TEST(UntrustedReport, AFailureAfterWhichTheRunGoesOnIsForged)
{
    const auto* time = R"({"event":"time","shape":"a","samples_us":[1]})"
                       "\n";
    Evaluation evaluation;
    ASSERT_TRUE(
        judgeRun({}, ended(), parseHarnessReport(joined({start, broken_node, time, done})), evaluation).has_value());
    EXPECT_EQ(evaluation.verdict, Verdict::tampering);
}

TEST(UntrustedReport, ATimelineThatCannotBeReadIsOnlyMissing)
{
    const auto* trace = R"({"event":"trace","shape":"a","timeline":{"source":"modelled","lanes":17}})"
                        "\n";
    const auto report = parseHarnessReport(joined({start, trace, done}));
    EXPECT_TRUE(report.timelines.empty());
    ASSERT_EQ(report.remarks.size(), 1u);
    EXPECT_THAT(report.remarks[0], HasSubstr("timeline of shape a"));
    Evaluation evaluation;
    ASSERT_TRUE(judgeRun({}, ended(), report, evaluation).has_value());
    EXPECT_TRUE(evaluation.verified()) << evaluation.message << evaluation.detail;
}

TEST(UntrustedReport, ADumpThatIsMissingAfterACompleteRunIsTampering)
{
    const auto* missing = R"({"event":"failure","kind":"tampering","message":"The dump is missing."})"
                          "\n";
    Evaluation evaluation;
    ASSERT_TRUE(judgeCheck({}, ended(), parseHarnessReport(joined({missing, done})), evaluation).has_value());
    EXPECT_EQ(evaluation.verdict, Verdict::tampering);
}

TEST(UntrustedReport, HostCollectivesAreHeldAgainstTheDirective)
{
    const auto* used = R"({"event":"used","host_collectives":"ncclAllGather"})"
                       "\n";
    const auto report = parseHarnessReport(joined({start, used, done}));
    for (const auto* backend : {"", "host"}) {
        Evaluation evaluation;
        judgeUse(backend, report, evaluation);
        EXPECT_TRUE(evaluation.verified()) << backend;
    }
    Evaluation evaluation;
    judgeUse("lsa", report, evaluation);
    EXPECT_EQ(evaluation.verdict, Verdict::invalid_directive);
    EXPECT_THAT(evaluation.message, HasSubstr("ncclAllGather"));
}

}  // namespace
}  // namespace cuco
