// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/emulated_node.h"

#include "core/nodes/host_compiler.h"

namespace cuco {

Result<NodeProbe> EmulatedNode::probe(std::stop_token stop)
{
    NodeProbe probe;
    probe.node = name_;
    probe.kind = kind();
    probe.capabilities = {"lsa", "gin", "copy_engine", "cooperative_launch"};
    probe.max_ranks = 8;
    probe.modelled = true;
    if (const auto compiler = findHostCompiler(stop))
        probe.compiler = compiler->toString();
    else
        probe.problems.push_back(compiler.error());
    jobs_.probe(probe, stop);
    probe.usable = probe.problems.empty();
    return probe;
}

}  // namespace cuco
