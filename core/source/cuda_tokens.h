// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/kernel_source.h"

#include <cstddef>
#include <expected>
#include <string_view>
#include <vector>

namespace cuco {

enum class TokenKind { identifier, number, literal, punctuation };

/// One preprocessing token of a CUDA source. `<<<` is one token; every other punctuator is one character
/// but for `::` and `->`, so that `>>` and `>>>` need no guess here.
struct CudaToken {
    TokenKind kind = TokenKind::punctuation;
    std::string_view text;      ///< view into the source
    std::size_t begin = 0;      ///< byte offset
    std::size_t line = 0;       ///< 1-based
    std::size_t directive = 0;  ///< 0 in code; otherwise the number of the #define whose body this is
};

/// `#include` as written, without its brackets or quotes.
struct IncludeLine {
    std::string_view header;
    std::size_t line = 0;
};

struct TokenisedSource {
    std::vector<CudaToken> tokens;
    std::vector<IncludeLine> includes;
};

/// Comments are dropped; of directives only the bodies of `#define` (from the macro's name on) and the
/// headers of `#include` are kept. Views point into `source`, which must outlive the result.
/// Faults: a comment or string that does not end.
std::expected<TokenisedSource, SourceFault> tokeniseCuda(std::string_view source);

}  // namespace cuco
