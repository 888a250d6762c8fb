#include "cpu/kernel_cache.hpp"

#include "base/error.hpp"
#include "cpu/compiler_module.hpp"
#include "cpu/features.hpp"
#include "cpu/object_loader.hpp"
#include "cpu/symbols.hpp"
#include "plan/nest.hpp"
#include "runtime/disk_cache.hpp"
#include "runtime/hash.hpp"
#include "runtime/parallel.hpp"
#include "runtime/stats.hpp"

#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace stithy::cpu {

namespace {

/// The nest's identity as bytes: its instructions (their padding is zero) and the names it calls.
std::string key_of(const plan::Nest& nest) {
    std::string key;
    key.reserve(nest.code.size() * sizeof(plan::Instruction) + 16 * nest.symbols.size() + 8);
    key.append(reinterpret_cast<const char*>(nest.code.data()), nest.code.size() * sizeof(plan::Instruction));
    for (const std::string& symbol : nest.symbols) {
        key += '\n';
        key += symbol;
    }
    return key;
}

/// The same without making the text.
bool is_key_of(std::string_view key, const plan::Nest& nest) {
    const std::size_t bytes = nest.code.size() * sizeof(plan::Instruction);
    if (key.size() < bytes || (bytes != 0 && std::memcmp(key.data(), nest.code.data(), bytes) != 0)) return false;
    key.remove_prefix(bytes);
    for (const std::string& symbol : nest.symbols) {
        if (key.size() <= symbol.size() || key[0] != '\n' || key.substr(1, symbol.size()) != symbol) return false;
        key.remove_prefix(symbol.size() + 1);
    }
    return key.empty();
}

struct Entry {
    std::string key;
    runtime::NativeFunction code = nullptr;
    pid_t maker = 0; ///< process whose thread makes the code: a forked child does not wait for a thread that it lacks
};

struct Table {
    std::mutex mutex;
    std::condition_variable changed;
    std::unordered_multimap<runtime::Hash128, std::unique_ptr<Entry>> entries;
    std::size_t ready = 0;

    Entry* find(const plan::Nest& nest) {
        const auto [first, last] = entries.equal_range(nest.hash);
        for (auto it = first; it != last; ++it)
            if (is_key_of(it->second->key, nest)) return it->second.get();
        return nullptr;
    }
    void erase(const runtime::Hash128& hash, const Entry* entry) {
        const auto [first, last] = entries.equal_range(hash);
        for (auto it = first; it != last; ++it)
            if (it->second.get() == entry) {
                entries.erase(it);
                return;
            }
    }
};

// Never destroyed: queued work may still ask for code while the process ends.
Table& table() {
    static Table* const the_table = [] {
        // A child must not find the lock held by a thread that it lacks.
        pthread_atfork([] { table().mutex.lock(); }, [] { table().mutex.unlock(); }, [] { table().mutex.unlock(); });
        return new Table();
    }();
    return *the_table;
}

runtime::NativeFunction load(const std::string& object) {
    const LoadedCode code = load_object(std::as_bytes(std::span(object)), find_symbol);
    void* entry = code.symbol(entry_symbol);
    internal_check(entry != nullptr, "compiled object has no entry");
    return reinterpret_cast<runtime::NativeFunction>(entry);
}

/// From the disk, else from the compiler.
runtime::NativeFunction make_code(const plan::Nest& nest) {
    const std::string key = key_of(nest);
    const TargetOptions options = target_options();
    const std::string disk_key = "kernel " + std::to_string(runtime::native_abi_version) + " " + target_key() +
                                 (options.bounds_checks ? " checked " : " ") + build_identity() + "\n" + key;
    const runtime::Hash128 hash = runtime::hash128(disk_key);
    if (const std::optional<std::string> object = runtime::disk_get(hash, disk_key)) {
        try {
            return load(*object);
        } catch (const InternalError&) {
            // An entry that does not link is as good as none.
        }
    }
    const CompileResult result = compile_nest(nest, options);
    runtime::bump(&runtime::Counters::kernels_compiled);
    const runtime::NativeFunction code = load(result.object);
    runtime::disk_put(hash, disk_key, result.object);
    return code;
}

} // namespace

runtime::NativeFunction native_code(const plan::Nest& nest) {
    const pid_t self = getpid();
    Table& t = table();
    Entry* entry = nullptr;
    {
        std::unique_lock lock(t.mutex);
        while ((entry = t.find(nest)) != nullptr) {
            if (entry->code != nullptr) {
                runtime::bump(&runtime::Counters::kernel_cache_hits);
                return entry->code;
            }
            if (entry->maker != self) break;
            t.changed.wait(lock);
        }
        if (entry == nullptr) {
            auto fresh = std::make_unique<Entry>();
            fresh->key = key_of(nest);
            entry = fresh.get();
            t.entries.emplace(nest.hash, std::move(fresh));
        }
        entry->maker = self;
    }
    // No lock is held here. Those who want the same code wait; if this fails, each of them tries for itself.
    try {
        const runtime::NativeFunction code = make_code(nest);
        const std::lock_guard lock(t.mutex);
        entry->code = code;
        ++t.ready;
        t.changed.notify_all();
        return code;
    } catch (...) {
        const std::lock_guard lock(t.mutex);
        t.erase(nest.hash, entry);
        t.changed.notify_all();
        throw;
    }
}

std::vector<runtime::NativeFunction> native_code(std::span<const plan::Nest* const> nests) {
    std::vector<runtime::NativeFunction> code(nests.size(), nullptr);
    std::vector<std::size_t> missing;
    Table& t = table();
    for (std::size_t i = 0; i < nests.size(); ++i) {
        const std::lock_guard lock(t.mutex);
        const Entry* entry = t.find(*nests[i]);
        if (entry == nullptr || entry->code == nullptr)
            missing.push_back(i);
        else
            code[i] = entry->code;
    }
    for (std::size_t i = missing.size(); i < nests.size(); ++i) runtime::bump(&runtime::Counters::kernel_cache_hits);
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    const auto work = [&] {
        for (std::size_t i = next++; i < missing.size(); i = next++) {
            try {
                code[missing[i]] = native_code(*nests[missing[i]]);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
            }
        }
    };
    std::vector<std::thread> helpers;
    const auto wanted = std::min(missing.size(), static_cast<std::size_t>(runtime::thread_count()));
    try {
        for (std::size_t i = 1; i < wanted; ++i) helpers.emplace_back(work);
    } catch (const std::system_error&) {
        // Fewer threads do as well.
    }
    work();
    for (std::thread& helper : helpers) helper.join();
    if (failure) std::rethrow_exception(failure);
    return code;
}

CompileResult compile_text(const plan::Nest& nest) {
    TargetOptions options = target_options();
    options.want_object = false;
    options.want_ir = options.want_assembly = true;
    return compile_nest(nest, options);
}

std::string compile_object(const plan::Nest& nest, const std::string& name) {
    TargetOptions options = target_options();
    options.entry = name;
    return compile_nest(nest, options).object;
}

std::string compiler_version() { return compiler_module().version(); }

std::string compiler_path() { return compiler_module_path(); }

std::size_t kernels_in_memory() {
    Table& t = table();
    const std::lock_guard lock(t.mutex);
    return t.ready;
}

} // namespace stithy::cpu
