// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "job.h"

#include "report.h"

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>

namespace cuco_harness {
namespace {

constexpr size_t max_job_bytes = 1 << 20;
constexpr int max_ranks = 64;
constexpr size_t max_shapes = 64, max_buffers = 16, max_baselines = 16, max_variables = 8, max_launch_words = 256;
constexpr int64_t max_elements = int64_t(1) << 38;
constexpr int64_t max_iterations = 100000, max_limit_s = 24 * 3600;

bool isName(const std::string& text)
{
    return !text.empty() && text.size() <= 64 && text[0] != '.' && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
               c == '.';
    });
}

bool parseInteger(const std::string& text, int64_t low, int64_t high, int64_t& value)
{
    if (text.empty() || (text[0] != '-' && (text[0] < '0' || text[0] > '9')))
        return false;
    errno = 0;
    char* end = nullptr;
    const long long parsed = std::strtoll(text.c_str(), &end, 10);
    if (errno != 0 || *end != '\0' || parsed < low || parsed > high)
        return false;
    value = parsed;
    return true;
}

bool parseSeed(const std::string& text, uint64_t& value)
{
    if (text.empty() || text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    char* end = nullptr;
    value = std::strtoull(text.c_str(), &end, 10);
    return errno == 0 && *end == '\0';
}

bool parsePositive(const std::string& text, double& value)
{
    if (text.empty())
        return false;
    char* end = nullptr;
    value = std::strtod(text.c_str(), &end);
    return *end == '\0' && std::isfinite(value) && value > 0;
}

// A path may hold blanks: it is all that follows its key. The line has at least two words.
std::string restOf(const std::string& line)
{
    const char* const blanks = " \t\v\f\r\n";
    const auto key = line.find_first_not_of(blanks);
    const auto begin = line.find_first_not_of(blanks, line.find_first_of(blanks, key));
    return line.substr(begin, line.find_last_not_of(blanks) - begin + 1);
}

std::vector<std::string> wordsOf(const std::string& line)
{
    std::vector<std::string> words;
    std::istringstream stream(line);
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

/// Takes the job's lines one by one; every handler returns what is wrong with its line, or nothing.
class Parser {
public:
    explicit Parser(std::string folder) { job_.folder = std::move(folder); }

    std::string take(const std::string& line, const std::vector<std::string>& words)
    {
        const std::string& key = words[0];
        if (!versioned_) {
            versioned_ = true;
            return words == std::vector<std::string>{"cuco-job", "1"} ? "" : "the first line must be \"cuco-job 1\"";
        }
        if (key == "shape")
            return takeShape(words);
        if (!job_.shapes.empty())
            return takeShapeLine(words, job_.shapes.back());
        if (key == "candidate" || key == "reference" || key == "model")
            return takePath(line, words);
        if (key == "baseline" || key == "unchecked")
            return takeBaseline(line, words);
        if (key == "traced" || key == "traced_variable")
            return takeTraced(line, words);
        if (key == "host") {
            int64_t ranks = 0;
            if (words.size() != 3 || !parseInteger(words[1], 1, max_ranks, ranks) ||
                job_.hosts.size() == size_t(max_ranks))
                return "\"host\" takes the number of its ranks, at least 1, and its name";
            job_.hosts.push_back({int(ranks), words[2]});
            return "";
        }
        if (key == "launch") {
            if (words.size() < 2 || job_.launch.size() == max_launch_words)
                return "\"launch\" takes one word of a command, and there is a limit to their number";
            job_.launch.push_back(restOf(line));
            return "";
        }
        return takeJobLine(words);
    }

    std::string finish() const
    {
        if (!versioned_)
            return "it is empty";
        if (job_.ranks == 0)
            return "\"ranks\" is missing";
        if (job_.shapes.empty())
            return "it has no shape";
        if (job_.hosts.empty() != job_.launch.empty())
            return "\"host\" and \"launch\" come together";
        if (!job_.hosts.empty() &&
            std::accumulate(job_.hosts.begin(), job_.hosts.end(), 0,
                            [](int sum, const JobHost& host) { return sum + host.ranks; }) != job_.ranks)
            return "the hosts have other than all ranks";
        for (const auto& shape : job_.shapes) {
            if (shape.outputs.empty())
                return "shape " + shape.name + " has no output buffer";
        }
        return "";
    }

    Job job() && { return std::move(job_); }

private:
    std::string takePath(const std::string& line, const std::vector<std::string>& words)
    {
        if (words.size() < 2)
            return "\"" + words[0] + "\" takes a path";
        (words[0] == "candidate"   ? job_.candidate
         : words[0] == "reference" ? job_.reference
                                   : job_.model) = restOf(line);
        return "";
    }

    std::string takeBaseline(const std::string& line, const std::vector<std::string>& words)
    {
        if (words.size() < 3 || !isName(words[1]))
            return "\"" + words[0] + "\" takes a name and a path";
        if (job_.baselines.size() == max_baselines || findBaseline(words[1]))
            return "\"" + words[1] + "\" is one baseline too many, or comes twice";
        Program program;
        program.name = words[1];
        program.path = restOf(restOf(line));
        program.checked = words[0] == "baseline";
        job_.baselines.push_back(std::move(program));
        return "";
    }

    std::string takeTraced(const std::string& line, const std::vector<std::string>& words)
    {
        if (words[0] == "traced") {
            if (words.size() < 2 || !job_.traced.path.empty())
                return "\"traced\" takes a path, once";
            job_.traced.name = "traced";
            job_.traced.path = restOf(line);
            return "";
        }
        if (words.size() < 3 || !isName(words[1]) || job_.traced.variables.size() == max_variables)
            return "\"traced_variable\" takes a name and a value, a few times";
        job_.traced.variables.emplace_back(words[1], restOf(restOf(line)));
        return "";
    }

    bool findBaseline(const std::string& name) const
    {
        return std::any_of(job_.baselines.begin(), job_.baselines.end(),
                           [&](const Program& program) { return program.name == name; });
    }

    std::string takeJobLine(const std::vector<std::string>& words)
    {
        const std::string& key = words[0];
        int64_t number = 0;
        if (key == "tolerance") {
            return words.size() == 3 && parsePositive(words[1], job_.relative_l2) &&
                           parsePositive(words[2], job_.max_error)
                       ? ""
                       : "\"tolerance\" takes two positive numbers";
        }
        if (words.size() != 2)
            return "\"" + key + "\" is unknown or takes one word";
        if (key == "ranks") {
            if (!parseInteger(words[1], 1, max_ranks, number))
                return "\"ranks\" must be 1 to " + std::to_string(max_ranks);
            job_.ranks = int(number);
        } else if (key == "limit") {
            if (!parseInteger(words[1], 1, max_limit_s, number))
                return "\"limit\" must be seconds, at least 1";
            job_.limit_s = int(number);
        } else if (key == "rates") {
            if (!parseInteger(words[1], 0, 1, number))
                return "\"rates\" must be 0 or 1";
            job_.rates = number == 1;
        } else if (key == "race") {
            if (!parseInteger(words[1], 0, 1, number))
                return "\"race\" must be 0 or 1";
            job_.race = number == 1;
        } else
            return "\"" + key + "\" is unknown before the first shape";
        return "";
    }

    std::string takeShape(const std::vector<std::string>& words)
    {
        if (job_.ranks == 0)
            return "\"ranks\" must come before the first shape";
        if (job_.shapes.size() == max_shapes)
            return "there are more than " + std::to_string(max_shapes) + " shapes";
        if (words.size() < 2 || words.size() > 2 + max_shape_parameters || !isName(words[1]))
            return "\"shape\" takes a name and at most " + std::to_string(max_shape_parameters) + " numbers";
        ShapeJob shape;
        shape.name = words[1];
        for (const auto& other : job_.shapes) {
            if (other.name == shape.name)
                return "shape " + shape.name + " comes twice";
        }
        for (size_t i = 2; i < words.size(); ++i) {
            int64_t value = 0;
            if (!parseInteger(words[i], std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(),
                              value))
                return "\"" + words[i] + "\" is no integer";
            shape.parameters.push_back(value);
        }
        job_.shapes.push_back(std::move(shape));
        return "";
    }

    std::string takeShapeLine(const std::vector<std::string>& words, ShapeJob& shape) const
    {
        const std::string& key = words[0];
        if (key == "buffer")
            return takeBuffer(words, shape);
        if (key == "scale") {
            return words.size() == 3 && parsePositive(words[1], shape.flop_factor) &&
                           parsePositive(words[2], shape.byte_factor)
                       ? ""
                       : "\"scale\" takes two positive numbers";
        }
        if (key == "against") {
            for (size_t i = 1; i < words.size(); ++i) {
                if (!findBaseline(words[i]))
                    return "\"" + words[i] + "\" is no baseline of the job";
                shape.against.push_back(words[i]);
            }
            return words.size() > 1 ? "" : "\"against\" takes names of baselines";
        }
        if (key == "rounds")
            return takeRounds(words, shape);
        if (words.size() != 2)
            return "\"" + key + "\" is unknown or takes one word";
        const std::string& text = words[1];
        int64_t number = 0;
        if (key == "seed")
            return parseSeed(text, shape.seed) ? "" : "\"seed\" takes an unsigned integer";
        if (key == "skew") {
            uint64_t seed = 0;
            if (!parseSeed(text, seed))
                return "\"skew\" takes an unsigned integer";
            shape.skew_seed = seed;
            return "";
        }
        if (key == "iterations" || key == "warmup" || key == "consecutive") {
            if (!parseInteger(text, 0, max_iterations, number))
                return "\"" + key + "\" is out of range";
            (key == "iterations" ? shape.iterations : key == "warmup" ? shape.warmup : shape.consecutive) = int(number);
            return "";
        }
        if (key == "dump" || key == "time" || key == "trace") {
            if (!parseInteger(text, 0, 1, number))
                return "\"" + key + "\" must be 0 or 1";
            (key == "dump" ? shape.dump : key == "time" ? shape.time : shape.trace) = number == 1;
            return "";
        }
        return "\"" + key + "\" is unknown inside a shape";
    }

    static std::string takeRounds(const std::vector<std::string>& words, ShapeJob& shape)
    {
        int64_t most = 0, least = 0;
        if (words.size() < 2 || words.size() > 3 || !parseInteger(words[1], 0, max_iterations, most) ||
            !parseInteger(words.back(), 0, most, least))
            return "\"rounds\" takes how many there are at most, and then how many at least";
        shape.rounds = int(most);
        shape.least_rounds = int(least);
        return "";
    }

    std::string takeBuffer(const std::vector<std::string>& words, ShapeJob& shape) const
    {
        if (words.size() != 4 + size_t(job_.ranks) || (words[1] != "in" && words[1] != "out") || !isName(words[2]))
            return "\"buffer\" takes in or out, a name, a type, and the elements of each rank";
        auto& buffers = words[1] == "in" ? shape.inputs : shape.outputs;
        if (buffers.size() == max_buffers)
            return "there are more than " + std::to_string(max_buffers) + " buffers";
        BufferJob buffer;
        buffer.name = words[2];
        const auto type = elementTypeFromString(words[3]);
        if (!type)
            return "\"" + words[3] + "\" is no element type; use bf16, f16, f32 or i32";
        buffer.type = *type;
        for (size_t i = 4; i < words.size(); ++i) {
            int64_t elements = 0;
            if (!parseInteger(words[i], 0, max_elements, elements))
                return "\"" + words[i] + "\" is no count of elements";
            buffer.elements.push_back(elements);
        }
        buffers.push_back(std::move(buffer));
        return "";
    }

    Job job_;
    bool versioned_ = false;
};

}  // namespace

size_t BufferJob::largestBytes() const
{
    return elements.empty() ? 0 : size_t(*std::max_element(elements.begin(), elements.end())) * bytesOf(type);
}

std::string Job::pathOf(const std::string& name) const
{
    return !name.empty() && name[0] == '/' ? name : folder + "/" + name;
}

std::string Job::dumpPath(const ShapeJob& shape, int iteration, int rank, const BufferJob& buffer) const
{
    return pathOf("out." + shape.name + "." + std::to_string(iteration) + "." + std::to_string(rank) + "." +
                  buffer.name + ".bin");
}

std::optional<Job> parseJob(const std::string& text, const std::string& folder, std::string& error)
{
    Parser parser(folder);
    std::istringstream stream(text);
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
        ++number;
        const auto words = wordsOf(line);
        if (words.empty())
            continue;
        const std::string fault = parser.take(line, words);
        if (!fault.empty()) {
            error = "Line " + std::to_string(number) + " of the job file is wrong: " + fault + ".";
            return std::nullopt;
        }
    }
    const std::string fault = parser.finish();
    if (!fault.empty()) {
        error = "The job file is incomplete: " + fault + ".";
        return std::nullopt;
    }
    Job job = std::move(parser).job();
    job.text = text;
    return job;
}

std::optional<Job> readJob(const std::string& path, std::string& error)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        error = "The job file " + path + " cannot be read.";
        return std::nullopt;
    }
    std::string text(max_job_bytes + 1, '\0');
    file.read(text.data(), std::streamsize(text.size()));
    text.resize(size_t(file.gcount()));
    if (text.size() > max_job_bytes) {
        error = "The job file " + path + " is larger than 1 MiB.";
        return std::nullopt;
    }
    const auto slash = path.find_last_of('/');
    return parseJob(text, slash == std::string::npos ? "." : path.substr(0, slash + 1), error);
}

std::optional<Job> takeJob(const std::string& path, int report_descriptor)
{
    std::string error;
    auto job = readJob(path, error);
    if (job && unlink(path.c_str()) != 0)
        error = "The job file " + path + " cannot be removed.";
    if (job && error.empty())
        return job;
    Failure failure;
    failure.kind = "environment";
    failure.message = error;
    writeReport(report_descriptor, failure.toLine().text());
    writeReport(report_descriptor, ReportLine("done").text());
    return std::nullopt;
}

}  // namespace cuco_harness
