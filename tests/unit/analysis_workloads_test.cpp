// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/design/directive_evidence.h"
#include "tests/support/analysis_samples.h"

#include <gmock/gmock.h>

#include <map>

namespace cuco {
namespace {

using namespace cuco::testing;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::map<std::string, CudaAnalysis> analyzedAll(const std::vector<std::string>& folders)
{
    std::map<std::string, CudaAnalysis> found;
    const std::filesystem::path root = CUCO_TEST_ROOT;
    for (const std::string& folder : folders) {
        for (const auto& entry : std::filesystem::directory_iterator(root / folder)) {
            const std::string extension = entry.path().extension();
            if (extension == ".cu" || extension == ".cpp") {
                const std::string name = folder + "/" + entry.path().filename().string();
                const auto analysis = analyzeCudaHere(requestFor(name));
                EXPECT_TRUE(analysis.has_value()) << name;
                found[name] = analysis.value_or(CudaAnalysis{});
            }
        }
    }
    return found;
}

TEST(AnalysisOfWorkloads, EverySourceOfTheProductIsUnderstoodWhole)
{
    CUCO_NEEDS_LIBCLANG();
    std::vector<std::string> folders{"workloads/examples/mpi_ring", "workloads/examples/mpi_nccl_ring"};
    for (const std::string name : {"gemm_allgather", "kv_transfer", "moe_layer", "ring_attention"}) {
        folders.insert(folders.end(), {"workloads/" + name, "workloads/" + name + "/strategies"});
    }
    for (const auto& [name, analysis] : analyzedAll(folders)) {
        EXPECT_THAT(analysis.unresolved, IsEmpty()) << name << ": " << toText(analysis);
        EXPECT_FALSE(analysis.truncated) << name;
        if (name.find("/strategies/") != std::string::npos) {
            const auto evidence = directiveEvidence(analysis);
            EXPECT_TRUE(analysis.uses_device_communication) << name;
            EXPECT_EQ(evidence.backend.value, "lsa") << name << "\n" << toText(evidence);
            EXPECT_EQ(evidence.issuer.value == "copy_engine", name.find("copy_engine") != std::string::npos)
                << name << "\n"
                << toText(evidence);
        }
        EXPECT_LT(std::ranges::count(toText(analysis), '\n'), 120) << name;
    }
}

TEST(AnalysisOfWorkloads, HostSourcesHaveTheCollectivesThatTheyCall)
{
    CUCO_NEEDS_LIBCLANG();
    const std::map<std::string, std::vector<std::string>> wanted{
        {"gemm_allgather", {"ncclAllGather", "ncclBroadcast"}},
        {"kv_transfer", {"ncclSend", "ncclRecv", "ncclRecv"}},
        {"moe_layer", {"ncclAllGather", "ncclAllGather", "ncclAlltoAll", "ncclAlltoAll"}},
        {"ring_attention", {"ncclSend", "ncclRecv"}}};
    for (const auto& [name, operations] : wanted) {
        const auto analysis = analyzeCudaHere(requestFor("workloads/" + name + "/host.cu"));
        ASSERT_TRUE(analysis.has_value());
        std::vector<std::string> found;
        for (const CommunicationCall& call : analysis->communication) {
            found.push_back(call.operation);
        }
        EXPECT_EQ(found, operations) << name;
        EXPECT_FALSE(analysis->uses_device_communication) << name;
        EXPECT_EQ(directiveEvidence(*analysis).backend.value, "host") << name;
    }
}

TEST(AnalysisOfWorkloads, HiddenCollectivesAreFound)
{
    CUCO_NEEDS_LIBCLANG();
    for (const std::string name : {"macro", "pointer", "dlsym"}) {
        const auto analysis = analyzeCudaHere(requestFor("tests/adversarial/bypass/collective_by_" + name + ".cu"));
        ASSERT_TRUE(analysis.has_value());
        EXPECT_NE(std::ranges::find(analysis->communication, "ncclAllGather", &CommunicationCall::operation),
                  analysis->communication.end())
            << name;
    }
}

}  // namespace
}  // namespace cuco
