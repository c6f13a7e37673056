// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/host_start.h"

namespace cuco_harness {
namespace {

void pack(Packer& packer, const Variables& variables)
{
    packer.number(int64_t(variables.size()));
    for (const auto& [name, value] : variables)
        packer.text(name).text(value);
}

Variables unpackVariables(Unpacker& fields)
{
    Variables variables;
    for (int64_t count = fields.number(); count > 0 && fields.ok(); --count) {
        std::string name = fields.text();
        variables.emplace_back(std::move(name), fields.text());
    }
    return variables;
}

}  // namespace

std::string packHostStart(const HostStart& start)
{
    Packer packer;
    packer.text(start.folder).text(start.job);
    const HostShare& share = start.share;
    for (const int number : {share.first_rank, share.ranks, share.all_ranks, share.first_device, share.devices})
        packer.number(int64_t(number));
    pack(packer, start.environment);
    packer.number(int64_t(start.sandbox.size()));
    for (const auto& word : start.sandbox)
        packer.text(word);
    packer.number(int64_t(start.programs.size()));
    for (const auto& variables : start.programs)
        pack(packer, variables);
    return packer.bytes();
}

std::optional<HostStart> unpackHostStart(const std::string& bytes)
{
    Unpacker fields(bytes);
    HostStart start;
    start.folder = fields.text();
    start.job = fields.text();
    HostShare& share = start.share;
    for (int* number : {&share.first_rank, &share.ranks, &share.all_ranks, &share.first_device, &share.devices})
        *number = int(fields.number());
    start.environment = unpackVariables(fields);
    for (int64_t count = fields.number(); count > 0 && fields.ok(); --count)
        start.sandbox.push_back(fields.text());
    for (int64_t count = fields.number(); count > 0 && fields.ok(); --count)
        start.programs.push_back(unpackVariables(fields));
    return fields.ok() ? std::optional(std::move(start)) : std::nullopt;
}

size_t launcherStream(const HostShare& share, size_t program)
{
    return observer_stream + 1 + program * (1 + size_t(share.ranks));
}

size_t rankStream(const HostShare& share, size_t program, int rank)
{
    return launcherStream(share, program) + 1 + size_t(rank - share.first_rank);
}

size_t streamsOf(const HostShare& share, size_t programs)
{
    return launcherStream(share, programs);
}

}  // namespace cuco_harness
