#include "runtime/system_memory.hpp"

#include <cstdint>
#include <sys/mman.h>

#ifdef STITHY_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#endif

namespace stithy::runtime {

void* map_region(std::size_t bytes) noexcept {
    const std::size_t whole = bytes + huge_page;
    if (whole < bytes) return nullptr;
    void* raw = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) return nullptr;
    char* const begin = static_cast<char*>(raw);
    const std::size_t skew = reinterpret_cast<std::uintptr_t>(raw) % huge_page;
    const std::size_t head = skew ? huge_page - skew : 0;
    if (head) munmap(begin, head);
    munmap(begin + head + bytes, huge_page - head);
    madvise(begin + head, bytes, MADV_HUGEPAGE); // a kernel without huge pages refuses: small pages then
#ifdef STITHY_ADDRESS_SANITIZER
    __lsan_register_root_region(begin + head, bytes); // buffers may point at ordinary heap objects
#endif
    return begin + head;
}

void unmap_region(void* region, std::size_t bytes) noexcept {
    mark_used(region, bytes);
#ifdef STITHY_ADDRESS_SANITIZER
    __lsan_unregister_root_region(region, bytes);
#endif
    munmap(region, bytes);
}

void release_pages(void* start, std::size_t bytes) noexcept { madvise(start, bytes, MADV_DONTNEED); }

#ifdef STITHY_ADDRESS_SANITIZER
void mark_free(void* start, std::size_t bytes) noexcept { __asan_poison_memory_region(start, bytes); }
void mark_used(void* start, std::size_t bytes) noexcept { __asan_unpoison_memory_region(start, bytes); }
#endif

} // namespace stithy::runtime
