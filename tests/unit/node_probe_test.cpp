// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/gpu_query.h"
#include "core/nodes/local_node.h"
#include "core/nodes/node_findings.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstdlib>

namespace cuco {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

const std::vector<std::string> all_fields{"index",
                                          "name",
                                          "memory.total",
                                          "driver_version",
                                          "uuid",
                                          "compute_cap",
                                          "compute_mode",
                                          "mig.mode.current",
                                          "gpu_recovery_action",
                                          "retired_pages.pending",
                                          "ecc.errors.uncorrected.volatile.total"};

constexpr const char* two_h200 =
    "0, NVIDIA H200, 143771, 580.65.06, GPU-aaaa, 9.0, Default, Disabled, None, [N/A], 0\n"
    "1, NVIDIA H200, 143771, 580.65.06, GPU-bbbb, 9.0, Default, Disabled, None, [N/A], 0\n";

GpuSurvey healthySurvey()
{
    GpuSurvey survey;
    survey.gpus = parseGpuStates(all_fields, two_h200);
    survey.driver_cuda = "13.0";
    return survey;
}

TEST(NvidiaSmi, EachLineIsAGpu)
{
    const auto gpus = parseGpuStates(all_fields, two_h200);
    ASSERT_THAT(gpus, SizeIs(2));
    EXPECT_EQ(gpus[1].info.name, "NVIDIA H200");
    EXPECT_EQ(gpus[1].info.index, 1);
    EXPECT_EQ(gpus[1].info.memory_bytes, 143771ull << 20);
    EXPECT_EQ(gpus[1].info.driver, "580.65.06");
    EXPECT_EQ(gpus[1].info.uuid, "GPU-bbbb");
    EXPECT_EQ(gpus[1].compute_capability, "9.0");
    EXPECT_EQ(gpus[1].pending_repair, "") << "[N/A] is no answer";
    EXPECT_EQ(gpus[1].error, "");
}

TEST(NvidiaSmi, ANameMayHaveCommasAndNoiseIsLeftOut)
{
    const std::vector<std::string> fields{"index", "name", "memory.total", "driver_version"};
    const auto gpus = parseGpuStates(fields,
                                     "3, Odd, Name, 1024, 1.2\nNo devices were found\n0, Broken, x, 1\n"
                                     "Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error\n\n");
    ASSERT_THAT(gpus, SizeIs(1));
    EXPECT_EQ(gpus[0].info.name, "Odd, Name");
    EXPECT_EQ(gpus[0].info.index, 3);
}

TEST(NvidiaSmi, AGpuInAnErrorStateIsStillAGpu)
{
    const auto gpus = parseGpuStates({"index", "name", "memory.total", "compute_mode"},
                                     "0, NVIDIA H200, [Unknown Error], Default\n"
                                     "1, NVIDIA H200, 143771, ERR!\n"
                                     "2, NVIDIA H200, 143771, [GPU requires reset]\n");
    ASSERT_THAT(gpus, SizeIs(3));
    EXPECT_EQ(gpus[0].error, "[Unknown Error]");
    EXPECT_EQ(gpus[1].error, "ERR!");
    EXPECT_EQ(gpus[2].error, "[GPU requires reset]");
}

TEST(NvidiaSmi, NeighboursAreNamedWithTheirGpu)
{
    const auto neighbours = parseNeighbours(
        "GPU-bbbb, 4711, /usr/bin/python3, 1024\nGPU-cccc, 1, other, 5\nGPU-aaaa, 12, a, b, [N/A]\nnoise\n",
        healthySurvey().gpus);
    ASSERT_THAT(neighbours, SizeIs(2));
    EXPECT_EQ(neighbours[0].gpu, 1);
    EXPECT_EQ(neighbours[0].process, 4711);
    EXPECT_EQ(neighbours[0].program, "/usr/bin/python3");
    EXPECT_EQ(neighbours[0].memory_bytes, 1024ull << 20);
    EXPECT_EQ(neighbours[1].program, "a, b");
    EXPECT_EQ(neighbours[1].memory_bytes, 0u);
}

TEST(NvidiaSmi, PairsWithoutPeerAccessAreFound)
{
    constexpr const char* topology =
        " \t\x1b[4mGPU0\tGPU1\tGPU2\x1b[0m\t\n GPU0\tX\tOK\tCNS\t\n GPU1\tOK\tX\tNS\t\n GPU2\tCNS\tNS\tX\t\n\n"
        "Legend:\n\n  X    = Self\n  OK   = Status Ok\n  CNS  = Chipset not supported\n";
    EXPECT_THAT(parseMissingPeers(topology), ElementsAre(Pair(0, 2), Pair(1, 2)));
    EXPECT_THAT(parseMissingPeers("Failed to run topology matrix\n"), IsEmpty());
    EXPECT_THAT(parseMissingPeers(""), IsEmpty());
    EXPECT_THAT(parseMissingPeers("\x1b"), IsEmpty());
}

TEST(NvidiaSmi, TheDriversCudaVersionIsRead)
{
    EXPECT_EQ(parseDriverCuda("| NVIDIA-SMI 580.65.06    Driver Version: 580.65.06      CUDA Version: 13.0     |\n"),
              "13.0");
    EXPECT_EQ(parseDriverCuda("| Driver Version: 535.1   CUDA Version: N/A |"), "");
    EXPECT_EQ(parseDriverCuda("nothing"), "");
}

TEST(NvidiaSmi, HiddenGpusAreNotThere)
{
    const auto gpus = healthySurvey().gpus;
    EXPECT_THAT(visibleGpus(gpus, nullptr), SizeIs(2));
    EXPECT_THAT(visibleGpus(gpus, ""), IsEmpty());
    EXPECT_THAT(visibleGpus(gpus, "1"), SizeIs(1));
    EXPECT_EQ(visibleGpus(gpus, "1,0").front().info.index, 1);
    EXPECT_THAT(visibleGpus(gpus, "0,7,1"), SizeIs(1)) << "CUDA stops at the first that it does not know";
    EXPECT_EQ(visibleGpus(gpus, "GPU-bb").front().info.index, 1);
}

TEST(NodeFindings, HealthyGpusGiveNone)
{
    const auto findings = judgeGpus(healthySurvey(), "13.0", false);
    EXPECT_THAT(findings.problems, IsEmpty());
    EXPECT_THAT(findings.remarks, IsEmpty());
}

/// What is said about two H200 after `change`.
NodeFindings findingsAfter(const std::function<void(GpuSurvey&)>& change, const std::string& toolkit = "13.0",
                           bool has_compatibility_driver = false)
{
    auto survey = healthySurvey();
    change(survey);
    const auto findings = judgeGpus(survey, toolkit, has_compatibility_driver);
    for (const auto* list : {&findings.problems, &findings.remarks})
        for (const auto& error : *list)
            EXPECT_FALSE(error.remedy.empty()) << error.what;
    return findings;
}

std::string onlyProblem(const NodeFindings& findings)
{
    EXPECT_THAT(findings.problems, SizeIs(1));
    return findings.problems.empty() ? "" : describe(findings.problems[0]);
}

TEST(NodeFindings, EachWayAGpuCanBeUnusableHasItsSentenceAndRemedy)
{
    EXPECT_THAT(onlyProblem(findingsAfter([](auto& survey) { survey.gpus.pop_back(); })), HasSubstr("at least two"));
    EXPECT_THAT(onlyProblem(findingsAfter([](auto& survey) { survey.gpus[1].error = "ERR!"; })),
                HasSubstr("--gpu-reset -i 1"));
    EXPECT_THAT(onlyProblem(findingsAfter([](auto& survey) { survey.gpus[0].recovery_action = "Reset"; })),
                HasSubstr("must be reset"));
    EXPECT_THAT(onlyProblem(findingsAfter([](auto& survey) { survey.gpus[0].recovery_action = "Reboot"; })),
                HasSubstr("Restart the machine"));
    EXPECT_THAT(onlyProblem(findingsAfter([](auto& survey) { survey.gpus[1].mig_mode = "Enabled"; })),
                HasSubstr("nvidia-smi -i 1 -mig 0"));
    EXPECT_THAT(onlyProblem(findingsAfter([](auto& survey) { survey.gpus[0].compute_mode = "Exclusive_Process"; })),
                HasSubstr("-c DEFAULT"));
    EXPECT_THAT(onlyProblem(findingsAfter([](auto& survey) { survey.gpus[0].compute_mode = "Prohibited"; })),
                HasSubstr("-c DEFAULT"));
}

TEST(NodeFindings, ADriverOlderThanTheToolkitIsAProblem)
{
    const auto old_driver = [](GpuSurvey& survey) {
        survey.driver_cuda = "12.4";
        survey.gpus[0].info.driver = "550.54.15";
    };
    EXPECT_THAT(onlyProblem(findingsAfter(old_driver)), HasSubstr("Install driver 580 or newer"));
    EXPECT_THAT(findingsAfter(old_driver, "12.8").problems, IsEmpty()) << "a driver runs all of its major version";
    EXPECT_THAT(findingsAfter(old_driver, "13.0", true).problems, IsEmpty());
    EXPECT_THAT(onlyProblem(findingsAfter([&](GpuSurvey& survey) {
                    old_driver(survey);
                    survey.driver_cuda.clear();
                })),
                HasSubstr("older than the CUDA toolkit 13.0"));
}

TEST(NodeFindings, WhatMattersButDoesNotKeepANodeFromUseIsARemark)
{
    const auto only = [](const NodeFindings& findings) {
        EXPECT_THAT(findings.problems, IsEmpty());
        EXPECT_THAT(findings.remarks, SizeIs(1));
        return findings.remarks.empty() ? "" : describe(findings.remarks[0]);
    };
    EXPECT_THAT(only(findingsAfter([](auto& survey) { survey.missing_peers = {{0, 1}}; })), HasSubstr("LSA"));
    EXPECT_THAT(only(findingsAfter([](auto& survey) {
                    survey.neighbours = {{1, 4711, "python3", 1 << 30}};
                })),
                HasSubstr("python3, process 4711, 1024 MiB"));
    EXPECT_THAT(only(findingsAfter([](auto& survey) { survey.gpus[0].pending_repair = "Yes"; })),
                HasSubstr("broken memory"));
    EXPECT_THAT(only(findingsAfter([](auto& survey) { survey.gpus[0].uncorrected_errors = "3"; })),
                HasSubstr("3 memory errors"));
}

TEST(NodeFindings, AnOldToolkitAndAFullDiskAreProblems)
{
    EXPECT_THAT(judgeToolkit("12.4"), IsEmpty());
    EXPECT_THAT(judgeToolkit("13.0"), IsEmpty());
    ASSERT_THAT(judgeToolkit("12.3"), SizeIs(1));
    EXPECT_THAT(judgeToolkit("11.8")[0].what, HasSubstr("12.4 is needed"));

    EXPECT_THAT(judgeSpace("/c", 100ull << 30).problems, IsEmpty());
    EXPECT_THAT(judgeSpace("/c", 100ull << 30).remarks, IsEmpty());
    EXPECT_THAT(judgeSpace("/c", 5ull << 30).remarks, SizeIs(1));
    ASSERT_THAT(judgeSpace("/c", 10ull << 20).problems, SizeIs(1));
    EXPECT_THAT(judgeSpace("/c", 10ull << 20).problems[0].what, HasSubstr("10 MiB are left"));
}

/// A program named nvidia-smi that answers as recorded.
class RecordedNvidiaSmi : public ::testing::Test {
protected:
    std::filesystem::path program(const std::string& script) const
    {
        const auto path = folder / "nvidia-smi";
        testing::writeText(path, "#!/bin/sh\n" + script);
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        return path;
    }
    testing::TemporaryFolder folder;
};

TEST_F(RecordedNvidiaSmi, AFieldThatTheDriverDoesNotKnowIsLeftOut)
{
    const auto survey =
        surveyGpus(program("case \"$1\" in\n"
                           "*gpu_recovery_action*) echo 'Field \"gpu_recovery_action\" is not a valid "
                           "field to query.'; exit 2;;\n"
                           "*remapped_rows*) echo 'Field \"remapped_rows.pending\" is not a valid field "
                           "to query.'; exit 2;;\n"
                           "--query-gpu*) echo '0, Tesla V100, 16160, 470.1, GPU-a, 7.0, Default, [N/A], "
                           "Yes, 0, 0'; echo '1, Tesla V100, 16160, 470.1, GPU-b, 7.0, Default, [N/A], "
                           "No, 0, 0';;\n"
                           "topo) printf '\\tGPU0\\tGPU1\\n GPU0\\tX\\tNS\\n GPU1\\tNS\\tX\\n';;\n"
                           "--query-compute-apps*) echo 'GPU-b, 77, train, 12';;\n"
                           "*) echo 'CUDA Version: 11.4';;\nesac\n"),
                   {});
    EXPECT_THAT(survey.problems, IsEmpty());
    ASSERT_THAT(survey.gpus, SizeIs(2));
    EXPECT_EQ(survey.gpus[0].pending_repair, "Yes");
    EXPECT_EQ(survey.driver_cuda, "11.4");
    EXPECT_THAT(survey.missing_peers, ElementsAre(Pair(0, 1)));
    ASSERT_THAT(survey.neighbours, SizeIs(1));
    EXPECT_EQ(survey.neighbours[0].gpu, 1);
}

TEST_F(RecordedNvidiaSmi, AGpuThatIsLostIsNamed)
{
    const auto survey = surveyGpus(program("echo 'Unable to determine the device handle for GPU0000:3B:00.0: GPU is "
                                           "lost.  Reboot the system to recover this GPU'; exit 15\n"),
                                   {});
    ASSERT_THAT(survey.problems, SizeIs(1));
    EXPECT_THAT(survey.problems[0].where, HasSubstr("3B:00.0"));
}

TEST_F(RecordedNvidiaSmi, AChoiceThatLeavesNoGpuIsNotTheDriversFault)
{
    ::setenv("CUDA_VISIBLE_DEVICES", "7", 1);
    const auto survey = surveyGpus(program("case \"$1\" in\n"
                                           "--query-gpu*) echo '0, NVIDIA H200, 143771, 580.1, GPU-a, 9.0, Default, "
                                           "Disabled, None, No, No, 0, 0';;\n*) ;;\nesac\n"),
                                   {});
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    ASSERT_THAT(survey.problems, SizeIs(1));
    EXPECT_EQ(survey.problems[0].what, "CUDA_VISIBLE_DEVICES leaves no GPU.");
    EXPECT_EQ(survey.problems[0].where, "\"7\"; the driver has 1");
}

TEST_F(RecordedNvidiaSmi, OneThatHangsIsEndedAndExplained)
{
    const auto begin = std::chrono::steady_clock::now();
    const auto survey = surveyGpus(program("exec sleep 600\n"), {}, std::chrono::milliseconds(200));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5))
        << "asked once, not for every question";
    ASSERT_THAT(survey.problems, SizeIs(1));
    EXPECT_THAT(survey.problems[0].what, HasSubstr("does not answer"));
    EXPECT_THAT(survey.gpus, IsEmpty());
}

TEST(NodeProbeJson, KeepsItsKeys)
{
    NodeProbe probe;
    probe.gpus = {{"H200", 1, "580", 3, "GPU-x"}};
    probe.neighbours = {{3, 12, "train", 7}};
    probe.remarks = {{"what", "where", "remedy"}};
    const auto json = toJson(probe);
    for (const char* key : {"node", "kind", "usable", "problems", "compiler", "gpus", "nccl", "capabilities",
                            "max_ranks", "modelled", "sandboxed", "sandbox_note", "remarks", "neighbours"})
        EXPECT_TRUE(json.contains(key)) << key;
    EXPECT_EQ(json["gpus"][0]["memory_bytes"], 1);
    EXPECT_EQ(json["gpus"][0]["index"], 3);
    EXPECT_EQ(json["neighbours"][0]["process"], 12);
    EXPECT_EQ(json["remarks"][0]["remedy"], "remedy");
}

}  // namespace
}  // namespace cuco
