// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/text_store.h"

#include "core/run/database.h"
#include "core/run/text_search.h"
#include "core/run/zstd_frame.h"
#include "core/source/kernel_source.h"

#include <fmt/format.h>

#include <algorithm>

namespace cuco {

namespace {

constexpr std::size_t shortest_piece = 1024;
/// One line in so many ends a piece that is long enough.
constexpr std::uint64_t lines_per_cut = 64;
constexpr std::int64_t most_block_bytes = 256 << 20;
constexpr std::size_t most_read_bytes = 256u << 20;
constexpr int compression_level = 6;

std::unexpected<Error> damaged(std::string_view finding)
{
    return failure(fmt::format("A stored text is damaged ({})", finding), {}, "Go back to a copy of the run file.");
}

/// FNV-1a with an avalanche behind it: FNV's low bits alone depend on too little of a short line.
std::uint64_t lineHash(std::string_view line)
{
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : line)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    hash ^= hash >> 32;
    hash *= 0x9e3779b97f4a7c15;
    return hash ^ (hash >> 29);
}

std::string sha256Bytes(std::string_view text)
{
    const std::string hex = sha256Hex(text);
    const auto nibble = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(nibble(hex[i]) * 16 + nibble(hex[i + 1]));
    return bytes;
}

struct PlacedPiece {
    std::int64_t id = 0, block = 0, offset = 0, bytes = 0;
    bool within(std::size_t block_bytes) const
    {
        const auto size = static_cast<std::int64_t>(block_bytes);
        return offset >= 0 && bytes >= 0 && offset <= size && bytes <= size - offset;
    }
};

}  // namespace

std::vector<TextPiece> cutIntoPieces(std::string_view text)
{
    std::vector<TextPiece> pieces;
    std::size_t begin = 0, line = 0;
    const auto cut = [&](std::size_t end) {
        const std::string_view piece = text.substr(begin, end - begin);
        pieces.push_back({piece, sha256Bytes(piece)});
        begin = end;
    };
    while (line < text.size()) {
        const std::size_t line_end = std::min(text.find('\n', line), text.size() - 1) + 1;
        if (line_end - begin >= shortest_piece && line_end < text.size() &&
            lineHash(text.substr(line, line_end - line)) % lines_per_cut == 0) {
            cut(line_end);
        }
        line = line_end;
    }
    if (begin < text.size())
        cut(text.size());
    return pieces;
}

Result<std::vector<TextStore::Pieces>> TextStore::add(std::span<const std::vector<TextPiece>> texts, Use use)
{
    const auto last_block = database_->integer("SELECT coalesce(max(id), 0) FROM text_blocks");
    const auto last_piece = database_->integer("SELECT coalesce(max(id), 0) FROM text_pieces");
    if (!last_block || !last_piece)
        return std::unexpected(last_block ? last_piece.error() : last_block.error());
    const std::int64_t new_block = *last_block + 1;
    std::int64_t next_piece = *last_piece + 1;
    std::string block;
    std::vector<Pieces> ids;
    for (const auto& text : texts) {
        Pieces& of_text = ids.emplace_back();
        for (const auto& [piece, sha256] : text) {
            std::optional<std::int64_t> known;
            // A text that was stored as `kept` cannot be found, so it does not do for one that must be.
            auto done = database_->query(
                "SELECT p.id FROM text_pieces AS p JOIN text_blocks AS b ON b.id = p.block "
                "WHERE p.sha256 = ? AND b.searched = ?",
                {BlobView{sha256}, std::int64_t{use == Use::searched}}, [&](const SqlRow& row) -> Result<void> {
                    known = row.integer(0);
                    return {};
                });
            if (done && !known) {
                if (block.empty())
                    done = database_->run("INSERT INTO text_blocks (id, searched, bytes, zstd) VALUES (?, ?, 0, x'')",
                                          {new_block, std::int64_t{use == Use::searched}});
                if (done)
                    done = database_->run(
                        "INSERT INTO text_pieces (id, sha256, block, offset, bytes) VALUES (?, ?, ?, ?, ?)",
                        {next_piece, BlobView{sha256}, new_block, static_cast<std::int64_t>(block.size()),
                         static_cast<std::int64_t>(piece.size())});
                known = next_piece++;
                block += piece;
            }
            if (!done)
                return std::unexpected(done.error());
            of_text.push_back(*known);
        }
    }
    if (block.empty())
        return ids;
    if (static_cast<std::int64_t>(block.size()) > most_block_bytes)
        return failure(fmt::format("A text of {} MiB is too large for a run file", block.size() >> 20));
    const auto zstd = compressZstd(block, compression_level);
    if (!zstd)
        return std::unexpected(zstd.error());
    auto stored = database_->run("UPDATE text_blocks SET bytes = ?, zstd = ? WHERE id = ?",
                                 {static_cast<std::int64_t>(block.size()), BlobView{*zstd}, new_block});
    if (!stored)
        return std::unexpected(stored.error());
    return ids;
}

