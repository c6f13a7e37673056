// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>

#include <stop_token>
#include <string>
#include <vector>

namespace cuco::cli {

/// The exit codes of cucoctl; part of its interface.
inline constexpr int exit_success = 0;
inline constexpr int exit_unsuccessful = 1;  ///< the work ended without success
inline constexpr int exit_usage = 2;
inline constexpr int exit_environment = 3;

/// Of --node.
inline constexpr const char* node_help =
    "emulated, local, or hosts (mpirun:HOST=GPUS,… or srun:…); by default the first that can run";

/// What the subcommands share. A subcommand's callback sets `exit_code`.
struct Session {
    std::stop_token stop;  ///< requested by SIGINT and SIGTERM
    int exit_code = exit_success;
};

/// One JSON document on standard output.
void printJson(const nlohmann::json& document);
/// The error as a message on standard error; returns exit_environment.
int reportError(const Error& error);
/// A message on standard error, for a name or value that the user gave; returns exit_usage.
int reportUsage(const std::string& message);

/// Columns aligned with two blanks between them, on standard output. The first row is the head.
void printTable(const std::vector<std::vector<std::string>>& rows);
/// "12.3 µs", "4.56 ms"; "–" for nothing measured (≤ 0).
std::string formatTime(double us);
/// "1.51×"; "–" for nothing measured (≤ 0).
std::string formatSpeedup(double speedup);

// One a subcommand, each in its command_*.cpp; main.cpp lists them.
void addWorkloadsCommand(CLI::App& app, Session& session);
void addNodeCommand(CLI::App& app, Session& session);
void addEvalCommand(CLI::App& app, Session& session);
void addRunCommand(CLI::App& app, Session& session);
void addResumeCommand(CLI::App& app, Session& session);
void addShowCommand(CLI::App& app, Session& session);
void addCandidateCommand(CLI::App& app, Session& session);
void addDecisionCommands(CLI::App& app, Session& session);  ///< promote, reject, undo
void addLlmCommand(CLI::App& app, Session& session);
void addTraceCommand(CLI::App& app, Session& session);
void addOverlapCommand(CLI::App& app, Session& session);
void addPatchCommand(CLI::App& app, Session& session);
void addAnalyzeCommand(CLI::App& app, Session& session);
void addFastPathCommand(CLI::App& app, Session& session);
void addAttributeCommand(CLI::App& app, Session& session);
void addImportCommand(CLI::App& app, Session& session);
void addSubmitCommand(CLI::App& app, Session& session);
void addEventsCommand(CLI::App& app, Session& session);
void addScratchpadCommand(CLI::App& app, Session& session);

}  // namespace cuco::cli
