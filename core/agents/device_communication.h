// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/kernel_source.h"

#include <string>
#include <vector>

namespace cuco {

/// One call that communicates, by its name.
struct CommunicationUse {
    std::string name;
    std::vector<std::size_t> lines;  ///< 1-based, in the whole source
};

/// What a candidate's evolve blocks use to communicate, by the names in their tokens: no proof that it is reached.
struct CommunicationUses {
    std::vector<CommunicationUse> host;      ///< collectives, sends and receives that the host starts
    std::vector<CommunicationUse> lsa, gin;  ///< on the device: pointers to peers' memory, barriers; puts, signals
    std::vector<CommunicationUse> windows;   ///< ncclCommWindowRegister, ncclDevCommCreate
};

CommunicationUses communicationUses(const KernelSource& source);

/// "host: ncclAllGather (lines 40, 52); lsa: none; …", a line each.
std::string describe(const CommunicationUses& uses);

}  // namespace cuco
