#include "stithy/jit.hpp"

#include "array/bind.hpp"
#include "base/small_vector.hpp"
#include "cpu/executable.hpp"
#include "runtime/stats.hpp"
#include "trace/replay.hpp"
#include "trace/staging.hpp"

#include <list>
#include <mutex>
#include <unordered_map>

namespace stithy {

namespace {
thread_local int jit_disabled = 0;
}

disable_jit::disable_jit() { ++jit_disabled; }
disable_jit::~disable_jit() { --jit_disabled; }
bool disable_jit::active() { return jit_disabled > 0; }

namespace detail {

namespace {

/// One traced signature.
struct Entry final : public RefCounted {
    std::string key;
    std::size_t static_bytes = 0; ///< of `key`: what is not arrays
    std::vector<ir::Type> leaves;
    ir::FunctionPtr function; ///< leaves.., captures.. -> results..
    Arrays captures;
    bool captures_traces = false; ///< then it serves one call only
    std::shared_ptr<const Prototype> prototype;
    std::once_flag compiled;
    Ref<cpu::Executable> executable;
};

void append(std::string& key, const void* data, std::size_t bytes) { key.append(static_cast<const char*>(data), bytes); }

/// Key of a call: static leaves, then dtype, rank and extents of each array.
void signature(std::string& key, const JitArguments& arguments, const Location& at) {
    key.assign(arguments.key());
    for (std::size_t i = 0; i < arguments.leaves().size(); ++i) {
        const Array* x = arguments.leaves()[i];
        if (!x->defined()) [[unlikely]]
            check_usable(*x, i, "the arguments", "jit", at);
        const ArrayNode& n = node(*x);
        const Shape& shape = n.shape();
        const auto head = static_cast<std::uint32_t>(n.dtype().code()) | static_cast<std::uint32_t>(shape.rank()) << 8;
        append(key, &head, sizeof head);
        append(key, shape.begin(), shape.rank() * sizeof(std::int64_t));
    }
}

std::string describe_change(const Entry& before, const Entry& now) {
    if (before.leaves.size() != now.leaves.size())
        return "the arguments hold " + std::to_string(now.leaves.size()) + " arrays instead of " + std::to_string(before.leaves.size());
    std::string text;
    for (std::size_t i = 0; i < now.leaves.size(); ++i)
        if (!(before.leaves[i] == now.leaves[i]))
            text += (text.empty() ? "" : "; ") + std::string("array ") + std::to_string(i) + " of the arguments is " + now.leaves[i].str() +
                    " instead of " + before.leaves[i].str();
    if (std::string_view(before.key).substr(0, before.static_bytes) != std::string_view(now.key).substr(0, now.static_bytes))
        text += std::string(text.empty() ? "" : "; ") + "a static value (number, enum, string, size of a container) changed";
    return text.empty() ? "the same signature was dropped from the cache meanwhile" : text;
}

} // namespace

Prototype::~Prototype() = default;

JitArguments::JitArguments(const void* types) {
    leaves_.reserve(16);
    dying_.reserve(16);
    append(key_, static_cast<const void*>(&types), sizeof types);
}
void JitArguments::add(TreeRef tree, bool gives) {
    ++count_;
    gives_ = gives;
    tree.visit(tree.tree, *this);
}
void JitArguments::array(Array& x) {
    leaves_.push_back(&x);
    dying_.push_back(gives_ ? 1 : 0);
}
void JitArguments::value(const void* data, std::size_t size) { append(key_, data, size); }
void JitArguments::shape(const void* data, std::size_t size) { append(key_, data, size); }

/// Signatures traced so far, the most recently used first; bounded.
class JitCache {
public:
    JitCache(const JitOptions& options, const Location& at) : options_(options) {
        if (!(Device(options.device, at) == Device()))
            fail("jit", "device \"" + options.device + "\" is not available, expected \"cpu\"", at);
        for (int i : options.donate)
            if (i < 0) fail("jit", "donate: argument " + std::to_string(i) + ", expected a number from 0", at);
        if (options.threads < 0) fail("jit", "threads: " + std::to_string(options.threads) + ", expected a number from 0", at);
    }

    Ref<Entry> find(std::string_view key) {
        std::lock_guard lock(mutex_);
        if (!entries_.empty() && entries_.front()->key == key) return entries_.front();
        const auto found = by_key_.find(std::string_view(key));
        if (found == by_key_.end()) return {};
        entries_.splice(entries_.begin(), entries_, found->second);
        return entries_.front();
    }

    void add(const Ref<Entry>& entry, bool keep) {
        std::lock_guard lock(mutex_);
        ++traced_;
        before_ = entries_.empty() ? Ref<Entry>() : entries_.front(); // the call before
        newest_ = keep ? entry : Ref<Entry>();
        if (!keep) return;
        entries_.push_front(entry);
        by_key_.erase(entry->key); // of two racing tracings the later one stays
        by_key_.emplace(entry->key, entries_.begin());
        if (entries_.size() <= most_entries) return;
        if (const auto oldest = by_key_.find(entries_.back()->key); oldest != by_key_.end() && oldest->second == std::prev(entries_.end()))
            by_key_.erase(oldest);
        entries_.pop_back();
    }

