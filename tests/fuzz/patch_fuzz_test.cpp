// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/patch_invariants.h"

#include <git2.h>
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <set>

namespace cuco {
namespace {

using namespace cuco::testing;

/// Starting libgit2 anew for every diff would cost more than a case does.
class PatchFuzz : public ::testing::Test {
protected:
    static void SetUpTestSuite() { git_libgit2_init(); }
    static void TearDownTestSuite() { git_libgit2_shutdown(); }
};

double secondsToRun()
{
    const char* seconds = std::getenv("CUCO_FUZZ_SECONDS");
    return seconds ? std::strtod(seconds, nullptr) : 0.6;
}

std::uint64_t firstSeed()
{
    const char* seed = std::getenv("CUCO_FUZZ_SEED");
    return seed ? std::strtoull(seed, nullptr, 10) : 1;
}

/// Runs `once` with one seed after the other until the time is over or it fails.
template <class Once>
void untilTimeIsOver(Once once)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(secondsToRun());
    std::uint64_t seed = firstSeed();
    for (; std::chrono::steady_clock::now() < end && !::testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(fmt::format("CUCO_FUZZ_SEED={}", seed));
        once(seed);
    }
    ::testing::Test::RecordProperty("cases", std::to_string(seed - firstSeed()));
}

/// Text that is made and mutated as one seed says.
class Generator {
public:
    explicit Generator(std::uint64_t seed) : random_(seed) {}

    std::size_t below(std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_); }
    template <class T>
    const T& oneOf(const std::vector<T>& values)
    {
        return values[below(values.size())];
    }

    std::string mutated(std::string text, const std::vector<SampleAnswer>& others)
    {
        for (std::size_t i = 1 + below(6); i > 0; --i) {
            mutate(text, others);
        }
        return text;
    }

    /// Neighbouring lines, at times with other blanks.
    std::string someLines(const std::string& text)
    {
        std::size_t begin = text.rfind('\n', below(text.size()));
        begin = begin == std::string::npos ? 0 : begin + 1;
        std::size_t end = begin;
        for (std::size_t i = 1 + below(5); i > 0 && end < text.size(); --i) {
            end = std::min(text.find('\n', end), text.size() - 1) + 1;
        }
        std::string lines, indentation(below(4) == 0 ? 1 + below(4) : 0, ' ');
        for (std::size_t at = begin; at < end; at = std::min(text.find('\n', at), text.size() - 1) + 1) {
            lines +=
                indentation + text.substr(at, text.find_first_of("\r\n", at) - at) + (below(9) == 0 ? " \n" : "\n");
        }
        return lines;
    }

    std::vector<std::string> lines(std::size_t count, std::size_t distinct)
    {
        static const std::vector<std::string> shapes{
            "line_{};\n", "  line_{};\n",    "\tif (line_{})\n", "\n",          "=======\n",
            "  \n",       "// <<<<<<< {}\n", "<<<<<<< SEARCH\n", "line_{};  \n"};
        std::vector<std::string> result;
        for (std::size_t i = 0; i < count; ++i) {
            result.push_back(fmt::format(fmt::runtime(oneOf(shapes)), below(distinct)));
        }
        return result;
    }

    std::vector<std::string> edited(std::vector<std::string> lines)
    {
        for (std::size_t i = 1 + below(5); i > 0; --i) {
            const auto at = lines.begin() + static_cast<std::ptrdiff_t>(below(lines.size() + 1));
            if (at != lines.end() && below(2) == 0) {
                lines.erase(at);
            } else {
                lines.insert(at, fmt::format("fresh_{};\n", below(100)));
            }
        }
        return lines;
    }

private:
    void mutate(std::string& text, const std::vector<SampleAnswer>& others)
    {
        static const std::vector<std::string> words{"<<<<<<< SEARCH\n",
                                                    "=======\n",
                                                    ">>>>>>> REPLACE\n",
                                                    "<<<\n",
                                                    "===\n",
                                                    ">>>\n",
                                                    "// EVOLVE-BLOCK-START\n",
                                                    "// EVOLVE-BLOCK-END\n",
                                                    "```\n",
                                                    "```cuda\n",
                                                    "~~~\n",
                                                    "<CODE>\n",
                                                    "</CODE>\n",
                                                    "<NAME>",
                                                    "</NAME>",
                                                    "<think>\n",
                                                    "</think>\n",
                                                    "/*",
                                                    "*/",
                                                    "R\"x(",
                                                    "\\\n",
                                                    "#if 0\n",
                                                    "#endif\n",
                                                    "\r\n",
                                                    "\n",
                                                    "    ",
                                                    "\t",
                                                    "// ... existing code ...\n",
                                                    std::string(1, '\0'),
                                                    "\xff",
                                                    "…",
                                                    "@@ -1 +1 @@\n",
                                                    "a;\n"};
        const std::size_t at = below(text.size() + 1);
        const std::size_t length = std::min(below(60), text.size() - at);
        const std::size_t line = text.rfind('\n', at) == std::string::npos ? 0 : text.rfind('\n', at) + 1;
        switch (below(8)) {
            case 0:
                text.erase(at, length);
                break;
            case 1:
                text.insert(at, oneOf(words));
                break;
            case 2:
                text.insert(std::min(line, text.size()), oneOf(words));
                break;
            case 3:
                text.insert(at, text.substr(text.size() - at, length));
                break;
            case 4:
                text.resize(at);
                break;
            case 5:
                text += oneOf(others).text;
                break;
            case 6:
                if (at < text.size()) {
                    text[at] = static_cast<char>(below(256));
                }
                break;
            default:
                text.insert(at, std::string(below(40), ' '));
        }
    }

