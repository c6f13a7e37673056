// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/workload/workload.h"
#include "core/base/files.h"
#include "core/design/directive.h"
#include "core/design/tunable.h"
#include "core/workload/named_workload.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace cuco {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

class WorkloadFolder : public testing::Test {
protected:
    void SetUp() override
    {
        std::string name = testing::TempDir() + "cuco-workload-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        root = name;
        folder = root / "product";
        std::filesystem::create_directories(folder / "strategies");
        for (const char* file : {"host.cu", "seed.cu", "reference.cu", "strategies/push.cu"}) {
            ASSERT_TRUE(writeFileAtomically(folder / file, "// code\n").has_value());
        }
    }
    void TearDown() override { std::filesystem::remove_all(root); }

    Result<Workload> load()
    {
        EXPECT_TRUE(writeFileAtomically(folder / "workload.json", manifest.dump()).has_value());
        return loadWorkload(folder);
    }

    std::string faultWith(const std::string& pointer, const json& value)
    {
        const json whole = manifest;
        manifest[json::json_pointer(pointer)] = value;
        const auto workload = load();
        manifest = whole;
        EXPECT_FALSE(workload.has_value()) << pointer << " = " << value;
        return workload ? std::string() : workload.error().what;
    }

    std::filesystem::path root, folder;
    json manifest = json::parse(R"json({
        "format": 1, "name": "product", "title": "Product", "summary": "A product.",
        "parameters": ["m", "n"], "ranks": [4, 2], "dtype": "bf16",
        "tolerance": {"relative_l2": 0.01, "max_error": 0.05},
        "inputs": [{"name": "a", "type": "bf16", "elements": "m / ranks + (rank < m % ranks)"}],
        "outputs": [{"name": "c", "type": "f32", "elements": "m * n"}],
        "roofline": {"flops": "2 * m * n", "hbm_bytes": "m", "link_bytes": "(ranks - 1) * m * (1 + (rank == 1))"},
        "shapes": {
            "search": [{"name": "large", "m": 1000, "n": 1000}],
            "verify": [{"name": "odd", "m": 37, "n": 11}],
            "validation": [],
            "emulated_search": [{"name": "small", "m": 8, "n": 8, "represents": {"m": 1000, "n": 1000}}],
            "emulated_verify": [{"name": "odd", "m": 3, "n": 5}]
        },
        "sources": {"host": "host.cu", "seed": "seed.cu", "reference": "reference.cu"},
        "strategies": ["strategies/push.cu"],
        "baselines": [{"name": "window", "source": "host.cu", "gpu_only": true}],
        "compute_alone": "host.cu",
        "timeouts_s": {"compile": 10, "run": 20}
    })json");
};

TEST_F(WorkloadFolder, IsLoadedWhole)
{
    const auto workload = load();
    ASSERT_TRUE(workload.has_value()) << workload.error().what;
    EXPECT_EQ(workload->name, "product");
    EXPECT_EQ(workload->title, "Product");
    EXPECT_THAT(workload->parameters, ElementsAre("m", "n"));
    EXPECT_THAT(workload->ranks, ElementsAre(4, 2));
    EXPECT_EQ(workload->dtype, ElementType::bf16);
    EXPECT_EQ(workload->tolerance.max_error, 0.05);
    EXPECT_EQ(workload->outputs.at(0).type, ElementType::f32);
    EXPECT_EQ(workload->inputs.at(0).elements.evaluate(sizeValues({{"m", 37}}, 4, 0)).value(), 10);
    EXPECT_EQ(workload->search_shapes.at(0).parameters.at("m"), 1000);
    EXPECT_FALSE(workload->search_shapes.at(0).represents.has_value());
    EXPECT_EQ(workload->emulated_search_shapes.at(0).represents->at("n"), 1000);
    EXPECT_EQ(workload->host_source, folder / "host.cu");
    EXPECT_EQ(workload->strategies.at(0).name, "push");
    EXPECT_EQ(workload->strategies.at(0).file, folder / "strategies/push.cu");
    EXPECT_EQ(workload->baselines.at(0).name, "window");
    EXPECT_TRUE(workload->baselines.at(0).gpu_only);
    EXPECT_EQ(workload->compute_alone_source, folder / "host.cu");
    EXPECT_EQ(workload->compile_timeout, std::chrono::seconds(10));
    EXPECT_EQ(workload->run_timeout, std::chrono::seconds(20));
}

