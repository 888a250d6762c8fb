#pragma once
#include "cpu/executable.hpp"
#include "ops/build.hpp"
#include "reference/evaluate.hpp"
#include "runtime/buffer.hpp"

#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <random>

/// Runs functions as machine code and compares with the reference interpreter.
namespace stithy::testing {

inline Dims dims(std::initializer_list<std::int64_t> values) {
    Dims d;
    for (std::int64_t v : values) d.push_back(v);
    return d;
}

using Build = std::function<std::vector<ops::Value>(ir::Builder&, const std::vector<ops::Value>&)>;

inline ir::FunctionPtr function_of(const std::vector<ir::Type>& parameters, const Build& build) {
    ir::Builder b("test");
    std::vector<ops::Value> values;
    for (const ir::Type& t : parameters) values.emplace_back(b, b.parameter(t));
    std::vector<ir::ValueId> results;
    for (const ops::Value& v : build(b, values)) results.push_back(v.id());
    return b.finish(std::move(results));
}

/// Values that differ from element to element: floats in (-2, 2), small integers (never 0), bools.
inline ir::Literal sample(const ir::Type& type, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<std::byte> bytes(static_cast<std::size_t>(type.bytes()));
    const std::size_t size = type.dtype().size();
    for (std::int64_t i = 0; i < type.elements(); ++i) {
        std::uint64_t bits = 0;
        if (type.dtype().is_floating())
            bits = ir::bits_of(type.dtype(), std::uniform_real_distribution<double>(-2, 2)(random));
        else if (type.dtype().is_bool())
            bits = random() & 1u;
        else
            bits = ir::bits_of(type.dtype(), static_cast<int>(random() % 9) + 1);
        std::memcpy(bytes.data() + static_cast<std::size_t>(i) * size, &bits, size);
    }
    return ir::Literal::dense(type, std::move(bytes));
}

inline std::vector<ir::Literal> run(const cpu::Executable& e, const std::vector<ir::Literal>& arguments, std::uint64_t reusable = 0) {
    std::vector<Ref<runtime::Buffer>> inputs, outputs(e.result_types().size());
    for (const ir::Literal& l : arguments) {
        inputs.push_back(runtime::Buffer::allocate(static_cast<std::size_t>(l.type().bytes())));
        l.copy_to(static_cast<std::byte*>(inputs.back()->data()));
    }
    e.call(std::span<Ref<runtime::Buffer>>(inputs), reusable, outputs);
    inputs.clear();
    std::vector<ir::Literal> results;
    for (std::size_t r = 0; r < outputs.size(); ++r) {
        outputs[r]->wait();
        const ir::Type type = e.result_types()[r].as_tensor();
        std::vector<std::byte> bytes(static_cast<std::size_t>(type.bytes()));
        if (!bytes.empty()) std::memcpy(bytes.data(), outputs[r]->data(), bytes.size());
        results.push_back(ir::Literal::dense(type, std::move(bytes)));
    }
    return results;
}

inline void expect_close(const std::vector<ir::Literal>& got, const std::vector<ir::Literal>& expected, double tolerance,
                         const std::string& note) {
    ASSERT_EQ(got.size(), expected.size()) << note;
    for (std::size_t r = 0; r < got.size(); ++r) {
        ASSERT_TRUE(got[r].type() == expected[r].type().as_tensor())
            << note << got[r].type().str() << " against " << expected[r].type().str();
        const DType dtype = got[r].type().dtype();
        const double scale = dtype == f32 ? 2e-5 : tolerance;
        int shown = 0;
        for (std::int64_t i = 0; i < got[r].type().elements() && shown < 4; ++i) {
            if (!dtype.is_floating()) {
                if (got[r].element_bits(i) != expected[r].element_bits(i)) {
                    ADD_FAILURE() << note << "result " << r << " element " << i << ": " << got[r].element_as_int(i) << " not "
                                  << expected[r].element_as_int(i);
                    ++shown;
                }
                continue;
            }
            const double a = got[r].element_as_double(i), e = expected[r].element_as_double(i);
            const bool same = (std::isnan(a) && std::isnan(e)) || a == e || std::abs(a - e) <= scale * (1 + std::abs(e));
            if (!same) {
                ADD_FAILURE() << note << "result " << r << " element " << i << ": " << a << " not " << e;
                ++shown;
            }
        }
    }
}

/// Compiles, runs and compares: as given, again with every argument given away, and without the passes.
inline void check(const ir::FunctionPtr& f, const std::vector<ir::Literal>& arguments, double tolerance = 1e-12) {
    const std::vector<ir::Literal> expected = reference::evaluate(*f, arguments);
    for (const bool optimize : {true, false}) {
        cpu::CompileOptions options;
        options.optimize = optimize;
        Ref<cpu::Executable> e;
        try {
            e = cpu::Executable::make(f, options);
            expect_close(run(*e, arguments), expected, tolerance, optimize ? "" : "passes off: ");
            expect_close(run(*e, arguments, ~std::uint64_t{0}), expected, tolerance, "donated: ");
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what() << (e ? "\n" + plan::print(e->plan()) : "");
        }
        if (::testing::Test::HasFailure()) {
            if (e) std::fprintf(stderr, "%s\n", plan::print(e->plan()).substr(0, 6000).c_str());
            return;
        }
    }
}

inline void check(const std::vector<ir::Type>& parameters, const Build& build, double tolerance = 1e-12) {
    const ir::FunctionPtr f = function_of(parameters, build);
    std::vector<ir::Literal> arguments;
    for (std::size_t i = 0; i < parameters.size(); ++i)
        arguments.push_back(sample(parameters[i].as_tensor(), static_cast<std::uint32_t>(i + 1)));
    check(f, arguments, tolerance);
}

} // namespace stithy::testing
