#include "cpu/compiler_module.hpp"
#include "cpu/features.hpp"
#include "cpu/kernel_cache.hpp"
#include "cpu/libraries.hpp"
#include "cpu/object_loader.hpp"
#include "plan/nest.hpp"
#include "runtime/disk_cache.hpp"
#include "runtime/stats.hpp"
#include "stithy/error.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace stithy;

/// y[i] = x[i] * params[1] + count, for i in [begin, end); `count` keeps nests of different tests apart.
plan::Nest axpy(std::int64_t count) {
    plan::NestBuilder b;
    const auto x = b.buffer(0), y = b.buffer(1), scale = b.literal(f64, 1);
    const auto i = b.loop(plan::LoopKind::units, b.range_begin(), b.range_end());
    const auto product = b.apply(ir::OpCode::multiply, f64, b.load(f64, x, i), scale);
    plan::NestValue sum = product;
    for (std::int64_t k = 0; k < count; ++k) sum = b.apply(ir::OpCode::add, f64, sum, b.fixed(f64, 0x3ff0000000000000U));
    b.store(f64, y, i, sum);
    b.end();
    return b.finish();
}

void check_axpy(runtime::NativeFunction f, std::int64_t count) {
    std::vector<double> x(100), y(100, -1.0);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
    std::array<void*, 2> buffers{x.data(), y.data()};
    std::array<std::int64_t, 2> params{0, 0};
    const double scale = 3.0;
    std::memcpy(&params[1], &scale, 8);
    runtime::Runtime rt = runtime::make_runtime();
    ASSERT_EQ(f(&rt, buffers.data(), params.data(), 2, 99), 0);
    for (std::size_t i = 0; i < y.size(); ++i)
        EXPECT_EQ(y[i], i < 2 || i >= 99 ? -1.0 : 3.0 * static_cast<double>(i) + static_cast<double>(count)) << i;
}

TEST(KernelCache, CompilesOnceAndKeeps) {
    runtime::disk_clear();
    const Stats before = stats();
    const plan::Nest nest = axpy(1);
    const runtime::NativeFunction first = cpu::native_code(nest);
    check_axpy(first, 1);
    EXPECT_EQ(stats().kernels_compiled - before.kernels_compiled, 1U);
    EXPECT_EQ(cpu::native_code(axpy(1)), first);
    EXPECT_EQ(stats().kernels_compiled - before.kernels_compiled, 1U);
    EXPECT_GE(stats().kernel_cache_hits - before.kernel_cache_hits, 1U);
    EXPECT_GE(cpu::kernels_in_memory(), 1U);
}

TEST(KernelCache, ThreadsThatWantTheSameShareOneCompilation) {
    runtime::disk_clear();
    const Stats before = stats();
    std::vector<std::thread> threads;
    std::vector<runtime::NativeFunction> code(6);
    for (std::size_t t = 0; t < code.size(); ++t) threads.emplace_back([&, t] { code[t] = cpu::native_code(axpy(2)); });
    for (std::thread& t : threads) t.join();
    for (const runtime::NativeFunction f : code) EXPECT_EQ(f, code[0]);
    EXPECT_EQ(stats().kernels_compiled - before.kernels_compiled, 1U);
}

TEST(KernelCache, SeveralAtOnce) {
    const plan::Nest a = axpy(3), b = axpy(4), c = axpy(3);
    const std::array<const plan::Nest*, 3> nests{&a, &b, &c};
    const auto code = cpu::native_code(nests);
    EXPECT_EQ(code[0], code[2]);
    check_axpy(code[0], 3);
    check_axpy(code[1], 4);
}

TEST(KernelCache, AnotherProcessFindsItOnDisk) {
    runtime::disk_clear();
    if (!runtime::disk_info().why_unused.empty() || runtime::disk_info().folder.empty()) GTEST_SKIP() << "no disk cache";
    check_axpy(cpu::native_code(axpy(5)), 5);
    // A child of a fork has this process's memory; asked for code that only the disk has, it must not compile.
    const pid_t child = fork();
    if (child == 0) {
        const plan::Nest other = axpy(6);
        bool good = false;
        const pid_t grandchild = fork();
        if (grandchild == 0) {
            cpu::native_code(other);
            _exit(0);
        }
        int status = 0;
        waitpid(grandchild, &status, 0);
        const Stats before = stats();
        cpu::native_code(other);
        const Stats after = stats();
        good = status == 0 && after.kernels_compiled == before.kernels_compiled && after.disk_cache_hits == before.disk_cache_hits + 1;
        _exit(good ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST(KernelCache, TextsAndObjects) {
    const cpu::CompileResult texts = cpu::compile_text(axpy(7));
    EXPECT_NE(texts.ir.find("define"), std::string::npos);
    EXPECT_NE(texts.assembly.find("ret"), std::string::npos);
    const std::string object = cpu::compile_object(axpy(7), "my_function");
    const cpu::LoadedCode code = cpu::load_object(std::as_bytes(std::span(object)), [](std::string_view) -> void* { return nullptr; });
    ASSERT_NE(code.symbol("my_function"), nullptr);
    check_axpy(reinterpret_cast<runtime::NativeFunction>(code.symbol("my_function")), 7);
    EXPECT_EQ(cpu::compiler_version().substr(0, 3), "19.");
}

TEST(Features, AreDescribed) {
    EXPECT_EQ(cpu::parse_isa("avx2"), cpu::Isa::avx2);
    EXPECT_THROW(cpu::parse_isa("mmx"), Error);
    EXPECT_EQ(cpu::describe_features().size(), 2U);
    EXPECT_NE(cpu::target_key().find("x86-64-v"), std::string::npos);
}

TEST(Libraries, MissingOnesAreNamed) {
    runtime::NativeRecord record{cpu::status_library_missing, 0, {static_cast<std::int64_t>(cpu::Library::openblas), 0}};
    EXPECT_NE(cpu::describe_library_status(record).find("libopenblas0-serial"), std::string::npos);
    record.status = 0;
    EXPECT_TRUE(cpu::describe_library_status(record).empty());
    EXPECT_EQ(cpu::describe_libraries().size(), static_cast<std::size_t>(cpu::library_count));
}

} // namespace