TEST_F(WorkloadFolder, NamesTheFieldThatIsWrong)
{
    EXPECT_THAT(faultWith("/format", 2), HasSubstr("\"format\" must be 1"));
    EXPECT_THAT(faultWith("/name", "a b"), HasSubstr("\"name\""));
    EXPECT_THAT(faultWith("/typo", 1), HasSubstr("\"typo\" is not known"));
    EXPECT_THAT(faultWith("/shapes/typo", json::array()), HasSubstr("\"shapes.typo\""));
    EXPECT_THAT(faultWith("/parameters", json::parse(R"(["m","n","m"])")), HasSubstr("\"parameters\""));
    EXPECT_THAT(faultWith("/parameters", json::parse(R"(["m","n","rank"])")), HasSubstr("\"parameters\""));
    EXPECT_THAT(faultWith("/ranks", json::parse("[]")), HasSubstr("\"ranks\""));
    EXPECT_THAT(faultWith("/ranks", json::parse("[65]")), HasSubstr("\"ranks\""));
    EXPECT_THAT(faultWith("/dtype", "f8"), HasSubstr("\"dtype\""));
    EXPECT_THAT(faultWith("/tolerance/max_error", "nan"), HasSubstr("\"tolerance.max_error\""));
    EXPECT_THAT(faultWith("/inputs", json::array()), HasSubstr("\"inputs\""));
    EXPECT_THAT(faultWith("/inputs/0/type", "f64"), HasSubstr("\"inputs[0].type\""));
    EXPECT_THAT(faultWith("/inputs/0/name", "c"), HasSubstr("\"outputs[0].name\""));
    EXPECT_THAT(faultWith("/inputs/0/elements", "m +"), HasSubstr("\"inputs[0].elements\""));
    EXPECT_THAT(faultWith("/roofline/flops", 7), HasSubstr("\"roofline.flops\""));
    EXPECT_THAT(faultWith("/shapes/search/0/m", -1), HasSubstr("\"shapes.search[0].m\""));
    EXPECT_THAT(faultWith("/shapes/search/0/k", 1), HasSubstr("\"shapes.search[0].k\""));
    EXPECT_THAT(faultWith("/shapes/search/0/represents", json::parse(R"({"m":1,"n":1})")),
                HasSubstr("\"shapes.search[0].represents\""));
    EXPECT_THAT(faultWith("/shapes/verify/0/name", "large"), HasSubstr("\"shapes.verify[0].name\""));
    EXPECT_THAT(faultWith("/shapes/verify", json::array()), HasSubstr("\"shapes.verify\""));
    EXPECT_THAT(faultWith("/shapes/emulated_search/0/represents", nullptr), HasSubstr("represents"));
    EXPECT_THAT(faultWith("/baselines/0/name", "host"), HasSubstr("\"baselines[0].name\""));
    EXPECT_THAT(faultWith("/baselines/0/source", "no.cu"), HasSubstr("\"baselines[0].source\""));
    EXPECT_THAT(faultWith("/compute_alone", "../a.cu"), HasSubstr("outside"));
    EXPECT_THAT(faultWith("/timeouts_s/run", 0), HasSubstr("\"timeouts_s.run\""));
    EXPECT_THAT(faultWith("/sources/seed", nullptr), HasSubstr("\"sources.seed\""));
    manifest.erase("outputs");
    EXPECT_THAT(load().error().what, HasSubstr("\"outputs\" is missing"));
}

TEST_F(WorkloadFolder, EvaluatesEveryExpressionBeforehand)
{
    EXPECT_THAT(faultWith("/inputs/0/elements", "k"), HasSubstr("\"k\""));
    EXPECT_THAT(faultWith("/inputs/0/elements", "1 / (ranks - 2)"), HasSubstr("rank 0 of 2"));
    EXPECT_THAT(faultWith("/inputs/0/elements", "1 - rank"), HasSubstr("\"inputs[0].elements\" is -1"));
    EXPECT_THAT(faultWith("/outputs/0/elements", "20000000000"), HasSubstr("\"outputs[0].elements\""));
    EXPECT_THAT(faultWith("/roofline/flops", "9223372036854775807 - 1 + m / 500"), HasSubstr("shape large"));
    EXPECT_THAT(faultWith("/roofline/link_bytes", "-rank"), HasSubstr("roofline.link_bytes"));
}