    std::string why() {
        std::lock_guard lock(mutex_);
        if (traced_ == 0) return "not traced yet";
        if (traced_ == 1) return "traced once: the first call";
        return "traced " + std::to_string(traced_) + " times; last since " +
               (before_ && newest_ ? describe_change(*before_, *newest_) : std::string("what it captured belongs to a trace"));
    }
    [[nodiscard]] const JitOptions& options() const { return options_; }

private:
    static constexpr std::size_t most_entries = 512;
    JitOptions options_;
    std::mutex mutex_;
    std::list<Ref<Entry>> entries_;
    std::unordered_map<std::string_view, std::list<Ref<Entry>>::iterator> by_key_; ///< views into the entries' keys
    Ref<Entry> before_, newest_; ///< what the latest tracing is compared with, and its own; none where it served one call
    std::uint64_t traced_ = 0;
};

std::shared_ptr<JitCache> make_jit_cache(const JitOptions& options, const std::source_location& location) {
    return std::make_shared<JitCache>(options, location);
}
std::string explain(const JitCache& cache) { return const_cast<JitCache&>(cache).why(); }

namespace {

Ref<Entry> trace(JitCache& cache, const JitArguments& given, TraceFunction function, std::string_view key, const Location& at) {
    Ref<Entry> entry = make_ref<Entry>();
    entry->key = key;
    entry->static_bytes = given.key().size();
    for (int i : cache.options().donate)
        if (i >= given.count())
            fail("jit", "donate: argument " + std::to_string(i) + " of a function of " + std::to_string(given.count()) + ", counted from 0",
                 at);
    auto staging = make_ref<StagingTrace>("jit");
    Arrays leaves, results;
    std::unique_ptr<Prototype> prototype;
    {
        TraceScope scope(*staging);
        for (const Array* x : given.leaves()) {
            entry->leaves.push_back(node(*x).type());
            leaves.push_back(staging->parameter(entry->leaves.back(), at));
        }
        results = function(leaves, prototype);
        for (std::size_t i = 0; i < results.size(); ++i) check_usable(results[i], i, "the result", "jit", at);
        staging->take_results(results);
        entry->function = staging->finish(results);
    }
    entry->prototype = std::move(prototype);
    entry->captures = staging->captures();
    for (const Array& x : entry->captures) entry->captures_traces = entry->captures_traces || node(x).traced();
    runtime::bump(&runtime::Counters::traces);
    cache.add(entry, !entry->captures_traces);
    return entry;
}

void compile(Entry& entry, const JitOptions& options) {
    std::call_once(entry.compiled, [&] {
        cpu::CompileOptions o;
        o.threads = options.threads;
        if (!options.donate.empty()) o.donated.assign(entry.leaves.size(), true); // a hint; each call decides by what it was given
        entry.executable = cpu::Executable::make(entry.function, o);
    });
}

Arrays run(const Entry& entry, const JitArguments& given, const Location& at) {
    const std::span<Array* const> leaves = given.leaves();
    const std::size_t n = leaves.size(), all = n + entry.captures.size();
    SmallVector<Ref<runtime::Buffer>, 8> inputs;
    inputs.reserve(all);
    SmallVector<std::uint64_t, 2> reusable;
    reusable.resize((all + 63) / 64 + 1);
    for (std::uint64_t& w : reusable) w = 0;
    // A handle that is given away twice is given away at its last place.
    const auto gives = [&](std::size_t i) {
        if (!given.dying(i)) return false;
        for (std::size_t j = i + 1; j < n; ++j)
            if (leaves[j] == leaves[i]) return false;
        return true;
    };
    for (std::size_t i = 0; i < n; ++i) {
        const bool dying = gives(i);
        if (dying) reusable[i / 64] |= std::uint64_t{1} << (i % 64);
        inputs.push_back(take_buffer(*leaves[i], dying));
    }
    for (const Array& x : entry.captures) inputs.push_back(node(x).buffer());
    const auto& types = entry.executable->result_types();
    SmallVector<Ref<runtime::Buffer>, 4> outputs;
    outputs.resize(types.size());
    entry.executable->call(std::span<Ref<runtime::Buffer>>(inputs.data(), inputs.size()),
                           cpu::Reusable(std::span<const std::uint64_t>(reusable.data(), reusable.size())),
                           std::span<Ref<runtime::Buffer>>(outputs.data(), outputs.size()), at);
    for (std::size_t i = 0; i < n; ++i)
        if (given.dying(i)) *leaves[i] = Array();
    Arrays results;
    results.reserve(types.size());
    for (std::size_t r = 0; r < types.size(); ++r)
        results.push_back(make_concrete(types[r].dtype(), types[r].shape(), std::move(outputs[r]), at));
    return results;
}

} // namespace

std::vector<Array> call_jitted(JitCache& cache, const JitArguments& given, TraceFunction function,
                               std::shared_ptr<const Prototype>& prototype, const std::source_location& location) {
    thread_local std::string key_space;
    std::string key = std::move(key_space); // tracing may call jitted functions
    signature(key, given, location);
    Trace* outer = innermost_staging();
    for (const Array* x : given.leaves()) outer = join_trace(outer, *x, "jit", location);
    Ref<Entry> entry = cache.find(key);
    if (!entry) entry = trace(cache, given, function, key, location);
    key_space = std::move(key);
    prototype = entry->prototype;
    for (const Array& x : entry->captures) outer = join_trace(outer, x, "jit", location);
    if (!outer) {
        compile(*entry, cache.options());
        return run(*entry, given, location);
    }
    Arrays arguments;
    for (const Array* x : given.leaves()) arguments.push_back(*x);
    arguments.insert(arguments.end(), entry->captures.begin(), entry->captures.end());
    const ir::FunctionPtr regions[] = {entry->function};
    return outer->bind({.code = ir::OpCode::call,
                        .operands = arguments,
                        .attr = ir::make_attr(ir::CallAttr{entry->function->name()}),
                        .regions = regions,
                        .declared = {},
                        .location = location});
}

} // namespace detail
} // namespace stithy
