// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cuco_harness {

/// `harness host FILE`: on one host of several, does for the supervisor what it cannot do from another: starts the
/// observer and the ranks there, hands memory over between them, and sees them start and end. Ends with the supervisor.
/// The file is the invitation, on a file system that all hosts share. The exit status; a sentence goes to the standard
/// error.
int serveAsHostAgent(const std::string& invitation_file);

}  // namespace cuco_harness
