#include "cpu/libraries.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <cstring>

namespace stithy::cpu {

namespace {

struct Description {
    const char* name;
    const char* package;
    const char* variable;                ///< environment variable with a path to use instead
    std::vector<const char*> candidates; ///< tried in order
};

Description description(Library library) {
    if (library == Library::openblas)
        // The serial build: others have threads of their own, and all builds share a soname, so a plain name could give any of them.
        return {"OpenBLAS",
                "libopenblas0-serial",
                "STITHY_OPENBLAS",
                {"/usr/lib/x86_64-linux-gnu/openblas-serial/libopenblas.so.0", "/usr/lib/x86_64-linux-gnu/openblas-serial/libblas.so.3"}};
    return {"oneDNN", "libdnnl2", "STITHY_ONEDNN", {"/usr/lib/x86_64-linux-gnu/libdnnl.so.2", "libdnnl.so.2"}};
}

int load_flags() {
    int flags = RTLD_NOW | RTLD_LOCAL;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return flags; // the sanitizers' run time refuses RTLD_DEEPBIND
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return flags;
#endif
#endif
    // Else the library's inner calls bind to a BLAS that the host program has loaded.
    flags |= RTLD_DEEPBIND;
    return flags;
}

std::string version_of(Library library, void* handle) {
    if (library == Library::openblas) {
        // "OpenBLAS 0.3.21 DYNAMIC_ARCH ... SapphireRapids SINGLE_THREADED"
        if (auto* config = reinterpret_cast<char* (*)()>(dlsym(handle, "openblas_get_config"))) {
            std::string text = config();
            if (auto* core = reinterpret_cast<char* (*)()>(dlsym(handle, "openblas_get_corename"));
                core != nullptr && text.find(core()) == std::string::npos)
                text += std::string(" ") + core();
            while (!text.empty() && text.back() == ' ') text.pop_back();
            return text;
        }
        return {};
    }
    struct Version { // the head of dnnl_version_t
        int major, minor, patch;
        const char* hash;
    };
    if (auto* version = reinterpret_cast<const Version* (*)()>(dlsym(handle, "dnnl_version"))) {
        const Version* v = version();
        return std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
    }
    return {};
}

struct Loaded {
    LibraryInfo info;
    void* handle = nullptr;
};

Loaded load(Library library) {
    const Description d = description(library);
    Loaded loaded;
    loaded.info.name = d.name;
    loaded.info.package = d.package;
    std::vector<const char*> candidates = d.candidates;
    if (const char* given = std::getenv(d.variable); given != nullptr && *given != '\0') candidates = {given};
    for (const char* path : candidates) {
        loaded.handle = dlopen(path, load_flags());
        if (loaded.handle != nullptr) {
            link_map* map = nullptr;
            loaded.info.path = dlinfo(loaded.handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr ? map->l_name : path;
            loaded.info.version = version_of(library, loaded.handle);
            return loaded;
        }
        const char* why = dlerror();
        if (loaded.info.why_missing.empty()) loaded.info.why_missing = why == nullptr ? "cannot be loaded" : why;
    }
    return loaded;
}

// Never unloaded: compiled code may hold its addresses.
const Loaded& loaded(Library library) {
    switch (library) {
    case Library::openblas: {
        static const auto* const openblas = new Loaded(load(library));
        return *openblas;
    }
    case Library::onednn: break;
    }
    static const auto* const onednn = new Loaded(load(Library::onednn));
    return *onednn;
}

} // namespace

const LibraryInfo& library_info(Library library) { return loaded(library).info; }

void* library_symbol(Library library, const char* name) {
    void* handle = loaded(library).handle;
    return handle == nullptr ? nullptr : dlsym(handle, name);
}

std::string describe_library_status(const runtime::NativeRecord& record) {
    if (record.status == status_bad_argument) return "an extent is too large for the library that does this";
    if (record.status != status_library_missing || record.detail[0] < 0 || record.detail[0] >= library_count) return {};
    const LibraryInfo& info = library_info(static_cast<Library>(record.detail[0]));
    std::string text = info.name + " is needed and cannot be loaded";
    if (!info.why_missing.empty()) text += " (" + info.why_missing + ")";
    return text + "; on Debian: apt-get install " + info.package;
}

std::vector<std::string> describe_libraries() {
    std::vector<std::string> lines;
    for (int i = 0; i < library_count; ++i) {
        const LibraryInfo& info = library_info(static_cast<Library>(i));
        if (info.why_missing.empty() || !info.path.empty())
            lines.push_back(info.name + ": " + info.version + ", " + info.path);
        else
            lines.push_back(info.name + ": missing (" + info.why_missing + "); on Debian: apt-get install " + info.package);
    }
    return lines;
}

} // namespace stithy::cpu
