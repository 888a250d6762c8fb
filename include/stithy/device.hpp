#pragma once
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

namespace stithy {

/// Where an array lives: "cpu", "cuda" (the first GPU) or "cuda:2". A small value; naming a device does not need it to exist.
class Device {
public:
    enum class Kind : std::uint8_t { cpu, cuda };

    /// "cpu".
    constexpr Device() = default;
    /// Reads a device's name; Error for one that is none.
    Device(std::string_view name, std::source_location location = std::source_location::current());
    Device(const char* name, std::source_location location = std::source_location::current()) : Device(std::string_view(name), location) {}
    Device(const std::string& name, std::source_location location = std::source_location::current())
        : Device(std::string_view(name), location) {}

    /// CPU or GPU.
    [[nodiscard]] constexpr Kind kind() const { return kind_; }
    /// Which GPU, from 0.
    [[nodiscard]] constexpr int index() const { return index_; }
    /// "cpu", "cuda:0", ...
    [[nodiscard]] std::string str() const;
    friend constexpr bool operator==(Device a, Device b) { return a.kind_ == b.kind_ && a.index_ == b.index_; }

private:
    Kind kind_ = Kind::cpu;
    std::int16_t index_ = 0;
};

} // namespace stithy
