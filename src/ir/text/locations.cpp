#include "ir/text/locations.hpp"

#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>

namespace stithy::ir::text {

namespace {
/// What the standard libraries of GCC and LLVM point a std::source_location to: compilers make such records, so their form is fixed.
struct Record {
    const char* file;
    const char* function;
    unsigned line;
    unsigned column;
};

Location location_of(const Record* record) {
    Location location;
    if constexpr (sizeof(Location) == sizeof record) std::memcpy(static_cast<void*>(&location), &record, sizeof location);
    return location;
}

/// Whether this library's locations are pointers to such records.
bool has_known_form() {
    static const Record probe{"probe", "", 7, 3};
    const Location given = Location::current();
    if constexpr (sizeof(Location) != sizeof(const Record*)) return false;
    const Record* record = nullptr;
    std::memcpy(&record, &given, sizeof record);
    return record != nullptr && record->file == given.file_name() && record->line == given.line() && location_of(&probe).line() == 7;
}

class Table {
public:
    Location find(std::string_view file, std::uint32_t line, std::uint32_t column) {
        const std::lock_guard lock(mutex_);
        const std::string& name = *files_.emplace(file).first;
        std::unique_ptr<Record>& record = records_[{name.c_str(), line, column}];
        if (!record) record = std::make_unique<Record>(Record{name.c_str(), "", line, column});
        return location_of(record.get());
    }

private:
    std::mutex mutex_;
    std::set<std::string, std::less<>> files_;
    std::map<std::tuple<const char*, std::uint32_t, std::uint32_t>, std::unique_ptr<Record>> records_;
};
} // namespace

Location location_in(std::string_view file, std::uint32_t line, std::uint32_t column) {
    static const bool known = has_known_form();
    static auto* const table = new Table; // never destroyed: programs outlive static objects
    return known ? table->find(file, line, column) : Location();
}

} // namespace stithy::ir::text
