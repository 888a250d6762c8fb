#include "cpu/code_memory.hpp"

#include "base/error.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace stithy::cpu {

namespace {

// One range of addresses for all code of the process keeps what belongs together within reach of 32-bit displacements and close in
// the translation buffers. An object takes pages of its own, so no page is ever writable while another object's code runs in it, and
// a forked child has copies of its own.
constexpr std::size_t range_bytes = std::size_t{256} << 20;

struct Range {
    std::byte* base = nullptr;
    std::atomic<std::size_t> used{0};
    std::atomic<std::size_t> objects{0};
    int error = 0;

    Range() {
        void* memory = mmap(nullptr, range_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            error = errno;
        else
            base = static_cast<std::byte*>(memory);
    }
};

// Never destroyed: code may run until the very end of the process.
Range& range() {
    static Range* const the_range = new Range();
    return *the_range;
}

std::size_t whole_pages(std::size_t bytes) {
    static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return (bytes + page - 1) / page * page;
}

} // namespace

void CodeBlock::seal() const {
    if (executable != 0 && mprotect(base, executable, PROT_READ | PROT_EXEC) != 0)
        throw Error(std::string("memory for compiled code cannot be made executable: ") + std::strerror(errno));
}

CodeBlock allocate_code(std::size_t executable, std::size_t writable) {
    Range& r = range();
    if (r.base == nullptr) throw Error(std::string("no address range for compiled code: ") + std::strerror(r.error));
    CodeBlock block;
    if (executable > range_bytes || writable > range_bytes) throw Error("compiled code does not fit: the limit is 256 MiB");
    block.executable = whole_pages(executable);
    block.writable = whole_pages(writable);
    const std::size_t bytes = block.executable + block.writable;
    std::size_t at = r.used.load(std::memory_order_relaxed);
    do {
        if (bytes > range_bytes - at)
            throw Error("the memory for compiled code is used up: " + std::to_string(r.objects.load()) + " kernels take " +
                        std::to_string(at) + " bytes, the limit is 256 MiB");
    } while (!r.used.compare_exchange_weak(at, at + bytes, std::memory_order_relaxed));
    block.base = r.base + at;
    if (bytes != 0 && mprotect(block.base, bytes, PROT_READ | PROT_WRITE) != 0)
        throw Error(std::string("out of memory for compiled code: ") + std::strerror(errno));
    r.objects.fetch_add(1, std::memory_order_relaxed);
    return block;
}

CodeMemory code_memory() {
    const Range& r = range();
    return {r.used.load(std::memory_order_relaxed), range_bytes, r.objects.load(std::memory_order_relaxed)};
}

} // namespace stithy::cpu