    std::mt19937_64 random_;
};

TEST_F(PatchFuzz, AMutatedAnswerIsAFaultOrLeavesFrozenCodeAsItIs)
{
    const auto sources = fuzz::patchedSources();
    const auto answers = answersThatLaunchSixteen();
    std::size_t applied = 0;
    untilTimeIsOver([&](std::uint64_t seed) {
        Generator generator(seed);
        const std::string answer = generator.mutated(generator.oneOf(answers).text, answers);
        for (const KernelSource& source : sources) {
            EXPECT_EQ(fuzz::violationOf(source, answer), "") << answer;
        }
        const auto patch = readPatch(answer);
        applied += patch && applyPatch(sources.front(), *patch) ? 1 : 0;
    });
    // A generator whose answers never apply would test the faults alone.
    EXPECT_GT(applied, 0u);
}

TEST_F(PatchFuzz, ASearchForAnyLinesOfTheSourceIsAFaultOrLeavesFrozenCodeAsItIs)
{
    const auto sources = fuzz::patchedSources();
    const auto answers = answersThatLaunchSixteen();
    std::size_t applied = 0;
    untilTimeIsOver([&](std::uint64_t seed) {
        Generator generator(seed);
        const KernelSource& source = generator.oneOf(sources);
        std::string answer;
        for (std::size_t i = 1 + generator.below(3); i > 0; --i) {
            const std::string lines = generator.someLines(source.text());
            answer += block(lines, generator.below(4) == 0   ? ""
                                   : generator.below(3) == 0 ? generator.mutated(lines, answers)
                                                             : lines + generator.someLines(source.text()));
        }
        EXPECT_EQ(fuzz::violationOf(source, answer), "") << answer;
        const auto patch = readPatch(answer);
        applied += patch && applyPatch(source, *patch) ? 1 : 0;
    });
    EXPECT_GT(applied, 0u);
}

TEST_F(PatchFuzz, TheDifferenceOfTwoSourcesGivesTheSecondBack)
{
    untilTimeIsOver([&](std::uint64_t seed) {
        Generator generator(seed);
        const bool is_windows = generator.below(4) == 0;
        const std::size_t distinct = generator.below(2) == 0 ? 4 : 100'000;
        std::string from = "frozen();\n", to = from;
        bool has_twins = false;
        std::set<std::string> insides;
        for (std::size_t i = 1 + generator.below(2); i > 0; --i) {
            const auto lines = generator.lines(generator.below(40), distinct);
            const auto edited = generator.below(4) == 0 ? lines : generator.edited(lines);
            const std::string inside = fmt::format("{}", fmt::join(lines, ""));
            const std::string frame = "// EVOLVE-BLOCK-START\n{}// EVOLVE-BLOCK-END\nbetween();\n";
            from += fmt::format(fmt::runtime(frame), inside);
            to += fmt::format(fmt::runtime(frame), fmt::join(edited, ""));
            // A block within a block cannot be told from it by any SEARCH.
            has_twins = has_twins || std::ranges::any_of(insides, [&](const std::string& other) {
                            return other.contains(inside) || inside.contains(other) || lines.size() < 3;
                        });
            insides.insert(inside);
        }
        from = is_windows ? withWindowsLineEnds(from) : from;
        to = is_windows ? withWindowsLineEnds(to) : to;
        if (from == to) {
            return;
        }
        const auto original = KernelSource::parse(from).value(), changed = KernelSource::parse(to).value();
        const auto answer = writeSearchReplace(original, changed);
        ASSERT_TRUE(answer || has_twins) << from << "\n-----\n" << to;
        if (answer) {
            const auto patched = applyPatch(original, readPatch("Prose.\n" + *answer + "More prose.\n").value());
            ASSERT_TRUE(patched.has_value()) << describe(patched.error()) << *answer;
            EXPECT_EQ(patched->source.text(), to) << *answer;
        }
    });
}

}  // namespace
}  // namespace cuco
