// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/analysis.h"

#include <string>
#include <vector>

namespace cuco {

/// Something in the code that speaks for a value of a directive's dimension.
struct EvidenceSeen {
    std::string value;  ///< as in resources/design_space.json
    std::string why;    ///< a phrase: "ncclLsaBarrierSession over the whole team"
    std::string file;   ///< empty: the source itself
    std::size_t line = 0;
};

/// What the code says about one dimension. The code may say several things, or nothing: then `value` is empty, not
/// determined. It is a hint for a check or a prompt, no proof: an index computed in some other way may hide an issuer.
struct DimensionEvidence {
    std::string value;  ///< the one that the code speaks for; empty: not determined
    std::vector<EvidenceSeen> seen;
};

struct DirectiveEvidence {
    DimensionEvidence backend, placement, sync, issuer;
};

/// Which directive the code follows as far as it can be seen. Chunk sizes are not looked at. Only code that a candidate
/// runs after its set-up counts for backend, placement and issuer.
DirectiveEvidence directiveEvidence(const CudaAnalysis& analysis);

/// A line a dimension: "backend=lsa: store_to_peer in pushToPeers (line 59)"; "sync: not determined".
std::string toText(const DirectiveEvidence& evidence);

}  // namespace cuco
