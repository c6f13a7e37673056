// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <concepts>
#include <limits>

namespace cuco {

namespace {

using nlohmann::json;

// Each returns what was expected, or an empty text when the value was taken.

std::string take(const json& from, bool& to)
{
    if (!from.is_boolean()) {
        return "true or false";
    }
    to = from.get<bool>();
    return {};
}

template <std::integral T>
std::string take(const json& from, T& to)
{
    if (from.is_number_unsigned() && std::in_range<T>(from.get<std::uint64_t>())) {
        to = static_cast<T>(from.get<std::uint64_t>());
        return {};
    }
    if (!from.is_number_unsigned() && from.is_number_integer() && std::in_range<T>(from.get<std::int64_t>())) {
        to = static_cast<T>(from.get<std::int64_t>());
        return {};
    }
    return fmt::format("a whole number from {} to {}", std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
}

std::string take(const json& from, double& to)
{
    if (from.is_number()) {
        to = from.get<double>();
        return {};
    }
    if (from == "nan") {
        to = std::numeric_limits<double>::quiet_NaN();
        return {};
    }
    if (from == "inf" || from == "-inf") {
        to = std::numeric_limits<double>::infinity() * (from == "inf" ? 1 : -1);
        return {};
    }
    return "a number";
}

std::string take(const json& from, std::string& to)
{
    if (!from.is_string()) {
        return "a text";
    }
    to = from.get_ref<const std::string&>();
    return {};
}

template <class T>
std::string take(const json& from, std::vector<T>& to)
{
    std::vector<T> items;
    std::string expected = from.is_array() ? "" : "a list";
    for (std::size_t i = 0; expected.empty() && i < from.size(); ++i) {
        if (T item{}; (expected = take(from[i], item)).empty()) {
            items.push_back(std::move(item));
        } else {
            expected = "a list, with " + expected + " in each place";
        }
    }
    if (expected.empty()) {
        to = std::move(items);
    }
    return expected;
}

template <class T>
std::string take(const json& from, std::map<std::string, T>& to)
{
    if (!from.is_object()) {
        return "an object";
    }
    std::map<std::string, T> items;
    for (const auto& [key, value] : from.items()) {
        if (const std::string expected = take(value, items[key]); !expected.empty()) {
            return "an object, with " + expected + " in each field";
        }
    }
    to = std::move(items);
    return {};
}

}  // namespace

Result<json> parseJson(std::string_view text, const std::string& where)
{
    try {
        return json::parse(text);
    } catch (const json::parse_error& error) {
        return failure(fmt::format("This is not valid JSON: it breaks at byte {}.", error.byte), where);
    } catch (const json::exception&) {
        return failure("This is not valid JSON: it has a number that is too large.", where);
    }
}

JsonReader::JsonReader(const json& object, std::string where, std::string prefix)
    : object_(&object), where_(std::move(where)), prefix_(std::move(prefix))
{
    if (!object.is_object()) {
        error_ = Error{prefix_.empty() ? "This must be a JSON object."
                                       : fmt::format("The field \"{}\" must be an object.", prefix_),
                       where_,
                       {}};
    }
}

std::string JsonReader::path(std::string_view name) const
{
    return prefix_.empty() ? std::string(name) : fmt::format("{}.{}", prefix_, name);
}

JsonReader& JsonReader::fault(std::string_view name, std::string_view message)
{
    if (!error_) {
        error_ = Error{fmt::format("The field \"{}\" {}.", path(name), message), where_, {}};
    }
    return *this;
}

bool JsonReader::present(std::string_view name) const
{
    if (!object_->is_object()) {
        return false;
    }
    const auto field = object_->find(name);
    return field != object_->end() && !field->is_null();
}

const json* JsonReader::find(std::string_view name, bool required)
{
    asked_.emplace_back(name);
    if (error_) {
        return nullptr;
    }
    if (!present(name)) {
        if (required) {
            fault(name, "is missing");
        }
        return nullptr;
    }
    return &*object_->find(name);
}

template <class T>
JsonReader& JsonReader::read(std::string_view name, T& value, bool required)
{
    if (const json* field = find(name, required)) {
        if (const std::string expected = take(*field, value); !expected.empty()) {
            fault(name, "must be " + expected);
        }
    }
    return *this;
}

template JsonReader& JsonReader::read(std::string_view, bool&, bool);
template JsonReader& JsonReader::read(std::string_view, int&, bool);
template JsonReader& JsonReader::read(std::string_view, std::int64_t&, bool);
template JsonReader& JsonReader::read(std::string_view, std::uint32_t&, bool);
template JsonReader& JsonReader::read(std::string_view, std::uint64_t&, bool);
template JsonReader& JsonReader::read(std::string_view, double&, bool);
template JsonReader& JsonReader::read(std::string_view, std::string&, bool);
template JsonReader& JsonReader::read(std::string_view, std::vector<int>&, bool);
template JsonReader& JsonReader::read(std::string_view, std::vector<std::int64_t>&, bool);
template JsonReader& JsonReader::read(std::string_view, std::vector<double>&, bool);
template JsonReader& JsonReader::read(std::string_view, std::vector<std::string>&, bool);
template JsonReader& JsonReader::read(std::string_view, std::map<std::string, std::int64_t>&, bool);
template JsonReader& JsonReader::read(std::string_view, std::map<std::string, double>&, bool);
template JsonReader& JsonReader::read(std::string_view, std::map<std::string, std::string>&, bool);

const json* JsonReader::array(std::string_view name)
{
    const json* field = find(name, true);
    if (field && !field->is_array()) {
        fault(name, "must be a list");
        return nullptr;
    }
    return field;
}

const json* JsonReader::object(std::string_view name)
{
    const json* field = find(name, true);
    if (field && !field->is_object()) {
        fault(name, "must be an object");
        return nullptr;
    }
    return field;
}

Result<void> JsonReader::finish() const
{
    if (error_) {
        return std::unexpected(*error_);
    }
    return {};
}

Result<void> JsonReader::finishKnowingAll()
{
    if (object_->is_object()) {
        for (const auto& [name, value] : object_->items()) {
            if (std::find(asked_.begin(), asked_.end(), name) == asked_.end()) {
                fault(name, "is not known here");
            }
        }
    }
    return finish();
}

}  // namespace cuco
