#pragma once
#include "stithy/dtype.hpp"
#include "stithy/shape.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stithy::runtime {

/// The contents of a .npy file, row-major.
struct NpyArray {
    DType dtype;
    Shape shape;
    std::vector<std::byte> bytes;
};

/// Reads NumPy's .npy, versions 1 to 3, of C or Fortran order. Throws Error naming the file: missing, damaged or truncated, big-endian, or
/// a dtype that is not there.
NpyArray read_npy(const std::string& path);
/// The same from memory; `name` is for messages.
NpyArray parse_npy(std::span<const std::byte> file, std::string_view name);

/// Writes row-major bytes as version 1.0, replacing the file. Throws Error when that fails.
void write_npy(const std::string& path, DType dtype, const Shape& shape, std::span<const std::byte> bytes);

} // namespace stithy::runtime
