// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <unistd.h>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace cuco_harness {
namespace {

std::string quoted(const std::string& text)
{
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte >= 0x7f) {
            // Bytes outside ASCII come from foreign messages in unknown encodings.
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", byte);
            out += escape;
        } else
            out += c;
    }
    return out + "\"";
}

std::string number(double value)
{
    if (std::isnan(value))
        return "\"nan\"";
    if (std::isinf(value))
        return value > 0 ? "\"inf\"" : "\"-inf\"";
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

}  // namespace

void ReportLine::begin(const char* key)
{
    if (!fields_.empty())
        fields_ += ",";
    fields_ += quoted(key) + ":";
}

ReportLine& ReportLine::add(const char* key, const std::string& value)
{
    return addJson(key, quoted(value));
}

ReportLine& ReportLine::add(const char* key, bool value)
{
    return addJson(key, value ? "true" : "false");
}

ReportLine& ReportLine::add(const char* key, int64_t value)
{
    return addJson(key, std::to_string(value));
}

ReportLine& ReportLine::add(const char* key, double value)
{
    return addJson(key, number(value));
}

ReportLine& ReportLine::add(const char* key, const std::vector<double>& values)
{
    std::string json = "[";
    for (const double value : values)
        json += (json.size() > 1 ? "," : "") + number(value);
    return addJson(key, json + "]");
}

ReportLine& ReportLine::add(const char* key, const std::vector<std::string>& values)
{
    std::string json = "[";
    for (const auto& value : values)
        json += (json.size() > 1 ? "," : "") + quoted(value);
    return addJson(key, json + "]");
}

ReportLine& ReportLine::addJson(const char* key, const std::string& json)
{
    begin(key);
    fields_ += json;
    return *this;
}

ReportLine Failure::toLine() const
{
    ReportLine out("failure");
    out.add("kind", kind);
    if (rank >= 0)
        out.add("rank", rank);
    return out.add("shape", shape).add("message", message).add("detail", detail).add("line", line);
}

int reportDescriptor()
{
    const char* text = std::getenv("CUCO_REPORT_FD");
    if (!text || *text == '\0')
        return STDOUT_FILENO;
    char* end = nullptr;
    const long descriptor = std::strtol(text, &end, 10);
    return *end == '\0' && descriptor >= 0 && descriptor < 65536 ? int(descriptor) : STDOUT_FILENO;
}

bool writeReport(int descriptor, const std::string& line)
{
    return writeText(descriptor, line + "\n");
}

bool writeText(int descriptor, const std::string& text)
{
    for (size_t done = 0; done < text.size();) {
        const ssize_t written = write(descriptor, text.data() + done, text.size() - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        done += size_t(written);
    }
    return true;
}

}  // namespace cuco_harness
