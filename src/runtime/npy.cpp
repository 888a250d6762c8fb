#include "runtime/npy.hpp"

#include "base/error.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace stithy::runtime {

namespace {
[[noreturn]] void refuse(std::string_view name, std::string_view text) { throw Error(std::string(name) + ": " + std::string(text)); }

struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

constexpr std::array<std::pair<std::string_view, DType>, dtype_count> codes = {{{"b1", boolean},
                                                                                {"i1", i8},
                                                                                {"i2", i16},
                                                                                {"i4", i32},
                                                                                {"i8", i64},
                                                                                {"u1", u8},
                                                                                {"u2", u16},
                                                                                {"u4", u32},
                                                                                {"u8", u64},
                                                                                {"f4", f32},
                                                                                {"f8", f64}}};

DType dtype_of_descriptor(std::string_view descriptor, std::string_view name) {
    const std::string_view kind = descriptor.empty() ? descriptor : descriptor.substr(1);
    for (const auto& [code, dtype] : codes) {
        if (kind != code) continue;
        if (descriptor[0] == '>' && dtype.size() > 1)
            refuse(name, "big-endian data ('" + std::string(descriptor) + "'); save it as little-endian");
        return dtype;
    }
    refuse(name, "dtype '" + std::string(descriptor) + "' is not supported (bool, integers of 8 to 64 bits, f4 and f8 are)");
}

/// The header is a Python dictionary: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }.
class Header {
public:
    Header(std::string_view text, std::string_view name) : text_(text), name_(name) {}

    [[nodiscard]] std::string_view value(std::string_view key) const {
        for (const char quote : {'\'', '"'}) {
            const std::string quoted = quote + std::string(key) + quote;
            const std::size_t at = text_.find(quoted);
            if (at == std::string_view::npos) continue;
            const std::size_t start = text_.find_first_not_of(" :", at + quoted.size());
            if (start != std::string_view::npos) return text_.substr(start);
        }
        refuse(name_, "damaged .npy header: no " + std::string(key));
    }

    [[nodiscard]] std::string_view descriptor() const {
        const std::string_view v = value("descr");
        if (v[0] != '\'' && v[0] != '"') refuse(name_, "structured dtypes are not supported");
        return v.substr(1, v.find(v[0], 1) - 1);
    }

    [[nodiscard]] bool fortran_order() const { return value("fortran_order").starts_with("True"); }

