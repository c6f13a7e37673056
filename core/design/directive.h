// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/source/kernel_source.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <expected>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

/// A point in the five-dimensional design space of CUCo (arXiv 2603.02376, section 4). Values are the
/// spellings of resources/design_space.json.
struct Directive {
    std::string backend, placement, sync, issuer;
    std::uint64_t chunk_bytes = 0;  ///< 0: the whole message at once
    bool operator==(const Directive&) const = default;
};

/// Reads the one `// cuco: backend=… placement=… sync=… issuer=… chunk=…` line of the evolve blocks.
/// Faults: none there, two of them, an unknown or missing key, a chunk that is no number.
std::expected<Directive, SourceFault> parseDirective(const KernelSource& source);

std::string toString(const Directive& directive);  ///< "backend=lsa placement=… chunk=0"

/// The values of each dimension and the rules between them, as data.
class DesignSpace {
public:
    static Result<DesignSpace> load(const std::filesystem::path& design_space_json);

    const std::vector<std::string>& backends() const { return backends_; }
    const std::vector<std::string>& placements() const { return placements_; }
    const std::vector<std::string>& syncs() const { return syncs_; }
    const std::vector<std::string>& issuers() const { return issuers_; }

    /// Why the directive is not valid where only `capabilities` are there; empty when it is.
    std::string violation(const Directive& directive, const std::set<std::string>& capabilities) const;

private:
    struct Rule {
        std::vector<std::pair<std::string, std::vector<std::string>>> when;  ///< dimension is one of
        std::vector<std::pair<std::string, std::vector<std::string>>> require;
        std::string capability;  ///< needed when `when` holds; may be empty
        std::string reason;
    };
    std::vector<std::string> backends_, placements_, syncs_, issuers_;
    std::vector<Rule> rules_;
};

}  // namespace cuco
