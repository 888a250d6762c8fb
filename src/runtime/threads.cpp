#include "runtime/threads.hpp"

#include "runtime/control_group.hpp"
#include "runtime/float_mode.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <sched.h>
#include <signal.h>

namespace stithy::runtime {
namespace {

struct Start {
    void* (*main)(void*);
    void* argument;
};

void* thread_main(void* start_pointer) {
    const Start start = *std::unique_ptr<Start>(static_cast<Start*>(start_pointer));
    const DefaultFloatMode mode;
    return start.main(start.argument);
}

int processors_in_mask() {
    for (int room = 1024; room <= 1 << 20; room *= 2) { // the kernel refuses a set smaller than its own
        cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(room));
        if (!set) break;
        const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(room));
        const int result = sched_getaffinity(0, bytes, set);
        const int error = errno;
        const int count = result == 0 ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (result == 0) return count;
        if (error != EINVAL) break;
    }
    return 1;
}

} // namespace

bool start_thread(pthread_t& thread, const char* name, std::size_t stack_bytes, void* (*main)(void*), void* argument) noexcept {
    auto* start = new (std::nothrow) Start{main, argument};
    if (!start) return false;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&thread, &attributes, thread_main, start);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    if (error) {
        delete start;
        return false;
    }
    pthread_setname_np(thread, name);
    return true;
}

int count_processors() {
    int count = processors_in_mask();
    if (const int quota = control_group_cpus(); quota > 0) count = std::min(count, quota);
    if (const char* text = std::getenv("STITHY_THREADS")) {
        char* end = nullptr;
        const long wanted = std::strtol(text, &end, 10);
        if (wanted > 0 && *end == '\0')
            count = static_cast<int>(std::min<long>(count, wanted));
        else if (*text != '\0') // asked for once; no call is there to throw from
            std::fprintf(stderr, "stithy: STITHY_THREADS is '%s', expected a number from 1; it is ignored\n", text);
    }
    return std::max(count, 1);
}

} // namespace stithy::runtime
