// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/database.h"
#include "core/run/run_file.h"

namespace cuco {

namespace {

constexpr std::int64_t first_schema_with_calls = 2;

}  // namespace

template <class Value>
Result<Value> RunFile::inLlmStore(const std::function<Result<Value>(LlmStore&)>& read)
{
    const std::scoped_lock guard(mutex_);
    const auto has_tables = hasFormat(first_schema_with_calls);
    if (!has_tables)
        return std::unexpected(has_tables.error());
    if (!*has_tables)
        return Value{};
    LlmStore store(*database_);
    Result<Value> value{};
    auto done = database_->consistently([&]() -> Result<void> {
        value = read(store);
        return {};
    });
    if (!done)
        return std::unexpected(done.error());
    if (!value && value.error().where.empty())
        value.error().where = path_.string();
    return value;
}

Result<int> RunFile::addLlmCall(LlmCall call)
{
    const LlmCallRow row(std::move(call));
    int id = 0;
    auto done = database_->transactionInTurn(mutex_, [&]() -> Result<void> {
        auto stored = LlmStore(*database_).add(row);
        if (!stored)
            return std::unexpected(stored.error());
        id = *stored;
        return {};
    });
    if (!done)
        return std::unexpected(done.error());
    return id;
}

Result<std::vector<LlmCallSummary>> RunFile::llmCalls()
{
    return inLlmStore<std::vector<LlmCallSummary>>([](LlmStore& store) { return store.summaries(); });
}

Result<LlmCall> RunFile::llmCall(int id, LlmTexts texts)
{
    auto call = inLlmStore<std::optional<LlmCall>>([id, texts](LlmStore& store) -> Result<std::optional<LlmCall>> {
        auto read = store.call(id, texts);
        if (!read)
            return std::unexpected(read.error());
        return std::move(*read);
    });
    if (!call)
        return std::unexpected(call.error());
    if (!*call)
        return failure("The run has no calls of a model", path_.string(), "Choose another run.");
    return std::move(**call);
}

Result<std::vector<int>> RunFile::searchLlmCalls(const std::string& text)
{
    return inLlmStore<std::vector<int>>([&](LlmStore& store) { return store.find(text); });
}

Result<void> RunFile::visitLlmAnswers(const std::function<void(const StoredAnswer&)>& visit)
{
    // A template cannot return nothing.
    auto done = inLlmStore<bool>([&](LlmStore& store) -> Result<bool> {
        auto visited = store.visitAnswers(visit);
        if (!visited)
            return std::unexpected(visited.error());
        return true;
    });
    if (!done)
        return std::unexpected(done.error());
    return {};
}

Result<Recording> RunFile::llmRecording()
{
    return inLlmStore<Recording>([](LlmStore& store) { return store.recording(); });
}

}  // namespace cuco
