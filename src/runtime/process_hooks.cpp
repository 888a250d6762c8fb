#include "runtime/process_hooks.hpp"

#include "runtime/large_blocks.hpp"
#include "runtime/parallel_pool.hpp"
#include "runtime/queue_registry.hpp"
#include "runtime/small_blocks.hpp"

#include <cstdlib>
#include <pthread.h>

namespace stithy::runtime {
namespace {

// Locks are taken in the order in which the library itself nests them.
void before_fork() {
    prepare_queues_for_fork();
    large_blocks().mutex().lock();
    lock_small_blocks();
}

void after_fork_in_parent() {
    unlock_small_blocks();
    large_blocks().mutex().unlock();
    release_queues_after_fork(false);
}

void after_fork_in_child() {
    unlock_small_blocks();
    large_blocks().mutex().unlock();
    reset_pool_after_fork();
    release_queues_after_fork(true);
}

void at_exit() {
    close_queues();
    stop_pool();
}

} // namespace

void install_process_hooks() noexcept {
    static const bool installed = [] {
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
        std::atexit(at_exit);
        return true;
    }();
    static_cast<void>(installed);
}

} // namespace stithy::runtime
