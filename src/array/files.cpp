#include "stithy/files.hpp"

#include "array/bind.hpp"
#include "array/fill.hpp"
#include "runtime/npy.hpp"

#include <cstring>

namespace stithy {

Array load(const std::string& path, Location location) {
    runtime::NpyArray file;
    try {
        file = runtime::read_npy(path);
    } catch (const Error& e) {
        fail("load", e.what(), location);
    }
    auto buffer = detail::name_shortage("load", location, [&] { return runtime::Buffer::allocate(file.bytes.size()); });
    if (!file.bytes.empty()) std::memcpy(buffer->data(), file.bytes.data(), file.bytes.size());
    return detail::make_concrete(file.dtype, std::move(file.shape), std::move(buffer), location);
}

void save(const std::string& path, const Array& x, Location location) {
    const detail::ArrayNode& n = detail::node(detail::bottom(x, "save", location));
    const auto& buffer = n.buffer();
    buffer->wait();
    try {
        runtime::write_npy(path, n.dtype(), n.shape(),
                           {static_cast<const std::byte*>(buffer->data()), static_cast<std::size_t>(n.type().bytes())});
    } catch (const Error& e) {
        fail("save", e.what(), location);
    }
}

} // namespace stithy
