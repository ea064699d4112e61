#!/usr/bin/env python3
"""Checks that includes under src/ and collect/ follow the house (docs/decisions, README).

Data flows file -> ingest -> Trace -> Links -> analysis -> Document -> writer, and includes point
only against it:

    base <- trace <- records <- kernels, floor, roof <- ingest, devices, flow <- findings <- text <- rooms <- report <- query
         <- answers <- cli; ingest <- serve <- cli

Of the rooms, only power may see devices: it drives them. The sampler (collect/sample) sees devices
too: it reads their sensors. It sees no room, and only cli sees it.

Rooms never include each other, writers never include rooms, collectors share one wire header with
ingest and nothing else. The Gaussian process in throughput/gp is mathematics: it knows no table, no
model and no GPU. Files are opened, looked at, listed, renamed and removed in base/files.cc and its
neighbours alone, so that no such call throws and each failure names its file. What a kernel is is decided in kernels/ alone: no other file holds lists of words of
kernel names. A third-party header stays in the folder and in as few .cc files as its line
below says, and out of every header: what one costs to compile is paid once. Files of one folder
are compiled as one: a function that one of them keeps to itself must not have the name of a header's
function that another one calls, which would call the wrong one without a word.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = ["launch", "overhead", "breakdown", "power", "throughput", "diff", "job", "hang"]
WIRE = "collect/wire.h"
READERS_OF_DOCUMENTS = {"document", "writers", "perfetto"}  # folders of report/

BELOW = {"base", "trace", "records", "kernels", "floor", "roof", "flow"}  # what every room may stand on

ALLOWED = {
    "base": {"base"},
    "trace": {"base", "trace"},
    "records": {"base", "trace", "records"},
    "kernels": {"base", "kernels"},
    "floor": {"base", "trace", "records", "floor"},
    "roof": {"base", "trace", "records", "kernels", "roof"},
    "ingest": {"base", "trace", "records", "kernels", "floor", "ingest"},
    "flow": {"base", "trace", "records", "kernels", "floor", "roof", "flow"},
    "findings": {"base", "trace", "kernels", "roof", "flow", "findings"},
    "text": {"base", "findings", "text"},
    "devices": {"base", "trace", "records", "devices"},
    "report": {*BELOW, "findings", "text", "report", *ROOMS},
    "query": {"base", "trace", "findings", "text", "report", "query"},
    "answers": {*BELOW, "findings", "text", "ingest", "report", "query", "answers", *ROOMS},
    "serve": {"base", "trace", "ingest", "serve"},
    "cli": {*BELOW, "findings", "text", "ingest", "devices", "report", "query", "answers", "serve", "cli", "collect", "collect/sample", *ROOMS},
    "collect": {"collect"},
    "collect/sample": {"base", "devices", "collect", "collect/sample"},
    **{room: {*BELOW, room} for room in ROOMS},
    "power": {*BELOW, "devices", "power"},
    "throughput": {"base", "trace", "records", "throughput", "throughput/gp"},
    "throughput/gp": {"base", "throughput/gp"},
}

# Whoever includes one of these has the library already.
HEADERS_OF_LIBRARIES = {"src/base/factorisations.h", "src/base/json_tree.h", "src/throughput/gp/products.h"}

# What a library's include path looks like, the folder it belongs to (None: any), and how many
# files there may have it.
THIRD_PARTY = [
    ("simdjson", r"simdjson(\.h|/)", None, 2),
    ("ISA-L", r"(isa-l|igzip_lib|crc)(\.h|/)", "base", 2),
    ("zstd", r"zstd\w*\.h", "base", 1),
    ("xxHash", r"xxhash\.h", "base", 2),
    ("libcsv", r"csv\.h", "ingest", 1),
    ("SQLite", r"sqlite3\w*\.h", "ingest", 2),
    ("nlohmann-json", r"nlohmann/", "base", 1),
    ("CLI11", r"CLI/", "cli", 1),
    ("Boost", r"boost/", "serve", 1),
    ("Eigen", r"Eigen/", None, 12),
    ("Ceres", r"ceres/", "throughput/gp", 1),
    ("<filesystem>", r"filesystem$", "base", 1),
    ("muParser", r"muParser\w*\.h", "breakdown", 1),
    ("libxlsxwriter", r"xlsxwriter(\.h|/)", "query", 1),
    ("XGBoost", r"xgboost/", "throughput", 1),
    ("MPI", r"mpi\.h", "cli", 1),
    ("libtorch", r"(ATen|c10|torch)/", "collect", 3),
]

# What an empty launch costs is decided in floor/ alone: elsewhere no type for it, no function that finds
# it and no sample of launches to an empty stream. GpuFloor and MeasuredFloor are rows of floor files, a
# FlowFloor is the least lag of an edge in the graph of a run, which begins where a call ends.
SECOND_FLOOR = re.compile(
    r"^\s*struct (?!GpuFloor\b|MeasuredFloor\b|FlowFloors?\b)\w*Floor\b(?!\s*;)"
    r"|^\S.*\b(?:find|choose|pick|guess|derive|compute|estimate)\w*_floor\w*\([^;]*\{"
    r"|\b(?:k\w*)?empty_?stream\w*\s*[=({]",
    re.MULTILINE | re.IGNORECASE,
)

# What a kernel is is decided in kernels/ alone: elsewhere no enumeration of kinds, and no function that
# makes one of a name. A word for kernels in quotes is looked for below.
SECOND_KIND = re.compile(
    r"^\s*enum (?:class |struct )?\w*Kernel(?:Kind|Type|Family|Class|Category)s?\b"
    r"|^\S.*\b(?:classify|guess|decide|derive|find)\w*_kernel(?:_kind|_type|_family|_class)?\((?:const )?std::string[^;]*\{"
    r"|^\S.*\bkernel_(?:kind|type|family|class)\w*\((?:const )?std::string(?:_view)?\b[^;]*\{",
    re.MULTILINE,
)

# A way to files beside base/files.h: some of these throw, others say nothing when they fail.
FILE_CALL = re.compile(
    r"(?<![\w.>:])(?:std::|::)?(?:fopen|freopen|tmpfile|mkdtemp|mkstemp|opendir|realpath|readlink)\s*\("
    r"|std::(?:basic_)?[io]?fstream\b"
    r"|(?<![\w>])::(?:open|openat|creat|stat|lstat|rename|unlink|mkdir|rmdir|glob|truncate)\s*\("
    r"|std::(?:rename|remove)\([^,()]*c_str\(\)"
)
# What differs between the systems that Assay is built for: a test for one of them, and calls that one of them has otherwise.
OF_A_SYSTEM = re.compile(r"\b__EMSCRIPTEN__\b|<emscripten|\bEM_(?:JS|ASM)\w*\(|::(?:pread|isatty|malloc_trim)\(|\bSYS_\w+|std::bit_cast\b")
PLATFORM = "src/base/platform/"
FILE_HOMES = {"src/base/files.cc", "src/base/temporaries.cc", "src/base/output_file.cc", "src/base/real_path.cc"}
# A tree is made of a JSON text only after it was asked how deep it goes: its walkers recurse.
JSON_TREE = re.compile(r"\b[Jj]son::(?:sax_)?parse\(")

# Slow to compile and rarely needed: fine in a .cc file, not in a header that everyone pays for.
NOT_IN_HEADERS = {"iostream", "regex", "filesystem"}

# What a kernel is, its name tells kernels/ alone: elsewhere a word of kernel names in quotes is taken
# for a second list of them. Each exception says which other names it reads.
KERNEL_WORDS = re.compile(
    r'"(?:[a-z0-9_ ]*_)?(?:gemm|gemv|cutlass|cublas|cublaslt|cudnn|nvjet|xmma|cijk_?|wgrad|dgrad|fprop|winograd|convolve|conv2d|'
    r'nccl(?:devkernel|kernel)?|rccl|nvshmem|mscclpp?|all_?reduce|reduce_?scatter|cross_device_reduce|elementwise(?:_kernel)?|'
    r'reduce_kernel|softmax|layer_?norm|rms_?norm|batch_?norm|fmha|flash(?:_fwd|_bwd)?|attn(?:_fwd|_bwd)?|attention|'
    r'triton_|multi_tensor(?:_apply)?|catarraybatchedcopy|direct_copy_kernel|radix_?sort|topk|act_and_mul)(?:_[a-z0-9_]*)?"')
MATCHING = re.compile(r"(?:contains|find|starts_with|ends_with|has|in_name|in_text|any_of|search)\w*\s*\(|"
                      r"std::array<\s*std::string_view|initializer_list<std::string_view>|const char\*")
OTHER_NAMES = {
    "src/flow/facts.cc": "names of operators that move data",
    "src/trace/phases.cc": "names of operators, labels and kernels alike, only to see that something attends",
    "src/breakdown/modules.cc": "classes of modules and operators",
    "src/breakdown/structure.cc": "names that Chopper gives operations",
    "src/breakdown/labels.cc": "labels of record_function",
    "src/breakdown/figures.cc": "names that Chopper gives operations",
    "src/breakdown/token_groups.cc": "names of collectives, as kernels/ tells them",
    "src/roof/product.cc": "operators",
    "src/roof/convolution.cc": "operators",
    "src/roof/attention.cc": "operators",
    "src/roof/streams.cc": "operators",
    "src/roof/work.cc": "kinds of work",
    "src/roof/collective.cc": "names of collectives, as kernels/ tells them",
    "src/breakdown/place.cc": "names of operators",
    "src/throughput/physics.cc": "parts of a model",
    "src/ingest/nsys/host_rows.cc": "tables and ranges of host libraries",
    "src/ingest/rocprof/json.cc": "sections of the file",
    "src/ingest/pftrace/rocprof_rows.cc": "categories of track events",
    "src/ingest/flight/dump.cc": "keys of a dump",
    "src/answers/hang.cc": "names of logs",
    "src/hang/hang.cc": "operations of a dump",
    "src/devices/workload.cc": "workloads as the user types them",
    "src/devices/simulated_parts.cc": "workloads as the user types them",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def room_of(parts):
    """The room a path starts in: its first folder, or its first two where those are a room."""
    folder = "/".join(parts[:2])
    return folder if folder in ALLOWED else parts[0]


def kernel_lists(name, text):
    """Lines that match kernel names by words of their own."""
    if not name.startswith("src/") or name.startswith(("src/kernels/", "src/report/")) or name in OTHER_NAMES:
        return []
    lines = text.splitlines()
    found = []
    for number, line in enumerate(lines):
        word = KERNEL_WORDS.search(line.split("//")[0])
        nearby = " ".join(lines[max(0, number - 4):number + 1])
        if word and MATCHING.search(nearby):
            found.append(f"{name}:{number + 1}: {word.group()} looks like a list of kernel names; ask kernels/ "
                         "(data/kernel_kinds.txt)")
    return found


# What is said follows from facts alone: who decides it, and who words it, reads no table of a trace.
TRACE_TABLE = re.compile(r"\.(?:activities|ops|api_calls|frames|annotations|transfers|overheads|other_events)\b")


def second_homes(name, room, text):
    """What is decided here and has its home elsewhere."""
    problems = kernel_lists(name, text)
    if room in ("findings", "text"):
        problems += [f"{name}: '{found.group()}': {room}/ reads no table of a trace; facts come from flow/facts.h"
                     for found in TRACE_TABLE.finditer(re.sub(r"//[^\n]*", "", text))]
    if room != "floor":
        problems += [f"{name}: '{first_line(found)}': the launch floor is found in floor/"
                     for found in SECOND_FLOOR.finditer(text)]
    if room != "kernels" and name.startswith("src/"):
        problems += [f"{name}: '{first_line(found)}': what a kernel is is told by kernels/"
                     for found in SECOND_KIND.finditer(text)]
    if name.startswith("src/") and name not in FILE_HOMES:
        code = re.sub(r"//[^\n]*", "", text)
        problems += [f"{name}: '{found.group().strip()}' is another way to files than base/files.h"
                     for found in FILE_CALL.finditer(code)]
    if name.startswith("src/") and not name.startswith(PLATFORM):
        problems += [f"{name}: '{found.group().strip()}' belongs to {PLATFORM}, the one seam between systems"
                     for found in OF_A_SYSTEM.finditer(text)]
        problems += [f"{name}: {found.group(1)} has a fraction: parse_double() of base/decimal.h reads it everywhere"
                     for found in FRACTION_CHARS.finditer(text)]
    if JSON_TREE.search(text) and "nested_too_deep(" not in text:
        problems.append(f"{name}: parses JSON into a tree without nested_too_deep() (base/json_string.h)")
    return problems


# A number with a fraction, and the call that reads or writes it; emscripten's library has none for those.
FRACTION_CHARS = re.compile(r"\bdouble (\w+)[^;]*;(?:(?!^\})[\s\S])*?std::(?:from|to)_chars\([^;]*\b\1\)", re.M)


def first_line(found):
    return found.group().strip().splitlines()[0]


def third_party(name, room, quote, target, users):
    problems = []
    is_header = name.endswith(".h")
    for library, pattern, home, _ in THIRD_PARTY:
        if re.match(pattern, target):
            users[library].append(name)
            if home not in (None, room):
                problems.append(f"{name}: <{target}> belongs to {home}/")
            if is_header and name not in HEADERS_OF_LIBRARIES:
                problems.append(f"{name}: a header includes <{target}>")
    if quote == "<" and is_header and target in NOT_IN_HEADERS:
        problems.append(f"{name}: a header includes <{target}>")
    return problems


def own_include(name, room, target):
    if target == WIRE and room == "ingest":
        return []
    problems = []
    other = room_of(target.split("/"))
    folder = name.split("/")[2]
    if other not in ALLOWED[room]:
        problems.append(f'{name}: {room} must not include "{target}"')
    elif other in ROOMS and room == "report" and folder in READERS_OF_DOCUMENTS:
        problems.append(f'{name}: documents and writers know no room, not "{target}"')
    if not any((ROOT / base / path).exists() for base in ("src", ".") for path in (target, target + ".in")):
        problems.append(f'{name}: "{target}" does not exist (paths start at src/)')
    return problems


def problems_of(name, text, users):
    """name: from the top of the tree. users: files by library, to which this one is added."""
    room = room_of(name.removeprefix("src/").split("/"))
    if room not in ALLOWED:
        return [f"{name}: the folder '{room}' has no place in the house"]
    problems = second_homes(name, room, text)
    for quote, target in INCLUDE.findall(text):
        problems += third_party(name, room, quote, target, users)
        if quote == '"':
            problems += own_include(name, room, target)
    return problems


# A function at the beginning of a line.
FUNCTION = re.compile(r"^(?! )(?:\[\[nodiscard\]\] )?(?:inline |constexpr |static )*[\w:<>,*& ]+?[ *&](\w+)\(", re.M)


def own_functions(text):
    """The names of the functions that a .cc file keeps to itself."""
    parts = re.findall(r"^namespace \{$(.*?)^\}  // namespace$", text, re.M | re.S)
    return {found for part in parts for found in FUNCTION.findall(part)}


def hidden_names(texts):
    """texts: by the file's name. Functions of headers that a neighbour's own function hides."""
    declared = {name.removeprefix("src/"): set(FUNCTION.findall(text))
                for name, text in texts.items() if name.endswith(".h")}
    folders = {}
    for name in texts:
        if name.endswith(".cc"):
            folders.setdefault(name.rpartition("/")[0], []).append(name)
    problems = []
    for names in folders.values():
        own = {name: own_functions(texts[name]) for name in names}
        for caller in names:
            seen = set().union(*(declared.get(target, set()) for _, target in INCLUDE.findall(texts[caller])))
            called = seen & set(re.findall(r"(?<![\w.>:])(\w+)\(", texts[caller]))
            for name in names:
                problems += [f"{name}: its own {hidden}() hides the header's that {caller} calls"
                             for hidden in sorted(called & own[name]) if name != caller]
    return problems


# What must be found, each where it once stood or might: file, text, a part of what is said.
PLANTED = [
    ("src/overhead/families.h", "enum class KernelFamily : uint8_t { kGemm, kOther };\n", "told by kernels/"),
    ("src/breakdown/types.cc", "KernelKind classify_kernel(std::string_view name) {\n", "told by kernels/"),
    ("src/launch/kinds.cc", "int kernel_kind_of(const std::string& name) {\n", "told by kernels/"),
    ("src/power/names.cc", 'bool is_gemm(std::string_view name) { return contains(name, "cutlass"); }\n',
     "list of kernel names"),
    ("src/launch/queue.h", "struct LaunchFloor {\n  double ns = 0;\n};\n", "found in floor/"),
    ("src/overhead/measured.cc", "Result<double> estimate_floor_ns(const Trace& trace) {\n", "found in floor/"),
    ("src/overhead/writer.cc", 'FILE* file = std::fopen("x", "w");\n', "another way to files"),
    ("src/diff/tree.cc", "auto json = Json::parse(text);\n", "nested_too_deep"),
    ("src/overhead/sees.cc", '#include "launch/tree.h"\n', "must not include"),
    ("src/report/writers/sees.cc", '#include "launch/tree.h"\n', "know no room"),
    ("src/cli/main.cc", "#ifdef __EMSCRIPTEN__\n", "one seam between systems"),
    ("src/flow/times.cc", "double number = 0;\nconst auto [stop, error] = std::from_chars(from, end, number);\n",
     "parse_double"),
    ("src/ingest/load.cc", "got = ::pread(fd, dst, n, at);\n", "one seam between systems"),
    ("src/base/sees.h", "#include <regex>\n", "a header includes"),
    ("src/overhead/data.cc", "#include <sqlite3.h>\n", "belongs to ingest/"),
    ("src/more/a.cc", "\n", "no place in the house"),
]
FINE = [
    ("src/base/platform/wasm.cc", "#include <emscripten.h>\n"),
    ("src/kernels/kind.h", "enum class KernelKind : uint8_t { kGemm };\n"),
    ("src/floor/floor.h", "struct LaunchFloor {\n  double ns = 0;\n};\n"),
    ("src/launch/queue.h", "struct LaunchFloor;\n"),
    ("src/throughput/gp/form.h", "enum class KernelForm : uint8_t { kRbf };\n"),
    ("src/overhead/rows.cc", "const KernelKind kind = facts.kernel_kind(row);\n"),
]


HEADER = {"src/base/files.h": "std::string joined(const std::string& folder, const std::string& name);\n"}
OWN = "namespace {\nstd::string joined(const std::string& a, const std::string& b) {\n}\n}  // namespace\n"
CALLER = '#include "base/files.h"\nreturn joined(root, below);\n'


def self_test_of_names():
    hides = HEADER | {"src/query/own.cc": OWN, "src/query/caller.cc": CALLER}
    apart = HEADER | {"src/query/own.cc": OWN, "src/diff/caller.cc": CALLER}
    return ([] if hidden_names(hides) else ["a planted hidden name was not found"]) + hidden_names(apart)


def self_test():
    """The planted faults that were not found, and the fine lines that were taken for one."""
    users = {library: [] for library, *_ in THIRD_PARTY}
    missed = [f"a planted fault was not found: {name}: {text.strip()!r}" for name, text, words in PLANTED
              if not any(words in problem for problem in problems_of(name, text, users))]
    return missed + [f"taken for a fault: {problem}" for name, text in FINE
                     for problem in problems_of(name, text, users)]


def main():
    problems = self_test() + self_test_of_names()
    users = {library: [] for library, *_ in THIRD_PARTY}
    files = sorted(
        path
        for top in ("src", "collect")
        for path in (ROOT / top).rglob("*")
        if path.suffix in (".cc", ".h", ".cu")
    )
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in files}
    problems += hidden_names(texts)
    for name, text in texts.items():
        problems += problems_of(name, text, users)
    for library, _, _, limit in THIRD_PARTY:
        sources = sorted(set(users[library]))
        if len(sources) > limit:
            problems.append(
                f"{library} is included by {len(sources)} files, at most {limit} may: "
                + ", ".join(sources)
            )
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    print(f"layers: {len(files)} files fine, {len(PLANTED)} planted faults found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