    [[nodiscard]] Shape shape() const {
        std::string_view v = value("shape");
        const std::size_t end = v.find(')');
        if (v[0] != '(' || end == std::string_view::npos) refuse(name_, "damaged .npy header: shape");
        Shape shape;
        std::int64_t extent = 0;
        bool digits = false;
        for (char c : v.substr(1, end)) {
            if (c >= '0' && c <= '9') {
                digits = true;
                if (__builtin_mul_overflow(extent, 10, &extent) || __builtin_add_overflow(extent, c - '0', &extent))
                    refuse(name_, "shape too large");
            } else if (c == ',' || c == ')') {
                if (digits) shape.dims().push_back(extent);
                extent = 0;
                digits = false;
            } else if (c != ' ' && c != 'L') {
                refuse(name_, "damaged .npy header: shape");
            }
        }
        return shape;
    }

private:
    std::string_view text_, name_;
};

/// Column-major to row-major: walks the result in order and keeps the place in the source.
std::vector<std::byte> transposed(std::span<const std::byte> data, const Shape& shape, std::size_t size) {
    std::vector<std::byte> result(data.size());
    std::vector<std::int64_t> index(shape.rank(), 0), stride(shape.rank(), 1);
    for (std::size_t i = 1; i < shape.rank(); ++i) stride[i] = stride[i - 1] * shape[i - 1];
    std::int64_t from = 0;
    for (std::size_t to = 0; to < result.size(); to += size) {
        std::memcpy(result.data() + to, data.data() + static_cast<std::size_t>(from) * size, size);
        for (std::size_t axis = shape.rank(); axis-- > 0;) {
            from += stride[axis];
            if (++index[axis] < shape[axis]) break;
            from -= stride[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    return result;
}
} // namespace

NpyArray parse_npy(std::span<const std::byte> file, std::string_view name) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(file.data());
    if (file.size() < 10 || std::memcmp(bytes, "\x93NUMPY", 6) != 0) refuse(name, "not a .npy file");
    const unsigned version = bytes[6];
    if (version < 1 || version > 3) refuse(name, ".npy of unknown version " + std::to_string(version));
    const std::size_t start = version == 1 ? 10 : 12;
    if (file.size() < start) refuse(name, "truncated .npy file");
    std::size_t length = bytes[8] | std::size_t{bytes[9]} << 8;
    if (version > 1) length |= std::size_t{bytes[10]} << 16 | std::size_t{bytes[11]} << 24;
    if (file.size() - start < length) refuse(name, "truncated .npy file");
    const Header header(std::string_view(reinterpret_cast<const char*>(bytes) + start, length), name);

    NpyArray array{dtype_of_descriptor(header.descriptor(), name), header.shape(), {}};
    std::size_t wanted = array.dtype.size();
    bool empty = false;
    for (std::int64_t e : array.shape) {
        empty = empty || e == 0;
        if (e != 0 && __builtin_mul_overflow(wanted, static_cast<std::size_t>(e), &wanted)) refuse(name, "shape too large");
    }
    if (empty) wanted = 0;
    const std::span<const std::byte> data = file.subspan(start + length);
    if (data.size() < wanted)
        refuse(name, "truncated .npy file: " + std::to_string(data.size()) + " bytes of data, " + std::to_string(wanted) +
                         " expected for " + std::string(array.dtype.name()) + array.shape.str());
    if (header.fortran_order() && array.shape.rank() > 1)
        array.bytes = transposed(data.first(wanted), array.shape, array.dtype.size());
    else
        array.bytes.assign(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(wanted));
    if (array.dtype.is_bool())
        for (std::byte& b : array.bytes) b = b == std::byte{0} ? b : std::byte{1};
    return array;
}

NpyArray read_npy(const std::string& path) {
    const File file(std::fopen(path.c_str(), "rb"));
    if (!file) refuse(path, std::string("cannot read: ") + std::strerror(errno));
    std::vector<std::byte> bytes;
    std::array<std::byte, 1 << 16> block;
    for (;;) {
        const std::size_t n = std::fread(block.data(), 1, block.size(), file.get());
        if (n == 0) break;
        bytes.insert(bytes.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(n));
    }
    if (std::ferror(file.get()) != 0) refuse(path, std::string("cannot read: ") + std::strerror(errno));
    return parse_npy(bytes, path);
}

void write_npy(const std::string& path, DType dtype, const Shape& shape, std::span<const std::byte> bytes) {
    std::string_view code;
    for (const auto& [c, d] : codes)
        if (d == dtype) code = c;
    std::string extents;
    for (std::int64_t e : shape) extents += std::to_string(e) + ", ";
    if (shape.rank() > 1)
        extents.resize(extents.size() - 2);
    else if (shape.rank() == 1)
        extents.pop_back();
    std::string header = "{'descr': '" + std::string(dtype.size() == 1 ? "|" : "<") + std::string(code) +
                         "', 'fortran_order': False, 'shape': (" + extents + "), }";
    while ((10 + header.size() + 1) % 64 != 0) header += ' ';
    header += '\n';
    std::string start("\x93NUMPY\x01\x00", 8);
    start += static_cast<char>(header.size() & 255);
    start += static_cast<char>(header.size() >> 8);
    start += header;

    File file(std::fopen(path.c_str(), "wb"));
    if (!file) refuse(path, std::string("cannot write: ") + std::strerror(errno));
    const bool written = std::fwrite(start.data(), 1, start.size(), file.get()) == start.size() &&
                         (bytes.empty() || std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size());
    const bool closed = std::fclose(file.release()) == 0;
    if (!written || !closed) refuse(path, std::string("cannot write: ") + std::strerror(errno));
}

} // namespace stithy::runtime
