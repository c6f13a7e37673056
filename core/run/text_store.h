// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace cuco {

class Database;

/// A part of a text, with the SHA-256 of its bytes that names it.
struct TextPiece {
    std::string_view text;
    std::string sha256;  ///< 32 bytes
};
/// The pieces of a text, in order. Lines are never cut.
std::vector<TextPiece> cutIntoPieces(std::string_view text);

/// Keeps texts of which much comes again (system prompts, sources that differ in a few lines) once. A text is cut into
/// pieces at ends of lines that its own contents choose, so that an insertion moves the cuts no further than its
/// neighbourhood (content-defined chunking: Muthitacharoen et al., A Low-bandwidth Network File System, SOSP 2001);
/// pieces that are not there yet are compressed together. Tables `text_pieces` and `text_blocks` of docs/run-file.md.
class TextStore {
public:
    enum class Use { searched, kept };
    using Pieces = std::vector<std::int64_t>;  ///< the text is their concatenation

    explicit TextStore(Database& database) : database_(&database) {}

    /// Of texts that were cut already. Inside a transaction of the caller's.
    Result<std::vector<Pieces>> add(std::span<const std::vector<TextPiece>> texts, Use use);
    /// Errors: an unknown piece, damage, texts of more than 256 MiB read by one store.
    Result<std::string> text(const Pieces& pieces);
    /// The `searched` pieces that contain the text, upper and lower case of ASCII letters being equal. Lines are
    /// never cut, so any text without a line break is found.
    Result<std::unordered_set<std::int64_t>> find(std::string_view text);

private:
    Result<const std::string*> block(std::int64_t id);

    Database* database_;
    std::unordered_map<std::int64_t, std::string> blocks_;  ///< uncompressed, as far as read
    std::size_t read_bytes_ = 0;
};

}  // namespace cuco