Result<const std::string*> TextStore::block(std::int64_t id)
{
    if (const auto found = blocks_.find(id); found != blocks_.end())
        return &found->second;
    std::optional<std::string> bytes;
    auto done = database_->query("SELECT bytes, zstd FROM text_blocks WHERE id = ?", {id},
                                 [&](const SqlRow& row) -> Result<void> {
                                     auto read = decompressZstd(row.text(1), row.integer(0), most_block_bytes);
                                     if (!read)
                                         return damaged(read.error().what);
                                     bytes = std::move(*read);
                                     return {};
                                 });
    if (!done)
        return std::unexpected(done.error());
    if (!bytes)
        return damaged(fmt::format("there is no block {}", id));
    read_bytes_ += bytes->size();
    if (read_bytes_ > most_read_bytes)
        return damaged("it claims more than 256 MiB");
    return &blocks_.emplace(id, std::move(*bytes)).first->second;
}

Result<std::string> TextStore::text(const Pieces& pieces)
{
    std::string text;
    for (const std::int64_t id : pieces) {
        PlacedPiece piece{.id = id, .block = -1};
        auto done = database_->query("SELECT block, offset, bytes FROM text_pieces WHERE id = ?", {id},
                                     [&](const SqlRow& row) -> Result<void> {
                                         piece.block = row.integer(0);
                                         piece.offset = row.integer(1);
                                         piece.bytes = row.integer(2);
                                         return {};
                                     });
        if (!done)
            return std::unexpected(done.error());
        const auto whole = block(piece.block);
        if (!whole)
            return std::unexpected(whole.error());
        if (!piece.within((*whole)->size()))
            return damaged(fmt::format("piece {} is no part of its block", id));
        read_bytes_ += static_cast<std::size_t>(piece.bytes);
        if (read_bytes_ > most_read_bytes)
            return damaged("it claims more than 256 MiB");
        text.append(**whole, static_cast<std::size_t>(piece.offset), static_cast<std::size_t>(piece.bytes));
    }
    return text;
}

Result<std::unordered_set<std::int64_t>> TextStore::find(std::string_view text)
{
    std::vector<PlacedPiece> pieces;
    auto done = database_->query("SELECT id, block, offset, bytes FROM text_pieces", {},
                                 [&](const SqlRow& row) -> Result<void> {
                                     pieces.push_back({row.integer(0), row.integer(1), row.integer(2), row.integer(3)});
                                     return {};
                                 });
    if (!done)
        return std::unexpected(done.error());
    std::ranges::sort(pieces, {}, [](const PlacedPiece& piece) { return std::pair(piece.block, piece.offset); });
    const TextSearch search(text);
    std::unordered_set<std::int64_t> found;
    done = database_->query(
        "SELECT id, bytes, zstd FROM text_blocks WHERE searched = 1", {}, [&](const SqlRow& row) -> Result<void> {
            const auto block = decompressZstd(row.text(2), row.integer(1), most_block_bytes);
            if (!block)
                return damaged(block.error().what);
            std::size_t at = search.find(*block);
            const auto in_block = std::ranges::equal_range(pieces, row.integer(0), {}, &PlacedPiece::block);
            for (const PlacedPiece& piece : in_block) {
                if (!piece.within(block->size()))
                    return damaged(fmt::format("piece {} is no part of its block", piece.id));
                const auto begin = static_cast<std::size_t>(piece.offset),
                           end = begin + static_cast<std::size_t>(piece.bytes);
                if (at != std::string::npos && at < begin)
                    at = search.find(*block, begin);
                if (at == std::string::npos)
                    break;
                if (at + search.size() <= end)
                    found.insert(piece.id);
            }
            return {};
        });
    if (!done)
        return std::unexpected(done.error());
    return found;
}

}  // namespace cuco
