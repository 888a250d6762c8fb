#include "runtime/npy.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace stithy::runtime {
namespace {

std::vector<std::byte> file_of(int version, const std::string& header, const std::vector<unsigned char>& data) {
    std::string text = "\x93NUMPY";
    text += static_cast<char>(version);
    text += '\0';
    text += static_cast<char>(header.size() & 255);
    text += static_cast<char>(header.size() >> 8);
    if (version > 1) text += std::string(2, '\0');
    text += header;
    std::vector<std::byte> bytes(text.size() + data.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    if (!data.empty()) std::memcpy(bytes.data() + text.size(), data.data(), data.size());
    return bytes;
}

std::string error_of(const std::vector<std::byte>& file) {
    try {
        (void)parse_npy(file, "x.npy");
    } catch (const Error& e) {
        return e.what();
    }
    return "no error";
}

TEST(Npy, WritesWhatItReads) {
    const std::string path = (std::filesystem::temp_directory_path() / ("stithy_npy_" + std::to_string(::getpid()) + ".npy")).string();
    for (DType dtype : {boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64}) {
        for (const Shape& shape : {Shape({}), Shape({3}), Shape({2, 3}), Shape({0, 4}), Shape({1, 2, 3, 4})}) {
            std::vector<std::byte> bytes(static_cast<std::size_t>(shape.elements()) * dtype.size());
            for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(dtype.is_bool() ? i % 2 : i * 7);
            write_npy(path, dtype, shape, bytes);
            EXPECT_EQ(std::filesystem::file_size(path) % 64, bytes.size() % 64) << "data starts at a multiple of 64";
            const NpyArray array = read_npy(path);
            EXPECT_EQ(array.dtype, dtype);
            EXPECT_EQ(array.shape, shape);
            EXPECT_EQ(array.bytes, bytes);
        }
    }
    std::filesystem::remove(path);
}

TEST(Npy, FortranOrderIsTurned) {
    const NpyArray a = parse_npy(file_of(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", {1, 2, 3, 4, 5, 6}), "x");
    const std::vector<std::byte> expected{std::byte{1}, std::byte{3}, std::byte{5}, std::byte{2}, std::byte{4}, std::byte{6}};
    EXPECT_EQ(a.bytes, expected);
}

TEST(Npy, SecondVersionAndOtherSpacing) {
    const NpyArray a = parse_npy(file_of(2, "{\"shape\":(2,),\"fortran_order\":False,\"descr\":\"<i2\"}", {1, 0, 2, 0}), "x");
    EXPECT_EQ(a.dtype, i16);
    EXPECT_EQ(a.shape, Shape({2}));
}

TEST(Npy, BadFilesAreNamed) {
    EXPECT_NE(error_of({}).find("x.npy: not a .npy file"), std::string::npos);
    EXPECT_NE(error_of(file_of(9, "{}", {})).find("unknown version"), std::string::npos);
    EXPECT_NE(
        error_of(file_of(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (1,)}", std::vector<unsigned char>(8))).find("big-endian"),
        std::string::npos);
    EXPECT_NE(error_of(file_of(1, "{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}", std::vector<unsigned char>(16)))
                  .find("'<c16' is not supported"),
              std::string::npos);
    EXPECT_NE(error_of(file_of(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", std::vector<unsigned char>(8)))
                  .find("8 bytes of data, 16 expected"),
              std::string::npos);
    EXPECT_NE(
        error_of(file_of(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999)}", {})).find("shape too large"),
        std::string::npos);
    EXPECT_NE(error_of(file_of(1, "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", {})).find("structured"),
              std::string::npos);
    EXPECT_NE(error_of(file_of(1, "{'descr': '<f8'}", {})).find("damaged"), std::string::npos);
    const std::vector<std::byte> good =
        file_of(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", std::vector<unsigned char>(8));
    for (std::size_t n = 0; n < good.size(); ++n)
        EXPECT_NE(error_of({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n)}), "no error");
    EXPECT_THROW((void)read_npy("/nowhere/x.npy"), Error);
    EXPECT_THROW(write_npy("/nowhere/x.npy", f64, {}, {}), Error);
}

} // namespace
} // namespace stithy::runtime
