// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
// What 5,000 calls with 200 MB of text cost: to store, to open, to search. The texts are this repository's own sources
// put together as prompts of a search are: one system text, a parent that changes from call to call, two older
// relatives, feedback that comes once. With --distinct no line of sources and answers comes twice.
//   llm_trace_bench [--calls N] [--distinct] [--keep FILE.cuco]
#include "core/base/files.h"
#include "core/run/run_file.h"
#include "ui/views/trace/trace_filter.h"
#include "ui/views/trace/trace_model.h"

#include <QCoreApplication>

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

namespace cuco {
namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point begin)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double residentMb()
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS:"))
            return std::stod(line.substr(6)) / 1024;
    return 0;
}

std::vector<std::string> linesOfSources(const std::string& folder)
{
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(CUCO_TEST_ROOT) + folder))
        if (const auto extension = entry.path().extension();
            extension == ".cpp" || extension == ".h" || extension == ".cu" || extension == ".md")
            files.push_back(entry.path());
    std::ranges::sort(files);
    std::vector<std::string> lines;
    for (const auto& file : files) {
        std::ifstream in(file);
        for (std::string line; std::getline(in, line);)
            lines.push_back(line + "\n");
    }
    return lines;
}

constexpr std::size_t parent_lines = 190;

class Prompts {
public:
    explicit Prompts(bool distinct) : distinct_(distinct)
    {
        const auto workloads = linesOfSources("/workloads"), docs = linesOfSources("/docs");
        pool_ = linesOfSources("/core");
        for (std::size_t i = 0; i < 250 && i < docs.size(); ++i)
            system_ += docs[i];
        for (int parent = 0; parent < 60; ++parent) {
            const std::size_t from = random_() % (workloads.size() - parent_lines);
            population_.emplace_back(workloads.begin() + static_cast<std::ptrdiff_t>(from),
                                     workloads.begin() + static_cast<std::ptrdiff_t>(from + parent_lines));
        }
    }

    LlmCall next(int number, int step)
    {
        // The child of a parent: six places of three lines each are other ones.
        std::vector<std::string>& child = population_[random_() % population_.size()];
        for (int place = 0; place < 6; ++place) {
            const std::size_t at = random_() % (child.size() - 3);
            for (std::size_t i = 0; i < 3; ++i)
                child[at + i] = pool_[random_() % pool_.size()];
        }
        std::string prompt = "Make the kernel below faster.\n\n```cpp\n" + joined(child);
        for (int relative = 0; relative < 2; ++relative)
            prompt += "```\n\nA relative of it:\n\n```cpp\n" + joined(population_[random_() % population_.size()]);
        prompt += "```\n\nWhat was measured:\n\n";
        for (int i = 0; i < 40; ++i)
            prompt += fmt::format("- rank {} waited {}.{} us in interval {}\n", random_() % 8, random_() % 900,
                                  random_() % 1000, random_());
        std::string answer;
        for (int i = 0; i < 80; ++i)
            answer += pool_[random_() % pool_.size()];
        LlmCall call;
        call.agent = number % 3 ? "slow path" : "judge";
        call.step = step;
        call.candidate_id = fmt::format("c{}", number / 4);
        call.provider = "fixture";
        call.started_ms = 1'700'000'000'000 + number * 1000;
        call.request.model = number % 2 ? "large" : "small";
        call.request.system = system_;
        call.request.messages = {{.text = std::move(prompt)}};
        ChatResponse response;
        response.text = distinct_ ? markedLines(answer) : answer;
        response.stop_reason = StopReason::finished;
        response.usage = {12'000, 900, 3'000, 0, 0, true};
        response.total = std::chrono::seconds(20);
        response.raw_request = dumpJson(toJson(call.request));
        for (std::size_t at = 0; at < response.text.size(); at += 16)
            response.raw_response +=
                "data: " +
                dumpJson({{"type", "content_block_delta"}, {"delta", {{"text", response.text.substr(at, 16)}}}}) +
                "\n\n";
        call.result = std::move(response);
        call.cost_usd = 0.03;
        call.cost_source = "user's price";
        return call;
    }

private:
    std::string markedLines(const std::string& text)
    {
        std::string marked;
        for (const char c : text) {
            if (c == '\n')
                marked += fmt::format("  // {:x}", random_());
            marked += c;
        }
        return marked;
    }
    std::string joined(const std::vector<std::string>& lines)
    {
        std::string text;
        for (const std::string& line : lines)
            text += line;
        return distinct_ ? markedLines(text) : text;
    }

