// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/interrupts.h"

#include <cstdio>
#include <exception>

int main(int argc, char** argv)
{
    using namespace cuco::cli;
    try {
        Interrupts interrupts;
        Session session{interrupts.token()};
        CLI::App app{"Finds faster multi-GPU CUDA kernels.", "cucoctl"};
        app.require_subcommand(1);
        app.set_version_flag("--version", "cucoctl " CUCO_VERSION);
        app.set_help_all_flag("--help-all", "Help of all subcommands");

        addWorkloadsCommand(app, session);
        addNodeCommand(app, session);
        addEvalCommand(app, session);
        addRunCommand(app, session);
        addResumeCommand(app, session);
        addShowCommand(app, session);
        addCandidateCommand(app, session);
        addDecisionCommands(app, session);
        addLlmCommand(app, session);
        addTraceCommand(app, session);
        addOverlapCommand(app, session);
        addPatchCommand(app, session);
        addAnalyzeCommand(app, session);
        addFastPathCommand(app, session);
        addAttributeCommand(app, session);
        addImportCommand(app, session);
        addSubmitCommand(app, session);
        addScratchpadCommand(app, session);
        addEventsCommand(app, session);

        try {
            app.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            return app.exit(error) == 0 ? exit_success : exit_usage;
        }
        return session.exit_code;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "cucoctl: %s\n", error.what());
        return exit_environment;
    }
}
