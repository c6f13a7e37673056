// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a search by models costs beside models, compilers and GPUs: time and memory of the engine with candidates of 40
// KB, and how busy it keeps the GPU.
//
//     search_bench [CANDIDATES…]     by default 1000 and 10000, each in a process of its own
#include "tests/support/slow_path_run.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <functional>
#include <vector>

namespace cuco {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t source_bytes = 40'000;

double secondsSince(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Processor time that mocks took, over all threads.
std::atomic<std::int64_t> mocks_ns{0};

class MockTime {
public:
    MockTime() : begin_ns_(now()) {}
    MockTime(const MockTime&) = delete;
    MockTime& operator=(const MockTime&) = delete;
    ~MockTime() { mocks_ns += now() - begin_ns_; }

private:
    static std::int64_t now()
    {
        struct timespec time {};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    }
    std::int64_t begin_ns_;
};

/// A program of the usual length, each of whose lines can be changed.
std::string longProgram(double merit)
{
    std::string lines;
    for (int line = 0; lines.size() < source_bytes; ++line)
        lines += fmt::format("__device__ int part{}(int x) {{ return x * {} + {}; }}\n", line, line % 7, line);
    std::string text = testing::program(0, merit);
    return text.insert(text.find("CUCO_TUNE"), lines);
}

/// Keeps nothing of what it was asked: changes five lines of the parent in the prompt, others each time.
class MockProvider final : public ChatClient {
public:
    std::string provider() const override { return "mock"; }
    ChatResult complete(const ChatRequest& request, const CallControl& control) override
    {
        const MockTime counted;
        if (latency.count() > 0 && !sleepUntil(Clock::now() + latency, control.stop))
            return std::unexpected(cancelledError());
        if (testing::isSummary(request))
            return testing::answerOf(testing::summary);
        const std::string& prompt = request.messages.front().text;
        const std::size_t from = prompt.find("// EVOLVE-BLOCK-START", prompt.find("# The program to start from"));
        const std::string_view end = "// EVOLVE-BLOCK-END\n";
        std::string source = prompt.substr(from, prompt.find(end, from) + end.size() - from);
        std::mt19937 random(++calls_);
        for (int change = 0; change < 5; ++change) {
            const std::size_t at = source.find("return x * ", random() % source_bytes);
            if (at != std::string::npos)
                source.insert(at + 11, std::to_string(random() % 90 + 10));
        }
        const std::size_t merit = source.find("merit=") + 6;
        source.replace(merit, source.find('\n', merit) - merit, fmt::format("{}", 1.0 + random() % 1000 / 1000.0));
        return testing::answerOf(testing::answered(source));
    }

    std::chrono::milliseconds latency{0};

private:
    std::atomic<unsigned> calls_{0};
};

/// Knows a program's speed-up without reading all of it.
class MockEvaluator final : public testing::FakeEvaluator {
public:
    using FakeEvaluator::FakeEvaluator;
    Result<Compiled> compile(const EvaluationRequest& request, std::stop_token stop) override
    {
        const MockTime counted;
        return FakeEvaluator::compile(request, std::move(stop));
    }
    Result<EvaluationResult> measure(const EvaluationRequest& request, Compiled built, std::stop_token stop) override
    {
        const MockTime counted;
        EvaluationRequest brief = request;
        brief.source = request.source.substr(0, 200);
        return FakeEvaluator::measure(brief, std::move(built), stop);
    }
};

struct BenchRun : testing::SlowPathRun {
    explicit BenchRun(int children)
    {
        for (const auto& file : {workload.seed_source, workload.strategies[0].file, workload.strategies[1].file,
                                 workload.strategies[2].file})
            testing::writeText(file, longProgram(1.0));
        make_evaluator = [](Workload of, testing::FakeEvaluator::Options options) {
            return std::make_shared<MockEvaluator>(std::move(of), std::move(options));
        };
        configured.islands = 2;
        configured.children = children;
        configured.compile_workers = 8;
    }
};

int engine(int candidates)
{
    BenchRun run(4);
    run.generations = std::max(1, (candidates - 2) / 8);
    const auto controller = run.open(std::make_shared<MockProvider>());
    const auto begin = Clock::now();
    controller->start();
    controller->wait();
    const double seconds = secondsSince(begin);
    struct rusage usage {};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto snapshot = run.snapshot();
    if (snapshot.state != RunState::finished) {
        fmt::print(stderr, "The run ended as {}: {}\n", toString(snapshot.state), snapshot.message);
        return 1;
    }
    const auto made = std::ranges::count(snapshot.candidates, std::string(llm_proposer), &Candidate::proposer);
    const auto count = static_cast<double>(snapshot.candidates.size());
    const double cpu = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                       static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    fmt::print("{:10} {:8} {:9.1f} {:12.2f} {:12.2f} {:12.2f} {:9.0f} {:9.0f}\n", snapshot.candidates.size(), made,
               seconds, 1e3 * seconds / count, 1e3 * (cpu - static_cast<double>(mocks_ns) * 1e-9) / count,
               static_cast<double>(mocks_ns) * 1e-6 / count, static_cast<double>(usage.ru_maxrss) / 1024,
               static_cast<double>(std::filesystem::file_size(run.path)) / (1 << 20));
    std::fflush(stdout);
    return 0;
}

struct Pipeline {
    int answer_s = 0, in_flight = 16, raced_choices = 0;
};

/// A model, a compiler that takes 4 s and a GPU that takes 2 s, all ten times as fast.
int pipeline(const Pipeline& of)
{
    constexpr int faster = 10;
    BenchRun run(of.in_flight / 2);
    run.generations = std::max(2, 128 / of.in_flight);
    run.settings.raced_choices = of.raced_choices;
    run.configured.proposals_in_flight = of.in_flight;
    testing::FakeEvaluator::Options options;
    options.modelled = false;
    options.compiles = [](const std::string&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(4000 / faster));
        return true;
    };
    std::vector<std::pair<Clock::time_point, Clock::time_point>> measured;  // one after the other, as on a GPU
    options.on_measure = [&](const EvaluationRequest&, std::stop_token) {
        const auto begin = Clock::now();
        std::this_thread::sleep_for(std::chrono::milliseconds(2000 / faster));
        measured.emplace_back(begin, Clock::now());
    };
    const auto busySince = [&](std::size_t first) {
        double busy = 0;
        for (std::size_t i = first; i < measured.size(); ++i)
            busy += std::chrono::duration<double>(measured[i].second - measured[i].first).count();
        return 100 * busy / std::chrono::duration<double>(measured.back().second - measured[first].first).count();
    };
    const auto provider = std::make_shared<MockProvider>();
    provider->latency = std::chrono::milliseconds(of.answer_s * 1000 / faster);
    const auto controller = run.open(provider, options);
    controller->start();
    controller->wait();
    const auto seeds = static_cast<std::size_t>(run.configured.islands);
    if (run.snapshot().state != RunState::finished || measured.size() <= seeds) {
        fmt::print(stderr, "The run did not finish: {}\n", run.snapshot().message);
        return 1;
    }
    fmt::print("{:10} {:10} {:14} {:10} {:13.1f} % {:19.1f} %\n", of.answer_s, of.in_flight, of.raced_choices,
               run.snapshot().candidates.size(), busySince(0), busySince(seeds));
    return 0;
}

/// So that the most memory is that of this alone.
int inOwnProcess(const std::function<int()>& work)
{
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0)
        std::exit(work());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int benchmark(const std::vector<int>& counts)
{
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    fmt::print("{}, {} processors\n\n", host.data(), std::thread::hardware_concurrency());
    fmt::print("{:>10} {:>8} {:>9} {:>12} {:>12} {:>12} {:>9} {:>9}\n", "candidates", "by llm", "s", "ms each",
               "CPU ms each", "mocks' CPU", "most MiB", "file MiB");
    int failed = 0;
    for (const int count : counts)
        failed += inOwnProcess([&] { return engine(count); });
    fmt::print("\n{:>10} {:>10} {:>14} {:>10} {:>15} {:>21}\n", "answer, s", "in flight", "choices raced", "candidates",
               "GPU stage busy", "from the 1st child on");
    for (const Pipeline& of : {Pipeline{0}, Pipeline{10}, Pipeline{30}, Pipeline{30, 32}, Pipeline{30, 16, 6}})
        failed += inOwnProcess([&] { return pipeline(of); });
    return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cuco

int main(int argc, char** argv)
{
    std::vector<int> counts;
    for (int i = 1; i < argc; ++i) {
        int count = 0;
        const std::string_view text = argv[i];
        if (std::from_chars(text.data(), text.data() + text.size(), count).ec != std::errc() || count < 10) {
            fmt::print(stderr, "{} is no number of candidates of at least 10.\n", text);
            return 2;
        }
        counts.push_back(count);
    }
    return cuco::benchmark(counts.empty() ? std::vector{1'000, 10'000} : counts);
}