    bool distinct_;
    std::mt19937_64 random_{7};
    std::vector<std::string> pool_;
    std::string system_;
    std::vector<std::vector<std::string>> population_;
};

template <class T>
T checked(Result<T> result)
{
    if (!result) {
        fmt::print(stderr, "{}\n", describe(result.error()));
        std::exit(3);
    }
    return std::move(*result);
}

void fill(const std::filesystem::path& path, int calls, bool distinct)
{
    auto file = checked(RunFile::create(path, {}));
    Prompts prompts(distinct);
    std::vector<double> write_ms;
    double text_mb = 0, raw_mb = 0;
    int step = 0;
    for (int number = 0; number < calls; ++number) {
        if (number % 2 == 0) {
            AgentStep asked;
            asked.agent = "slow path";
            asked.candidate_id = fmt::format("c{}", number / 4);
            asked.title = "Asked for a child";
            asked.time_ms = 1'700'000'000'000 + number * 1000;
            step = checked(file->addSteps({asked})).front().id;
        }
        const LlmCall call = prompts.next(number, step);
        const ChatResponse& answer = answerOf(call.result);
        text_mb += static_cast<double>(call.request.system.size() + call.request.messages[0].text.size() +
                                       answer.text.size()) /
                   1e6;
        raw_mb += static_cast<double>(answer.raw_request.size() + answer.raw_response.size()) / 1e6;
        const auto begin = Clock::now();
        checked(file->addLlmCall(call));
        write_ms.push_back(millisecondsSince(begin));
    }
    file.reset();
    std::ranges::sort(write_ms);
    double sum = 0;
    for (const double each : write_ms)
        sum += each;
    fmt::print("calls: {}, texts: {:.0f} MB, raw bodies: {:.0f} MB\n", calls, text_mb, raw_mb);
    fmt::print("write a call: {:.2f} ms (95 %: {:.2f} ms)\n", sum / calls, write_ms[write_ms.size() * 95 / 100]);
    fmt::print("file: {:.1f} MB\n", static_cast<double>(std::filesystem::file_size(path)) / 1e6);
}

void measure(const std::filesystem::path& path)
{
    const double before_mb = residentMb();
    auto begin = Clock::now();
    auto file = checked(RunFile::open(path, RunFile::Access::read));
    checked(file->snapshot());
    const double open_ms = millisecondsSince(begin);
    const auto steps = checked(file->steps());
    const auto calls = checked(file->llmCalls());
    const double read_ms = millisecondsSince(begin);
    ui::TraceModel model;
    ui::TraceFilter filter(&model);
    model.reset(QStringLiteral("run"));
    model.add(steps, calls);
    filter.rowCount(filter.index(0, 0));
    fmt::print("open: {:.0f} ms (file {:.0f}, rows {:.0f}, tree {:.0f}), {:.0f} MB more memory\n",
               millisecondsSince(begin), open_ms, read_ms - open_ms, millisecondsSince(begin) - read_ms,
               residentMb() - before_mb);
    for (const char* text : {"no such text anywhere", "interval 123", "cudaStreamSynchronize", "the"}) {
        begin = Clock::now();
        const auto found = checked(file->searchLlmCalls(text));
        const double search_ms = millisecondsSince(begin);
        filter.setText(QString::fromLatin1(text), found);
        fmt::print("search \"{}\": {:.0f} ms, {} calls; filter {:.0f} ms\n", text, search_ms, found.size(),
                   millisecondsSince(begin) - search_ms);
    }
    begin = Clock::now();
    const int reads = std::min<int>(200, static_cast<int>(calls.size()));
    for (int i = 0; i < reads; ++i)
        checked(file->llmCall(calls[calls.size() * static_cast<std::size_t>(i) / static_cast<std::size_t>(reads)].id));
    fmt::print("read a call: {:.2f} ms\n", millisecondsSince(begin) / reads);
}

}  // namespace
}  // namespace cuco

int main(int argc, char** argv)
{
    QCoreApplication application(argc, argv);
    int calls = 5000;
    bool distinct = false;
    std::filesystem::path path = std::filesystem::temp_directory_path() / "llm_trace_bench.cuco", keep;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--calls" && i + 1 < argc)
            calls = std::atoi(argv[++i]);
        else if (argument == "--distinct")
            distinct = true;
        else if (argument == "--keep" && i + 1 < argc)
            keep = argv[++i];
    }
    if (!keep.empty())
        path = keep;
    std::filesystem::remove(path);
    cuco::fill(path, std::max(calls, 1), distinct);
    cuco::measure(path);
    if (keep.empty())
        std::filesystem::remove(path);
}
