#include "backend.hpp"
#include "reference/evaluate.hpp"
#include "runtime/npy.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace stithy::tool {
namespace {

class ReferenceBackend final : public Backend {
public:
    std::vector<ir::Literal> run(const ir::FunctionPtr& function, std::span<const ir::Literal> arguments) override {
        return reference::evaluate(*function, arguments);
    }
};

struct Outcome {
    int status;
    std::string out, err;
};

class Command : public testing::Test {
protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() / ("stithy_command_" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
    [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
        std::ofstream(path(name), std::ios::binary) << text;
        return path(name);
    }
    template <class T>
    [[nodiscard]] std::string npy(const std::string& name, const Shape& shape, const std::vector<T>& values) const {
        runtime::write_npy(path(name), dtype_of<T>, shape, std::as_bytes(std::span(values)));
        return path(name);
    }
    template <class T>
    [[nodiscard]] std::vector<T> values(const std::string& name) const {
        const runtime::NpyArray array = runtime::read_npy(path(name));
        EXPECT_EQ(array.dtype, dtype_of<T>);
        std::vector<T> result(array.bytes.size() / sizeof(T));
        std::memcpy(result.data(), array.bytes.data(), array.bytes.size());
        return result;
    }
    static Outcome stithy(const std::vector<std::string>& words) {
        std::vector<const char*> all{"stithy"};
        for (const std::string& w : words) all.push_back(w.c_str());
        ReferenceBackend backend;
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        const int status = run_command(static_cast<int>(all.size()), all.data(), backend);
        return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
    }

    std::filesystem::path folder_;
};

constexpr const char* product = "func.func @main(%x: tensor<3xf64>, %y: tensor<3xf64>) -> (tensor<3xf64>, tensor<i32>) {\n"
                                "  %0 = stablehlo.multiply %x, %y : tensor<3xf64>\n  %c = stablehlo.constant dense<7> : tensor<i32>\n"
                                "  return %0, %c : tensor<3xf64>, tensor<i32>\n}\n";

TEST_F(Command, RunWritesResults) {
    const std::string program = file("p.mlir", product), x = npy<double>("x.npy", {3}, {1, 2, 3}), y = npy<double>("y.npy", {3}, {4, 5, 6});
    const Outcome o = stithy({"run", program, "--arg", x, "--arg", y, "--out", path("out")});
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_EQ(values<double>("out/out0.npy"), (std::vector<double>{4, 10, 18}));
    EXPECT_EQ(values<std::int32_t>("out/out1.npy"), (std::vector<std::int32_t>{7}));
    EXPECT_EQ(runtime::read_npy(path("out/out1.npy")).shape, Shape());
}

TEST_F(Command, RunPrintsWithoutFolder) {
    const Outcome o = stithy({"run", file("p.mlir", product), "--arg", npy<double>("x.npy", {3}, {1, 2, 3}), "--arg", path("x.npy")});
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_EQ(o.out, "out0: f64[3] cpu\n[1. 4. 9.]\nout1: i32[] cpu\n7\n"); // as arrays print
}

TEST_F(Command, RunGivesGradients) {
    const std::string program = file("p.mlir", product), x = npy<double>("x.npy", {3}, {1, 2, 3}), y = npy<double>("y.npy", {3}, {4, 5, 6});
    const Outcome o = stithy({"run", program, "--grad", "1,0", "--arg", x, "--arg", y, "--out", path("out")});
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_EQ(values<double>("out/g0.npy"), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(values<double>("out/g1.npy"), (std::vector<double>{4, 5, 6}));
    EXPECT_FALSE(std::filesystem::exists(path("out/out0.npy")));
}

TEST_F(Command, GradientsThroughALoopOfUnknownLengthGoForward) {
    const std::string program =
        file("w.mlir", "func.func @main(%x: tensor<f64>) -> tensor<f64> {\n  %one = stablehlo.constant dense<100.0> : tensor<f64>\n"
                       "  %0 = stablehlo.while(%y = %x) : tensor<f64> cond {\n    %1 = stablehlo.compare LT, %y, %one : (tensor<f64>, "
                       "tensor<f64>) -> tensor<i1>\n"
                       "    stablehlo.return %1 : tensor<i1>\n  } do {\n    %2 = stablehlo.multiply %y, %x : tensor<f64>\n    "
                       "stablehlo.return %2 : tensor<f64>\n  }\n"
                       "  return %0 : tensor<f64>\n}\n");
    const Outcome o = stithy({"run", program, "--grad", "0", "--arg", npy<double>("x.npy", {}, {3}), "--out", path("out")});
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_EQ(values<double>("out/g0.npy"), (std::vector<double>{5 * 81})); // the loop gives x^5
}

TEST_F(Command, TuplesAreTakenApart) {
    const std::string program =
        file("t.mlir", "func.func private @pair(%x: tensor<f64>) -> tuple<tensor<f64>, tuple<tensor<f64>, tensor<i32>>> {\n  %0 = "
                       "stablehlo.add %x, %x : tensor<f64>\n"
                       "  %c = stablehlo.constant dense<5> : tensor<i32>\n  %1 = stablehlo.tuple %0, %c : tuple<tensor<f64>, tensor<i32>>\n"
                       "  %2 = stablehlo.tuple %x, %1 : tuple<tensor<f64>, tuple<tensor<f64>, tensor<i32>>>\n  return %2 : "
                       "tuple<tensor<f64>, tuple<tensor<f64>, tensor<i32>>>\n}\n"
                       "func.func public @main(%x: tensor<f64>) -> tuple<tensor<f64>, tuple<tensor<f64>, tensor<i32>>> {\n"
                       "  %0 = call @pair(%x) : (tensor<f64>) -> tuple<tensor<f64>, tuple<tensor<f64>, tensor<i32>>>\n"
                       "  return %0 : tuple<tensor<f64>, tuple<tensor<f64>, tensor<i32>>>\n}\n");
    const Outcome o = stithy({"run", program, "--arg", npy<double>("x.npy", {}, {3}), "--out", path("out")});
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_EQ(values<double>("out/out1.npy"), (std::vector<double>{6}));
    EXPECT_EQ(values<std::int32_t>("out/out2.npy"), (std::vector<std::int32_t>{5}));
}

TEST_F(Command, ShowPrintsStages) {
    const std::string program = file("p.mlir", product);
    const Outcome input = stithy({"show", program, "--stage", "input"});
    EXPECT_EQ(input.status, 0) << input.err;
    EXPECT_NE(input.out.find("stablehlo.multiply %arg0, %arg1 : tensor<3xf64>"), std::string::npos) << input.out;
    EXPECT_EQ(stithy({"show", program}).status, 0);
    EXPECT_EQ(stithy({"show", program, "--stage", "plan"}).status, 0);
    const Outcome gradient = stithy({"show", program, "--grad", "0"});
    EXPECT_NE(gradient.out.find("@gradient"), std::string::npos) << gradient.out;
    const Outcome unknown = stithy({"show", program, "--stage", "nothing"});
    EXPECT_EQ(unknown.status, 1);
    EXPECT_NE(unknown.err.find("no such stage; there are: input, "), std::string::npos) << unknown.err;
}

TEST_F(Command, WrongInputsAreNamed) {
    const std::string program = file("p.mlir", product), x = npy<double>("x.npy", {3}, {1, 2, 3});
    const auto says = [&](const std::vector<std::string>& words, const std::string& text) {
        const Outcome o = stithy(words);
        EXPECT_EQ(o.status, 1);
        EXPECT_TRUE(o.err.starts_with("error: ")) << o.err;
        EXPECT_NE(o.err.find(text), std::string::npos) << o.err;
    };
    says({"run", program, "--arg", x}, "@main takes 2 arguments, 1 given");
    says({"run", program, "--arg", x, "--arg", npy<double>("z.npy", {4}, {1, 2, 3, 4})}, "is f64[4], @main expects f64[3]");
    says({"run", program, "--arg", x, "--arg", npy<float>("z.npy", {3}, {1, 2, 3})}, "is f32[3], @main expects f64[3]");
    says({"run", program, "--arg", x, "--arg", path("nothing.npy")}, "nothing.npy: cannot read");
    says({"run", program, "--arg", x, "--arg", program}, "not a .npy file");
    says({"run", path("nothing.mlir")}, "nothing.mlir: cannot be read");
    says({"run", program, "--arg", x, "--arg", x, "--grad", "2"}, "--grad 2: @main has 2 arguments, 0 to 1");
    says({"run", program, "--arg", x, "--arg", x, "--grad", "-1"}, "--grad -1: @main has 2 arguments, 0 to 1");
    says({"run", program, "--arg", x, "--arg", x, "--grad=0,-2"}, "--grad -2: @main has 2 arguments, 0 to 1");
    says({"show", program, "--grad", "-1"}, "--grad -1: @main has 2 arguments, 0 to 1");
    says({"run", program, "--arg", x, x}, "each input file takes its own --arg (see stithy run --help)");
    says({"run", file("empty.mlir", "")}, "empty.mlir: the file is empty");
    says({"run", file("blank.mlir", " \n\t\n")}, "blank.mlir: the file is empty");
    says({"run", file("note.mlir", "// no more than this\n")}, "note.mlir: ");
    says({"show", path("empty.mlir")}, "empty.mlir: the file is empty");
    says({"run", file("b.mlir", std::string("ML\xEFR\x06", 5))}, "bytecode");
    says({"run", file("d.mlir", "func.func @main() {\n  %0 = stablehlo.frob\n")}, "d.mlir:2:8: not supported: stablehlo.frob");
    says({"run",
          file("t.mlir",
               "func.func @main(%x: tensor<2xf32>) {\n  %0 = stablehlo.slice %x [0:9] : (tensor<2xf32>) -> tensor<9xf32>\n  return\n}"),
          "--arg", x},
         "t.mlir:2:8: slice");
    says({"run",
          file("c.mlir", "func.func @main(%x: tensor<3xf64>) -> tensor<3xf64> {\n  %0 = stablehlo.custom_call @mine(%x) : (tensor<3xf64>) "
                         "-> tensor<3xf64>\n"
                         "  return %0 : tensor<3xf64>\n}"),
          "--arg", x},
         "custom_call @mine");
}

TEST_F(Command, RunPointsToCheck) {
    const std::string program = file("c.mlir", "func.func @main() {\n  %0 = stablehlo.constant dense<1> : tensor<i32>\n"
                                               "  stablehlo.custom_call @check.expect_eq(%0, %0) {has_side_effect = true} : (tensor<i32>, "
                                               "tensor<i32>) -> ()\n  return\n}\n");
    const Outcome o = stithy({"run", program});
    EXPECT_EQ(o.status, 1);
    EXPECT_NE(o.err.find("`stithy check` runs"), std::string::npos) << o.err;
}

TEST_F(Command, CheckCounts) {
    const auto program = [](const std::string& type, const std::string& a, const std::string& b, const std::string& check) {
        return "func.func @main() {\n %0 = stablehlo.constant dense<" + a + "> : " + type + "\n %1 = stablehlo.constant dense<" + b +
               "> : " + type + "\n stablehlo.custom_call @check." + check + "(%0, %1) {has_side_effect = true} : (" + type + ", " + type +
               ") -> ()\n return\n}\n";
    };
    std::filesystem::create_directories(path("good/deep"));
    (void)file("good/equal.mlir", program("tensor<2xi32>", "[1, 2]", "[1, 2]", "expect_eq"));
    (void)file("good/deep/close.mlir", program("tensor<f32>", "0x3F800000", "0x3F800003", "expect_close"));
    (void)file("good/almost.mlir",
               program("tensor<2xf64>", "[1.0, 0x7FF8000000000000]", "[1.0009, 0x7FF8000000000001]", "expect_almost_eq"));
    (void)file("good/zeros.mlir", program("tensor<f64>", "-0.0", "0.0", "expect_close"));
    (void)file("good/half.mlir", program("tensor<f16>", "1.0", "1.0", "expect_eq"));
    (void)file("good/note.txt", "not a program");
    const Outcome good = stithy({"check", path("good")});
    EXPECT_EQ(good.status, 0) << good.out;
    EXPECT_EQ(good.out, "not supported, 1 program: type f16\npassed 4, failed 0, not supported 1\n");

    std::filesystem::create_directories(path("bad"));
    (void)file("bad/ulp.mlir", program("tensor<f32>", "0x3F800000", "0x3F800004", "expect_close"));
    (void)file("bad/nan.mlir", program("tensor<f32>", "0x7FC00000", "0x7FC00000", "expect_eq"));
    (void)file("bad/almost.mlir", program("tensor<f64>", "1.0", "1.002", "expect_almost_eq"));
    (void)file("bad/broken.mlir", "func.func @main(");
    (void)file("bad/nothing.mlir", "func.func @main() {\n return\n}");
    const Outcome bad = stithy({"check", path("bad"), path("good/equal.mlir")});
    EXPECT_EQ(bad.status, 1);
    EXPECT_NE(bad.out.find("ulp.mlir: check 0: 1 of 1 elements differ, the first at []: 1, expected 1.00000048 (4 units in the last place "
                           "apart, allowed 3)"),
              std::string::npos)
        << bad.out;
    EXPECT_NE(bad.out.find("broken.mlir:1:"), std::string::npos) << bad.out;
    EXPECT_NE(bad.out.find("the program checks nothing"), std::string::npos);
    EXPECT_NE(bad.out.find("passed 1, failed 5, not supported 0\n"), std::string::npos) << bad.out;

    EXPECT_EQ(stithy({"check", path("good/half.mlir")}).status, 1) << "nothing passed";
}

TEST_F(Command, HelpIsThere) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"--help"}, {"run", "--help"}, {"check", "--help"}, {"show", "--help"}, {"doctor", "--help"}}) {
        const Outcome o = stithy(words);
        EXPECT_EQ(o.status, 0);
        EXPECT_NE(o.out.find("Usage"), std::string::npos);
    }
    const Outcome unknown = stithy({"fly", "--high"});
    EXPECT_EQ(unknown.status, 1);
    EXPECT_EQ(unknown.err, "error: unknown command 'fly'; there are: run, check, show, doctor (see stithy --help)\n");
    EXPECT_EQ(stithy({}).status, 1);
    const Outcome version = stithy({"--version"});
    EXPECT_EQ(version.status, 0);
    EXPECT_TRUE(version.out.starts_with("stithy 0.")) << version.out;
}

} // namespace
} // namespace stithy::tool
