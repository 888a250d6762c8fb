#include "cpu/math/math_table.hpp"

#include <array>
#include <string>

namespace stithy::cpu {

namespace {

struct Row {
    const char* name;
    int arity;
    const char* scalar_f64;
    const char* scalar_f32;
};

constexpr std::array<Row, math_function_count> rows{{
    {"exp", 1, "exp", "expf"},
    {"expm1", 1, "expm1", "expm1f"},
    {"log", 1, "log", "logf"},
    {"log1p", 1, "log1p", "log1pf"},
    {"cbrt", 1, "stithy_cbrt_f64", "cbrtf"},
    {"sin", 1, "sin", "sinf"},
    {"cos", 1, "cos", "cosf"},
    {"tan", 1, "tan", "tanf"},
    {"tanh", 1, "tanh", "tanhf"},
    {"logistic", 1, "stithy_logistic_f64", "stithy_logistic_f32"},
    {"rsqrt", 1, "stithy_rsqrt_f64", "stithy_rsqrt_f32"},
    {"atan2", 2, "atan2", "atan2f"},
    {"power", 2, "pow", "powf"},
    {"remainder", 2, "fmod", "fmodf"},
}};

const Row& row(MathFunction function) { return rows[static_cast<std::size_t>(function)]; }

/// "stithy_exp_f64x8" for every function, dtype and number of lanes; made once.
struct Names {
    std::array<std::array<std::string, 3>, math_function_count> f64, f32;
    Names() {
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (std::size_t w = 0; w < 3; ++w) {
                f64[i][w] = std::string("stithy_") + rows[i].name + "_f64x" + std::to_string(2 << w);
                f32[i][w] = std::string("stithy_") + rows[i].name + "_f32x" + std::to_string(4 << w);
            }
    }
};

} // namespace

const char* math_function_name(MathFunction function) { return row(function).name; }

int math_function_arity(MathFunction function) { return row(function).arity; }

const char* vector_math_symbol(MathFunction function, DType dtype, int lanes) {
    static const Names* const names = new Names();
    const auto i = static_cast<std::size_t>(function);
    // 128-bit vectors have no fused multiply-add to count on: their lanes are computed one by one.
    if (dtype == f64 && (lanes == 4 || lanes == 8)) return names->f64[i][lanes == 4 ? 1 : 2].c_str();
    if (dtype == f32 && (lanes == 8 || lanes == 16)) return names->f32[i][lanes == 8 ? 1 : 2].c_str();
    return nullptr;
}

const char* scalar_math_symbol(MathFunction function, DType dtype) {
    return dtype == f32 ? row(function).scalar_f32 : row(function).scalar_f64;
}

} // namespace stithy::cpu
