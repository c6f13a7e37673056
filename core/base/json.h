// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

/// Errors: no valid JSON, with the byte it breaks at. `where` goes into Error::where.
Result<nlohmann::json> parseJson(std::string_view text, const std::string& where);

/// Reads the fields of one JSON object into variables. The first fault is kept and later reads do
/// nothing, so that a caller reads everything and asks once, by finish().
///
///     JsonReader reader(json, "run.json");
///     reader.required("name", name).optional("seed", seed);
///     if (auto done = reader.finish(); !done) return std::unexpected(done.error());
class JsonReader {
public:
    /// `prefix` names the object in faults: "roofline" makes "roofline.flops". The object must outlive the reader.
    JsonReader(const nlohmann::json& object, std::string where, std::string prefix = {});

    /// Supported: bool, int, int64_t, uint32_t, uint64_t, double, std::string, and vectors and string
    /// maps of them where listed in json.cpp. Integers are checked against the type's range. A double may
    /// be written "nan", "inf" or "-inf".
    template <class T>
    JsonReader& required(std::string_view name, T& value)
    {
        return read(name, value, true);
    }
    /// Keeps the variable's value when the field is absent or null.
    template <class T>
    JsonReader& optional(std::string_view name, T& value)
    {
        return read(name, value, false);
    }
    template <class T>
    JsonReader& optional(std::string_view name, std::optional<T>& value)
    {
        T read_value{};
        read(name, read_value, false);
        if (present(name)) {
            value = std::move(read_value);
        }
        return *this;
    }

    /// A nested array or object to be read by the caller; nullptr when it is missing or of another type, which is a
    /// fault.
    const nlohmann::json* array(std::string_view name);
    const nlohmann::json* object(std::string_view name);
    /// There and not null.
    bool present(std::string_view name) const;
    /// The full name of a field, for faults of the caller's own.
    std::string path(std::string_view name) const;
    /// Adds a fault about a field: the sentence becomes `The field "name" <message>.`
    JsonReader& fault(std::string_view name, std::string_view message);

    Result<void> finish() const;
    /// Also a fault when the object has a field that was never asked for.
    Result<void> finishKnowingAll();

private:
    template <class T>
    JsonReader& read(std::string_view name, T& value, bool required);
    const nlohmann::json* find(std::string_view name, bool required);

    const nlohmann::json* object_;
    std::string where_, prefix_;
    std::vector<std::string> asked_;
    std::optional<Error> error_;
};

}  // namespace cuco