TEST_F(WorkloadFolder, KeepsItsFilesInside)
{
    EXPECT_THAT(faultWith("/sources/host", "no.cu"), HasSubstr("\"sources.host\" names the file \"no.cu\""));
    EXPECT_THAT(faultWith("/sources/seed", "../seed.cu"), HasSubstr("outside"));
    EXPECT_THAT(faultWith("/sources/seed", "/etc/passwd"), HasSubstr("outside"));
    EXPECT_THAT(faultWith("/strategies/0", "strategies"), HasSubstr("not there"));
    std::filesystem::create_symlink("/etc/passwd", folder / "link.cu");
    EXPECT_THAT(faultWith("/strategies/0", "link.cu"), HasSubstr("outside"));
    EXPECT_THAT(faultWith("/strategies", json::parse(R"(["strategies/push.cu","strategies/push.cu"])")),
                HasSubstr("two strategies"));
}

TEST_F(WorkloadFolder, OffersHeadersByName)
{
    const auto put = [&](const char* name) { ASSERT_TRUE(writeFileAtomically(folder / name, "#pragma once\n")); };
    put("tiles.cuh");
    put("rows.h");
    manifest["headers"] = {"tiles.cuh", "rows.h"};
    const auto workload = load();
    ASSERT_TRUE(workload.has_value()) << workload.error().what;
    EXPECT_THAT(workload->headers, ElementsAre(folder / "tiles.cuh", folder / "rows.h"));
    EXPECT_THAT(faultWith("/headers", json::array({"missing.h"})), HasSubstr("which is not there"));
    EXPECT_THAT(faultWith("/headers", json::array({"seed.cu"})), HasSubstr("not the name of a .h or .cuh file"));
    EXPECT_THAT(faultWith("/headers", json::array({"strategies/rows.h"})),
                HasSubstr("not the name of a .h or .cuh file"));
    EXPECT_THAT(faultWith("/headers", json::array({"rows.h", "rows.h"})), HasSubstr("different files"));
}

TEST_F(WorkloadFolder, TakesParametersFromZeroOn)
{
    manifest["shapes"]["verify"][0]["n"] = 0;
    EXPECT_TRUE(load().has_value());
    EXPECT_THAT(faultWith("/shapes/verify/0/n", -1), HasSubstr("must not be negative"));
}

TEST_F(WorkloadFolder, IsAnErrorWhenItIsNotJson)
{
    ASSERT_TRUE(writeFileAtomically(folder / "workload.json", "{").has_value());
    EXPECT_EQ(loadWorkload(folder).error().where, (folder / "workload.json").string());
    EXPECT_FALSE(loadWorkload(root).has_value());
}

TEST_F(WorkloadFolder, IsFoundAmongOthersByName)
{
    ASSERT_TRUE(load().has_value());
    std::filesystem::create_directories(root / "harness");
    std::filesystem::copy(folder, root / "z", std::filesystem::copy_options::recursive);
    EXPECT_THAT(loadWorkloads(root).error().what, HasSubstr("Two workloads"));
    manifest["name"] = "another";
    ASSERT_TRUE(writeFileAtomically(root / "z" / "workload.json", manifest.dump()).has_value());
    const auto workloads = loadWorkloads(root);
    ASSERT_TRUE(workloads.has_value()) << workloads.error().what;
    ASSERT_EQ(workloads->size(), 2u);
    EXPECT_EQ(workloads->front().name, "another");
    EXPECT_FALSE(loadWorkloads(root / "nowhere").has_value());
}

TEST_F(WorkloadFolder, IsFoundByNameBesideOneThatDoesNotLoad)
{
    ASSERT_TRUE(load().has_value());
    const std::string name = manifest["name"];
    std::filesystem::copy(folder, root / "broken", std::filesystem::copy_options::recursive);
    ASSERT_TRUE(writeFileAtomically(root / "broken" / "workload.json", "{").has_value());
    std::filesystem::rename(folder, root / name);
    const auto found = namedWorkload(root, name);
    ASSERT_TRUE(found.has_value()) << describe(found.error());
    EXPECT_EQ(found->name, name);
    EXPECT_THAT(describe(namedWorkload(root, "nothing").error()), HasSubstr("broken"));
}

