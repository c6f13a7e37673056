// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/llm_store.h"

#include "core/base/json.h"
#include "core/run/database.h"
#include "core/run/text_search.h"

#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace cuco {

namespace {

using Pieces = TextStore::Pieces;

std::unexpected<Error> badCell(std::string_view column, std::int64_t call, std::string_view finding)
{
    return failure(
        fmt::format("The run file has a wrong value in the column llm_calls.{} of call {}: {}", column, call, finding),
        {}, "Open a file that this version of CUCo wrote.");
}

/// Each text's pieces: those of the request's texts, the answer's, the raw request's, the raw response's.
Result<std::vector<Pieces>> piecesFromJson(const std::string& text, std::int64_t call)
{
    const auto json = parseJson(text, "llm_calls.texts");
    std::vector<Pieces> texts;
    bool good = json && json->is_array() && json->size() >= 4;
    for (std::size_t i = 0; good && i < json->size(); ++i) {
        good = (*json)[i].is_array() &&
               std::ranges::all_of((*json)[i], [](const auto& piece) { return piece.is_number_integer(); });
        if (good)
            texts.push_back((*json)[i].template get<Pieces>());
    }
    if (!good)
        return badCell("texts", call, "it is no list of lists of pieces");
    return texts;
}

constexpr std::string_view summary_columns =
    "id, step, candidate, agent, provider, model, response_model, started_ms, first_text_us, total_us, attempts, "
    "input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, usage_reported, cost_usd, "
    "cost_source, stop_reason, error_kind, error";

Result<LlmCallSummary> readSummary(const SqlRow& row)
{
    const std::int64_t id = row.integer(0);
    LlmCallSummary call;
    int small[3] = {0, 0, 0};
    for (const auto& [name, column, target] :
         {std::tuple{"id", 0, &small[0]}, std::tuple{"step", 1, &small[1]}, std::tuple{"attempts", 10, &small[2]}}) {
        const std::int64_t value = row.integer(column);  // 0 where NULL
        if (value < 0 || value > std::numeric_limits<int>::max())
            return badCell(name, id, fmt::format("{} is out of range", value));
        *target = static_cast<int>(value);
    }
    call.id = small[0];
    call.step = small[1];
    call.attempts = small[2];
    call.candidate_id = row.text(2);
    call.agent = row.text(3);
    call.provider = row.text(4);
    call.model = row.text(5);
    call.response_model = row.text(6);
    call.started_ms = row.integer(7);
    call.first_text = std::chrono::microseconds(row.integer(8));
    call.total = std::chrono::microseconds(row.integer(9));
    call.usage = {row.integer(11), row.integer(12), row.integer(13),
                  row.integer(14), row.integer(15), row.integer(16) != 0};
    // Bounded, so that sums over calls cannot overflow.
    constexpr std::int64_t most = std::int64_t{1} << 40;
    for (const std::int64_t value :
         {call.usage.input, call.usage.output, call.usage.cache_read, call.usage.cache_write, call.usage.reasoning})
        if (value < 0 || value > most)
            return badCell("input_tokens or another count", id, fmt::format("{} is out of range", value));
    for (const auto time : {call.first_text, call.total})
        if (time.count() < 0 || time.count() > most)
            return badCell("total_us", id, fmt::format("{} is out of range", time.count()));
    if (!row.isNull(17))
        call.cost_usd = row.real(17);
    call.cost_source = row.text(18);
    const auto reason = stopReasonFromString(row.text(19));
    if (!reason)
        return badCell("stop_reason", id, fmt::format("\"{}\" is none", row.text(19)));
    call.stop_reason = *reason;
    if (!row.isNull(20)) {
        call.error_kind = chatErrorKindFromString(row.text(20));
        if (!call.error_kind)
            return badCell("error_kind", id, fmt::format("\"{}\" is none", row.text(20)));
    }
    call.error = row.text(21);
    return call;
}

Result<LlmCall> readDocument(const std::string& text, std::int64_t id)
{
    const auto json = parseJson(text, "llm_calls.document");
    if (!json)
        return badCell("document", id, describe(json.error()));
    auto call = llmCallFromJson(*json, "llm_calls.document");
    if (!call)
        return badCell("document", id, describe(call.error()));
    return call;
}

std::unexpected<Error> badText(const Error& error, std::int64_t id)
{
    return failure(fmt::format("Call {} cannot be read: {}", id, error.what), error.where,
                   "Go back to a copy of the run file.");
}

}  // namespace

