#include "stithy/device.hpp"

#include "base/error.hpp"

#include <charconv>

namespace stithy {

Device::Device(std::string_view name, std::source_location location) {
    if (name == "cpu" || name == "cpu:0") return;
    if (name.starts_with("cuda")) {
        kind_ = Kind::cuda;
        if (name.size() == 4) return;
        const char* last = name.data() + name.size();
        int index = 0;
        if (name[4] == ':') {
            const auto read = std::from_chars(name.data() + 5, last, index);
            if (read.ec == std::errc() && read.ptr == last && index >= 0 && index < 1024) {
                index_ = static_cast<std::int16_t>(index);
                return;
            }
        }
    }
    fail("device", "'" + std::string(name) + "' names no device; expected \"cpu\", \"cuda\" or \"cuda:1\"", location);
}

std::string Device::str() const { return kind_ == Kind::cpu ? "cpu" : "cuda:" + std::to_string(index_); }

} // namespace stithy
