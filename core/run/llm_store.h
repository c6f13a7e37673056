// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/llm_summary.h"
#include "core/llm/recording.h"
#include "core/run/llm_call_texts.h"
#include "core/run/text_store.h"

#include <functional>

namespace cuco {

class Database;

enum class LlmTexts {
    all,
    none,  ///< prompts, answer and raw bodies stay empty, which is cheap
};

/// A call with what identifies its texts.
struct StoredAnswer {
    LlmCallSummary call;
    std::string request_sha256;
    std::string answer;  ///< what came of it, when it failed
};

/// A call as it is stored, made beside the database: a request may have megabytes, which are cut and hashed here.
class LlmCallRow {
public:
    explicit LlmCallRow(LlmCall call);
    LlmCallRow(const LlmCallRow&) = delete;
    LlmCallRow& operator=(const LlmCallRow&) = delete;

private:
    friend class LlmStore;
    LlmCallSummary summary_;
    std::string request_sha256_, document_;
    LlmCallTexts texts_;  ///< which the pieces are parts of
    std::vector<std::vector<TextPiece>> searched_, raw_;
    TextStore::Use raw_use_ = TextStore::Use::kept;
};

/// The calls of a run file: rows of numbers, and texts in a TextStore. Not for several threads at once.
class LlmStore {
public:
    explicit LlmStore(Database& database) : database_(&database) {}

    /// Inside a transaction of the caller's. A step that is not stored becomes none: the call is not lost for it.
    Result<int> add(const LlmCallRow& call);
    Result<std::vector<LlmCallSummary>> summaries();
    Result<LlmCall> call(int id, LlmTexts texts);
    /// Calls with the text in a message, an answer, an error, or in what a server sent with an error; by id.
    Result<std::vector<int>> find(std::string_view text);
    /// All, in the order in which they ended.
    Result<void> visitAnswers(const std::function<void(const StoredAnswer&)>& visit);
    /// The answers in the order in which they came, without raw bodies.
    Result<Recording> recording();

private:
    Database* database_;
};

}  // namespace cuco
