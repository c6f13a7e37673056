// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/analysis.h"

#include <optional>
#include <string_view>

namespace cuco::analysis {

/// Which arguments of a communication call mean what; -1: none.
struct CommunicationRoles {
    CommunicationFamily family = CommunicationFamily::nccl;
    int send = -1, receive = -1, count = -1, type = -1, peer = -1, comm = -1, stream = -1;
};
/// By the function's name, as nccl…, pnccl…, MPI_… or PMPI_….
std::optional<CommunicationRoles> communicationRoles(std::string_view name);
/// A name that only a communication function of those libraries can have: one newer than the declarations.
std::optional<CommunicationFamily> unknownCommunication(std::string_view name);

/// A copy or fill by the runtime.
struct CopyRoles {
    int to = 0, from = 1, bytes = 2, stream = -1;
    bool blocks = false;  ///< the host until it is done
    bool peer = false;    ///< between devices by its name
};
std::optional<CopyRoles> copyRoles(std::string_view name);

/// Memory that a call gives.
struct AllocationRoles {
    std::string_view allocation;
    int pointer = 0, bytes = 1;
};
std::optional<AllocationRoles> allocationRoles(std::string_view name);
bool isFree(std::string_view name);

/// A library's work on the device: operands read and written, and the argument with its handle or stream.
struct LibraryRoles {
    int handle = 0;
    std::vector<int> reads, writes;
    int stream = -1;
};
std::optional<LibraryRoles> libraryRoles(std::string_view name);

}  // namespace cuco::analysis
