#include "cpu/code_memory.hpp"
#include "cpu/object_loader.hpp"
#include "stithy/error.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace stithy;
using Bytes = std::vector<char>;

constexpr const char* source = R"(
extern double far_function(double);
extern double far_value[2];
static double table[4] = {1.5, 2.5, 3.5, 4.5};
static const double constants[3] = {10, 20, 30};
static int counter;
static double helper(double x) __attribute__((noinline));
static double helper(double x) { return x * 0.1234567 + 3; }
double (*pointers[2])(double) = {helper, far_function};
double entry(double x, long i) { return far_function(x) + table[i] + constants[i & 1] + helper(x); }
double by_table(double x, long i) { return pointers[i](x); }
double imported(long i) { return far_value[i]; }
int count(void) { return ++counter; }
double (*address_of(void))(double) { return far_function; }
long kind(long x) {
    switch (x) {
    case 0: return 11;
    case 1: return 17;
    case 2: return 23;
    case 3: return -5;
    case 4: return 99;
    case 5: return 1234;
    default: return 0;
    }
}
)";

double twice(double x) { return 2 * x; }
double far_value[2] = {0.5, 0.25};

void* resolve(std::string_view name) {
    if (name == "far_function") return reinterpret_cast<void*>(&twice);
    if (name == "far_value") return far_value;
    return nullptr;
}

/// Compiles C text to an object, with the compiler that the machine has.
Bytes compile(const std::string& text, const std::string& flags) {
    const std::string base = testing::TempDir() + "stithy_loader_" + std::to_string(getpid());
    std::ofstream(base + ".c") << text;
    const std::string command = "cc " + flags + " -c " + base + ".c -o " + base + ".o";
    if (std::system(command.c_str()) != 0) return {};
    std::ifstream file(base + ".o", std::ios::binary);
    Bytes bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::remove((base + ".c").c_str());
    std::remove((base + ".o").c_str());
    return bytes;
}

std::span<const std::byte> view(const Bytes& bytes) { return std::as_bytes(std::span(bytes)); }

template <class F>
F* function(const cpu::LoadedCode& code, const char* name) {
    return reinterpret_cast<F*>(code.symbol(name));
}

void check_code(const cpu::LoadedCode& code) {
    auto* entry = function<double(double, long)>(code, "entry");
    ASSERT_NE(entry, nullptr);
    EXPECT_DOUBLE_EQ(entry(1.0, 3), 2.0 + 4.5 + 20 + 3.1234567);
    EXPECT_DOUBLE_EQ(function<double(double, long)>(code, "by_table")(4.0, 1), 8.0);
    EXPECT_DOUBLE_EQ(function<double(double, long)>(code, "by_table")(0.0, 0), 3.0);
    EXPECT_DOUBLE_EQ(function<double(long)>(code, "imported")(1), 0.25);
    EXPECT_EQ(function<int()>(code, "count")(), 1);
    EXPECT_EQ(function<int()>(code, "count")(), 2);
    EXPECT_EQ(function<double (*())(double)>(code, "address_of")(), &twice);
    EXPECT_EQ(function<long(long)>(code, "kind")(3), -5);
    EXPECT_EQ(function<long(long)>(code, "kind")(77), 0);
    EXPECT_EQ(code.symbol("helper"), nullptr);
    EXPECT_EQ(code.symbol("nothing"), nullptr);
}

TEST(ObjectLoader, RunsWhatACompilerMakes) {
    for (const char* flags : {"-O2 -fPIC", "-O0 -fPIC", "-O2 -fPIC -fno-plt",
                              "-O2 -fPIC -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections"}) {
        const Bytes object = compile(source, flags);
        if (object.empty()) GTEST_SKIP() << "no C compiler";
        const std::size_t before = cpu::code_memory().bytes;
        const cpu::LoadedCode code = cpu::load_object(view(object), resolve);
        EXPECT_GE(cpu::code_memory().bytes, before + code.bytes());
        EXPECT_GT(code.bytes(), 0U);
        check_code(code);
    }
}

TEST(ObjectLoader, ManyThreadsLoadAtOnce) {
    const Bytes object = compile(source, "-O2 -fPIC");
    if (object.empty()) GTEST_SKIP() << "no C compiler";
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 25; ++i) check_code(cpu::load_object(view(object), resolve));
        });
    for (std::thread& t : threads) t.join();
}

TEST(ObjectLoader, UnknownImportsAreNamed) {
    const Bytes object = compile("double lost(double); double entry(double x) { return lost(x); }", "-O1 -fPIC");
    if (object.empty()) GTEST_SKIP() << "no C compiler";
    try {
        cpu::load_object(view(object), resolve);
        FAIL();
    } catch (const InternalError& e) {
        EXPECT_NE(std::string(e.what()).find("lost"), std::string::npos) << e.what();
    }
}

TEST(ObjectLoader, ThreadLocalVariablesAreRefused) {
    const Bytes object = compile("__thread int x; int entry(void) { return ++x; }", "-O1 -fPIC");
    if (object.empty()) GTEST_SKIP() << "no C compiler";
    EXPECT_THROW(cpu::load_object(view(object), resolve), InternalError);
}

TEST(ObjectLoader, DamagedObjectsAreErrors) {
    Bytes object = compile(source, "-O2 -fPIC");
    if (object.empty()) GTEST_SKIP() << "no C compiler";
    EXPECT_THROW(cpu::load_object({}, resolve), InternalError);
    for (std::size_t cut : {std::size_t{10}, std::size_t{63}, object.size() / 2, object.size() - 1})
        EXPECT_THROW(cpu::load_object(view(Bytes(object.begin(), object.begin() + static_cast<std::ptrdiff_t>(cut))), resolve),
                     InternalError)
            << cut;
    std::mt19937 engine(3);
    int refused = 0;
    for (int i = 0; i < 400; ++i) {
        Bytes damaged = object;
        for (int k = 0; k < 4; ++k) damaged[engine() % damaged.size()] = static_cast<char>(engine());
        // Headers take most of what matters.
        for (int k = 0; k < 4; ++k) damaged[damaged.size() - 1 - engine() % 900] = static_cast<char>(engine());
        try {
            cpu::load_object(view(damaged), resolve);
        } catch (const InternalError&) {
            ++refused;
        } catch (const Error&) {
            ++refused; // asks for more memory than there is
        }
    }
    EXPECT_GT(refused, 50);
}

} // namespace