LlmCallRow::LlmCallRow(LlmCall call)
    : summary_(summaryOf(call, 0)),
      request_sha256_(call.request_sha256.empty() ? requestSha256(call.request) : call.request_sha256),
      // What a server sent with an error is text like any other; with an answer it is that answer in other words.
      raw_use_(call.result ? TextStore::Use::kept : TextStore::Use::searched)
{
    texts_ = takeTexts(call);
    document_ = dumpJson(toJson(call));
    for (const std::string& asked : texts_.asked)
        searched_.push_back(cutIntoPieces(asked));
    searched_.push_back(cutIntoPieces(texts_.answer));
    raw_ = {cutIntoPieces(texts_.raw_request), cutIntoPieces(texts_.raw_response)};
}

Result<int> LlmStore::add(const LlmCallRow& call)
{
    const auto last = database_->integer("SELECT coalesce(max(id), 0) FROM llm_calls");
    if (!last)
        return std::unexpected(last.error());
    const std::int64_t id = *last + 1;

    TextStore store(*database_);
    auto pieces = store.add(call.searched_, TextStore::Use::searched);
    if (!pieces)
        return std::unexpected(pieces.error());
    const auto raw = store.add(call.raw_, call.raw_use_);
    if (!raw)
        return std::unexpected(raw.error());
    pieces->insert(pieces->end(), raw->begin(), raw->end());

    const LlmCallSummary& row = call.summary_;
    const std::string texts_json = nlohmann::json(*pieces).dump(), stop_reason = toString(row.stop_reason),
                      error_kind = row.error_kind ? toString(*row.error_kind) : std::string();
    auto stored = database_->run(
        fmt::format(
            "INSERT INTO llm_calls ({}, request_sha256, texts, document) VALUES (?, (SELECT id FROM steps WHERE "
            "id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            summary_columns),
        {id,
         std::int64_t{row.step},
         std::string_view(row.candidate_id),
         std::string_view(row.agent),
         std::string_view(row.provider),
         std::string_view(row.model),
         std::string_view(row.response_model),
         row.started_ms,
         std::int64_t{row.first_text.count()},
         std::int64_t{row.total.count()},
         std::int64_t{row.attempts},
         row.usage.input,
         row.usage.output,
         row.usage.cache_read,
         row.usage.cache_write,
         row.usage.reasoning,
         std::int64_t{row.usage.reported},
         row.cost_usd ? SqlValue(*row.cost_usd) : SqlValue(nullptr),
         std::string_view(row.cost_source),
         std::string_view(stop_reason),
         row.error_kind ? SqlValue(std::string_view(error_kind)) : SqlValue(nullptr),
         std::string_view(row.error),
         std::string_view(call.request_sha256_),
         std::string_view(texts_json),
         std::string_view(call.document_)});
    if (!stored)
        return std::unexpected(stored.error());
    return static_cast<int>(id);
}

Result<std::vector<LlmCallSummary>> LlmStore::summaries()
{
    std::vector<LlmCallSummary> calls;
    auto done = database_->query(fmt::format("SELECT {} FROM llm_calls ORDER BY id", summary_columns), {},
                                 [&](const SqlRow& row) -> Result<void> {
                                     auto call = readSummary(row);
                                     if (!call)
                                         return std::unexpected(call.error());
                                     calls.push_back(std::move(*call));
                                     return {};
                                 });
    if (!done)
        return std::unexpected(done.error());
    return calls;
}

Result<LlmCall> LlmStore::call(int id, LlmTexts wanted)
{
    std::optional<LlmCall> found;
    std::vector<Pieces> pieces;
    auto done = database_->query("SELECT texts, document, step FROM llm_calls WHERE id = ?", {std::int64_t{id}},
                                 [&](const SqlRow& row) -> Result<void> {
                                     auto read = piecesFromJson(row.text(0), id);
                                     if (!read)
                                         return std::unexpected(read.error());
                                     auto call = readDocument(row.text(1), id);
                                     if (!call)
                                         return std::unexpected(call.error());
                                     pieces = std::move(*read);
                                     found = std::move(*call);
                                     found->step = static_cast<int>(row.integer(2));
                                     return {};
                                 });
    if (!done)
        return std::unexpected(done.error());
    if (!found)
        return failure(fmt::format("There is no call {}", id), {},
                       "Choose one of those that `cucoctl llm list` lists.");
    if (wanted == LlmTexts::none)
        return std::move(*found);
    TextStore store(*database_);
    std::vector<std::string> texts;
    for (const Pieces& of_text : pieces) {
        auto text = store.text(of_text);
        if (!text)
            return badText(text.error(), id);
        texts.push_back(std::move(*text));
    }
    const auto takeLast = [&texts] {
        std::string last = std::move(texts.back());
        texts.pop_back();
        return last;
    };
    LlmCallTexts put;
    put.raw_response = takeLast();
    put.raw_request = takeLast();
    put.answer = takeLast();
    put.asked = std::move(texts);
    if (auto whole = putTexts(std::move(put), *found); !whole)
        return badText(whole.error(), id);
    return std::move(*found);
}

Result<std::vector<int>> LlmStore::find(std::string_view text)
{
    TextStore store(*database_);
    const auto found = store.find(text);
    if (!found)
        return std::unexpected(found.error());
    const TextSearch search(text);
    std::vector<int> calls;
    auto done = database_->query(
        "SELECT id, error, texts FROM llm_calls ORDER BY id", {}, [&](const SqlRow& row) -> Result<void> {
            bool hit = search.find(row.text(1)) != std::string::npos;
            if (!hit && !found->empty()) {
                const auto texts = piecesFromJson(row.text(2), row.integer(0));
                if (!texts)
                    return std::unexpected(texts.error());
                hit = std::ranges::any_of(*texts, [&](const Pieces& pieces) {
                    return std::ranges::any_of(pieces, [&](std::int64_t piece) { return found->contains(piece); });
                });
            }
            if (hit)
                calls.push_back(static_cast<int>(row.integer(0)));
            return {};
        });
    if (!done)
        return std::unexpected(done.error());
    return calls;
}

Result<void> LlmStore::visitAnswers(const std::function<void(const StoredAnswer&)>& visit)
{
    return database_->query(fmt::format("SELECT {}, request_sha256, texts FROM llm_calls ORDER BY id", summary_columns),
                            {}, [&](const SqlRow& row) -> Result<void> {
                                auto call = readSummary(row);
                                if (!call)
                                    return std::unexpected(call.error());
                                const auto pieces = piecesFromJson(row.text(23), call->id);
                                if (!pieces)
                                    return std::unexpected(pieces.error());
                                auto answer = TextStore(*database_).text((*pieces)[pieces->size() - 3]);
                                if (!answer)
                                    return badText(answer.error(), call->id);
                                visit({std::move(*call), row.text(22), std::move(*answer)});
                                return {};
                            });
}

Result<Recording> LlmStore::recording()
{
    Recording recording;
    auto done = database_->query("SELECT id, provider, request_sha256, texts, document FROM llm_calls ORDER BY id", {},
                                 [&](const SqlRow& row) -> Result<void> {
                                     const std::int64_t id = row.integer(0);
                                     const auto pieces = piecesFromJson(row.text(3), id);
                                     if (!pieces)
                                         return std::unexpected(pieces.error());
                                     auto call = readDocument(row.text(4), id);
                                     if (!call)
                                         return std::unexpected(call.error());
                                     auto answer = TextStore(*database_).text((*pieces)[pieces->size() - 3]);
                                     if (!answer)
                                         return badText(answer.error(), id);
                                     ChatResponse& response =
                                         call->result ? *call->result : call->result.error().partial;
                                     response.text = std::move(*answer);
                                     recording.push_back({row.text(2), row.text(1), std::move(call->result)});
                                     return {};
                                 });
    if (!done)
        return std::unexpected(done.error());
    return recording;
}

}  // namespace cuco