TEST_F(WorkloadFolder, FindsAShapeOfTheNodesKind)
{
    const auto workload = load().value();
    EXPECT_EQ(findShape(workload, "odd", false)->parameters.at("m"), 37);
    EXPECT_EQ(findShape(workload, "odd", true)->parameters.at("m"), 3);
    EXPECT_THAT(findShape(workload, "small", false).error().remedy, HasSubstr("large, odd"));
}

TEST_F(WorkloadFolder, BoundsATimeByTheSlowestRankAndResource)
{
    const auto workload = load().value();
    const Shape& shape = workload.search_shapes.at(0);
    DeviceRates rates{1e12, 1e12, 1e9, "modelled"};
    // Links: rank 1 of 4 sends 2 · 3 · 1000 bytes at 1e9 bytes/s; 2e6 FLOP at 1e12 FLOP/s take 2 µs.
    EXPECT_DOUBLE_EQ(boundUs(workload, shape, 4, rates).value(), 6.0);
    EXPECT_DOUBLE_EQ(boundUs(workload, shape, 1, rates).value(), 2.0);
    EXPECT_DOUBLE_EQ(boundUs(workload, workload.emulated_search_shapes.at(0), 4, rates).value(), 6.0);
    rates.link_bytes_per_s = 0;
    EXPECT_THAT(boundUs(workload, shape, 4, rates).error().what, HasSubstr("link bytes/s"));
    EXPECT_TRUE(boundUs(workload, shape, 1, rates).has_value());
}

TEST(Workloads, ThatAreShippedLoad)
{
    const auto workloads = loadWorkloads(CUCO_TEST_ROOT "/workloads");
    ASSERT_TRUE(workloads.has_value()) << describe(workloads.error());
    ASSERT_FALSE(workloads->empty());
}

TEST(Workloads, ThatAreShippedHoldShapesBackForEveryKindOfNode)
{
    const auto workloads = loadWorkloads(CUCO_TEST_ROOT "/workloads");
    ASSERT_TRUE(workloads) << describe(workloads.error());
    for (const auto& workload : *workloads) {
        for (const bool emulated : {false, true}) {
            const auto held_back = heldBackShapes(workload, emulated);
            ASSERT_TRUE(held_back) << describe(held_back.error());
            EXPECT_FALSE(held_back->empty()) << workload.name;
            if (workload.program)
                continue;
            const auto& searched = emulated ? workload.emulated_search_shapes : workload.search_shapes;
            for (const Shape& shape : *held_back) {
                EXPECT_TRUE(findShape(workload, shape.name, emulated)) << shape.name;
                for (const Shape& other : searched) {
                    EXPECT_NE(shape.parameters, other.parameters) << workload.name << " " << shape.name;
                    EXPECT_FALSE(shape.represents && shape.represents == other.represents) << shape.name;
                }
            }
        }
    }
}

TEST(Workloads, WithoutHeldBackShapesSayWhatTheirManifestLacks)
{
    Workload workload;
    workload.name = "mine";
    const auto none = heldBackShapes(workload, true);
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().remedy, HasSubstr("emulated_validation"));
}

TEST(Workloads, ThatAreShippedHaveSeedsAndStrategiesInOneFrame)
{
    const auto space = DesignSpace::load(CUCO_TEST_ROOT "/resources/design_space.json").value();
    const auto workloads = loadWorkloads(CUCO_TEST_ROOT "/workloads").value();
    for (const Workload& workload : workloads) {
        const auto seed = KernelSource::parse(readFile(workload.seed_source).value());
        ASSERT_TRUE(seed.has_value()) << seed.error().message;
        std::vector<std::filesystem::path> files{workload.seed_source};
        std::ranges::transform(workload.strategies, std::back_inserter(files), &Strategy::file);
        for (const auto& file : files) {
            const auto source = KernelSource::parse(readFile(file).value());
            ASSERT_TRUE(source.has_value()) << file << ": " << source.error().message;
            const auto frozen = compareFrozen(*seed, *source);
            EXPECT_TRUE(frozen.has_value()) << file << ":" << frozen.error().line << ": " << frozen.error().message;
            const auto directive = parseDirective(*source);
            ASSERT_TRUE(directive.has_value()) << file << ": " << directive.error().message;
            EXPECT_EQ(space.violation(*directive, {"lsa", "gin", "copy_engine"}), "") << file;
            const auto tunables = findTunables(*source);
            EXPECT_TRUE(tunables.has_value()) << file << ": " << tunables.error().message;
        }
    }
}

}  // namespace
}  // namespace cuco
