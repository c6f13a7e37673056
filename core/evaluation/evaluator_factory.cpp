// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluator_factory.h"

#include "core/evaluation/program_evaluator.h"
#include "core/nodes/cuda_toolchain.h"
#include "core/nodes/emulated_node.h"
#include "core/nodes/emulator_toolchain.h"
#include "core/nodes/local_node.h"
#include "core/nodes/spanning_node.h"

namespace cuco {

Result<std::shared_ptr<Node>> makeNode(const std::string& name, int ranks)
{
    if (name == "emulated")
        return std::make_shared<EmulatedNode>();
    if (auto span = parseHostSpan(name)) {
        if (!*span)
            return std::unexpected(span->error());
        return std::make_shared<SpanningNode>(name, std::move(**span));
    }
    auto local = std::make_shared<LocalNode>();
    if (name == "local")
        return local;
    if (!name.empty())
        return failure("There is no node \"" + name + "\".", "",
                       "Choose one of: emulated, local, mpirun:HOST=GPUS,HOST=GPUS, srun:HOST=GPUS,HOST=GPUS.");
    const auto probe = local->probe({});
    if (probe && probe->usable && probe->max_ranks >= ranks)
        return local;
    return std::make_shared<EmulatedNode>();
}

Result<std::shared_ptr<Node>> makeNodeFor(const Workload& workload, const std::string& name, int ranks)
{
    if (!workload.program)
        return makeNode(name, ranks);
    if (name == "emulated")
        return failure("A program cannot be run on the emulated node.", workload.name, "Choose --node local.");
    if (parseHostSpan(name))
        return failure("A program is run on this host alone.", workload.name, "Choose --node local.");
    return makeNode(name.empty() ? "local" : name, ranks);
}

Result<std::unique_ptr<CandidateEvaluator>> makeEvaluatorFor(const DataPaths& paths, std::shared_ptr<Node> node,
                                                             const Workload& workload, EvaluationDefaults defaults)
{
    if (!workload.program)
        return makeEvaluator(paths, std::move(node), workload, std::move(defaults));
    auto design_space = DesignSpace::load(paths.resources / "design_space.json");
    if (!design_space)
        return std::unexpected(design_space.error());
    return std::make_unique<ProgramEvaluator>(std::move(node), workload, std::move(*design_space), std::move(defaults));
}

Result<std::unique_ptr<Evaluator>> makeEvaluator(const DataPaths& paths, std::shared_ptr<Node> node,
                                                 const Workload& workload, EvaluationDefaults defaults)
{
    auto design_space = DesignSpace::load(paths.resources / "design_space.json");
    if (!design_space)
        return std::unexpected(design_space.error());
    std::unique_ptr<Toolchain> toolchain;
    if (node->kind() == NodeKind::emulated)
        toolchain = std::make_unique<EmulatorToolchain>(paths.workloads);
    else
        toolchain = std::make_unique<CudaToolchain>(paths.workloads);
    defaults.workloads = paths.workloads;
    defaults.analysis = paths.resources / "analysis";
    return std::make_unique<Evaluator>(std::move(node), std::move(toolchain), workload, std::move(*design_space),
                                       std::move(defaults));
}

}  // namespace cuco
