#pragma once
#include <cmath>
#include <gtest/gtest.h>
#include <source_location>
#include <stithy/stithy.hpp>
#include <string>
#include <vector>

namespace stithy::test {

/// Equal dtype, shape and elements.
template <class T>
void expect_array(const Array& x, const Shape& shape, const std::vector<T>& values) {
    EXPECT_EQ(x.dtype().name(), dtype_of<T>.name());
    EXPECT_EQ(x.shape().str(), shape.str());
    if (x.dtype() == dtype_of<T>) {
        EXPECT_EQ(x.to_vector<T>(), values);
    }
}

/// Equal shape, elements close.
inline void expect_close(const Array& x, const Shape& shape, const std::vector<double>& values, double tolerance = 1e-12) {
    ASSERT_EQ(x.shape().str(), shape.str());
    const auto got = x.astype(f64).to_vector<double>();
    ASSERT_EQ(got.size(), values.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        const bool same = std::isnan(values[i])
                              ? std::isnan(got[i])
                              : got[i] == values[i] || std::abs(got[i] - values[i]) <= tolerance * (1 + std::abs(values[i]));
        EXPECT_TRUE(same) << "element " << i << " is " << got[i] << ", expected " << values[i];
    }
}

inline double value(const Array& x) { return x.item<double>(); }
inline void expect_all_near(const Array& a, const std::vector<double>& expected, double tolerance = 1e-10) {
    const std::vector<double> got = a.to_vector<double>();
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], tolerance) << "element " << i;
}

/// The text of the Error that f throws.
template <class F>
std::string message(F f) {
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return "nothing was thrown";
}

inline void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << text;
}

/// f throws an Error whose text has these parts and names the line of this call.
template <class F>
void expect_error_here(F f, std::initializer_list<const char*> parts, std::source_location here = std::source_location::current()) {
    const std::string text = message([&] { static_cast<void>(f()); });
    expect_parts(text, parts);
    std::string file = here.file_name();
    file = file.substr(file.rfind('/') + 1) + ":" + std::to_string(here.line());
    EXPECT_NE(text.find(file), std::string::npos) << "the line " << file << " is not in: " << text;
}

} // namespace stithy::test
