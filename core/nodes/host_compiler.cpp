// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/nodes/host_compiler.h"

#include "core/base/subprocess.h"

#include <cstdlib>
#include <vector>

namespace cuco {

Result<HostCompiler> findHostCompiler(std::stop_token stop)
{
    std::vector<std::string> names;
    if (const char* chosen = std::getenv("CXX"); chosen != nullptr && chosen[0] != '\0')
        names.emplace_back(chosen);
    names.insert(names.end(), {"g++", "c++"});
    for (const auto& name : names) {
        const auto program = findProgram(name);
        if (!program)
            continue;
        Command command;
        command.argv = {program->string(), "-dumpfullversion", "-dumpversion"};
        command.working_directory = "/";
        command.environment = scrubbedEnvironment();
        command.limits.wall = std::chrono::seconds(20);
        const auto outcome = runCommand(command, stop);
        if (!outcome)
            return std::unexpected(outcome.error());
        if (outcome->cancelled)
            return failure("Stopped while asking the compiler for its version.", program->string());
        const std::string version = outcome->out.substr(0, outcome->out.find('\n'));
        if (!outcome->succeeded() || version.empty())
            return failure("The C++ compiler does not tell its version.", program->string(),
                           "Install it again with: sudo apt install --reinstall g++");
        return HostCompiler{*program, version};
    }
    return failure("No C++ compiler was found.", "", "Install it with: sudo apt install g++");
}

}  // namespace cuco
