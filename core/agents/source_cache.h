// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/source/kernel_source.h"

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace cuco {

/// Sources of settled candidates, whose text no longer changes: read and parsed once while they are in use. Any thread
/// may call.
class SourceCache {
public:
    using Pointer = std::shared_ptr<const KernelSource>;
    using Read = std::function<Result<std::string>(const std::string& id)>;

    /// What was not asked for longest goes once the texts have more than so many bytes; the last one always stays.
    explicit SourceCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}

    /// Errors: of `read`; a text that is no candidate's source.
    Result<Pointer> get(const std::string& id, const Read& read);

private:
    struct Entry {
        std::string id;
        Pointer source;
    };
    const std::size_t most_bytes_;
    std::mutex mutex_;
    std::list<Entry> entries_;  ///< asked for last: first
    std::unordered_map<std::string, std::list<Entry>::iterator> by_id_;
    std::size_t bytes_ = 0;
};

}  // namespace cuco
