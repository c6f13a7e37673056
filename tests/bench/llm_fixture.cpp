// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a run with calls of models that nobody made, to look at the LLM traces view. Its provider is named "fixture".
//   llm_fixture OUT.cuco
#include "core/run/run_file.h"
#include "core/source/kernel_source.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cuco {
namespace {

template <class T>
T checked(Result<T> result)
{
    if (!result) {
        fmt::print(stderr, "{}\n", describe(result.error()));
        std::exit(3);
    }
    if constexpr (!std::is_void_v<T>)
        return std::move(*result);
}

std::string sourceOf(int chunk_rows)
{
    return fmt::format(
        "// EVOLVE-BLOCK-START\n// cuco: backend=lsa placement=stream_overlap sync=peer "
        "issuer=copy_engine chunk=1048576\nCUCO_TUNE(chunk_rows, {}, 128, 256, 512, 1024);\n\n"
        "__global__ void push_rows(float* to, const float* from, int rows)\n{{\n    const int row = "
        "blockIdx.x * {} + threadIdx.y;\n    if (row < rows)\n        to[row] = from[row];\n}}\n"
        "// EVOLVE-BLOCK-END\n",
        chunk_rows, chunk_rows / 32);
}

LlmCall callOf(int number, const AgentStep& step, int chunk_rows)
{
    LlmCall call;
    call.agent = step.agent;
    call.step = step.id;
    call.candidate_id = step.candidate_id;
    call.provider = "fixture";
    call.started_ms = step.time_ms + 200;
    call.request.model = step.agent == "judge" ? "small-model-2" : "large-model-5";
    call.request.system =
        "You improve CUDA kernels that communicate from the device.\n\n- Change **only** what stands "
        "between the marks of the evolve block.\n- State the directive first.\n";
    call.request.messages = {
        {.text = fmt::format("The parent is c{}. It waits 84 µs for its peers.\n\n```cpp\n{}```\n\n| rank | waits |\n"
                             "|---|---|\n| 0 | 84 µs |\n| 1 | 61 µs |\n\nPropose one change.",
                             std::max(0, number / 3 - 1), sourceOf(chunk_rows))}};
    call.request.temperature = 0.5;
    ChatResponse response;
    response.text = step.agent == "judge"
                        ? "It communicates from the device and keeps the contract. **Accept.**"
                        : "Larger chunks hide the latency of the copy engine:\n\n```cpp\n<<<<<<< SEARCH\nCUCO_TUNE("
                          "chunk_rows, 256, 128, 256, 512, 1024);\n=======\nCUCO_TUNE(chunk_rows, 512, 128, 256, 512, "
                          "1024);\n>>>>>>> REPLACE\n```\n\nThe wait should fall to about `40 µs`.";
    response.stop_reason = StopReason::finished;
    response.model = call.request.model;
    response.request_id = fmt::format("req_{:04}", number);
    response.usage = {2100 + 137 * number, 410 + 31 * number, 9800, 0, 120, true};
    response.first_text = std::chrono::milliseconds(640 + 10 * number);
    response.total = std::chrono::milliseconds(8400 + 730 * number);
    response.raw_request = dumpJson(toJson(call.request));
    response.raw_response = dumpJson({{"id", response.request_id},
                                      {"model", response.model},
                                      {"content", {{{"type", "text"}, {"text", response.text}}}},
                                      {"stop_reason", "end_turn"}});
    call.result = std::move(response);
    call.cost_usd = step.agent == "judge" ? 0.0021 : 0.0384 + 0.001 * number;
    call.cost_source = "user's price";
    return call;
}

LlmCall failed(LlmCall call)
{
    ChatError error;
    error.kind = ChatErrorKind::rate_limit;
    error.error = {"The provider wants fewer requests (HTTP 429)", "http://127.0.0.1:8080",
                   "Wait a minute, or lower the number of proposals in flight."};
    error.http_status = 429;
    error.partial.attempts = 5;
    error.partial.total = std::chrono::milliseconds(61'200);
    error.partial.raw_request = call.result->raw_request;
    error.partial.raw_response = R"({"error":{"type":"rate_limit_error","message":"slow down"}})";
    call.result = std::unexpected(std::move(error));
    call.cost_usd = 0;
    return call;
}

void write(const std::filesystem::path& path)
{
    RunConfig config;
    config.workload = "gemm_allgather";
    config.proposer = "llm";
    auto file = checked(RunFile::create(path, config));
    int number = 0;
    for (int of_run = 0; of_run < 8; ++of_run) {
        Candidate candidate;
        candidate.number = of_run;
        candidate.id = fmt::format("c{}", of_run);
        candidate.generation = of_run;
        candidate.proposer = "llm";
        candidate.summary = "chunk_rows 256 → 512";
        if (of_run > 0)
            candidate.parents = {fmt::format("c{}", of_run - 1)};
        const std::string source = sourceOf(128 << (of_run % 4)) + "// " + candidate.id;
        candidate.source_sha256 = sha256Hex(source);
        AgentStep step;
        step.candidate_id = candidate.id;
        step.agent = "slow path";
        step.title = fmt::format("Asked for a child of c{}", std::max(0, of_run - 1));
        step.body = "The parent was chosen with weight **0.42**.";
        step.time_ms = 1'763'700'000'000 + 60'000 * of_run;
        step = checked(file->addSteps({step})).front();
        if (of_run == 3)
            checked(file->addLlmCall(failed(callOf(number, step, 256))));
        checked(file->addLlmCall(callOf(number++, step, 128 << (of_run % 4))));
        AgentStep judged = step;
        judged.parent = step.id;
        judged.agent = "judge";
        judged.title = "Judged the child";
        judged.time_ms += 30'000;
        judged = checked(file->addSteps({judged})).front();
        checked(file->addLlmCall(callOf(number++, judged, 256)));
        checked(file->addCandidate(candidate, source, {}));
    }
    checked(file->setState(RunState::paused, "A fixture: nobody made these calls."));
}

}  // namespace
}  // namespace cuco

int main(int argc, char** argv)
{
    if (argc != 2)
        return 2;
    cuco::write(argv[1]);
}
