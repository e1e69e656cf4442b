#!/usr/bin/env python3
"""Changes the sources in one place at a time and lists the changes that no test notices.

usage: mutate.py [COUNT] [PATH...] [--seed 1] [--jobs N] [--patience 600] [--kind KIND] [--again] [--report]

COUNT changes (20) of the files in PATH (lib app specs shaders) are made, in an order that the seed decides: the same
seed goes on where an earlier run stopped, whatever became of other files meanwhile. Headers are changed only where
PATH names them, as many files include them. --kind makes changes of this kind only, such as "clamp", "barrier",
"loop", "other tensor" or "lost error": changes.py has them all. All happens in build-mutate/: a copy of the tree (its
tracked and new files, as they are now), a build with -O1, temporary files, and results.jsonl with a line for each
change. The user's files are only read.

A change that does not compile, or after which the programs are the same byte for byte, is none. Tests run nearest
first, until one fails or takes far longer than before: the change was noticed. Tests that are near are always asked,
others for --patience seconds, as they take without a change. --again makes those changes again that survived.
--report prints what there is and changes nothing. Ctrl-C ends a run with a report.

Exit code 0 when every change was noticed, 1 when some survived. Needs Python, git, cmake and ninja."""
import argparse, concurrent.futures, contextlib, glob, hashlib, json, os, re, resource, shutil, signal, subprocess, sys, time

from changes import apply, changes_of

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOME = os.path.join(SOURCE, "build-mutate")
TREE, BUILD, RESULTS = (os.path.join(HOME, name) for name in ("tree", "build", "results.jsonl"))
SOURCES = (".cpp", "-inl.hpp", ".json", ".hlsl", ".hlsli", ".def")
TARGETS = ["dmlop", "dmlop_tests", "dmlop_faults", "dmlop_no_vulkan"]
MEMORY_BYTES = 8 << 30  # of a program that is tested: a lost bound may want all there is
SKIPPED = "skipped"  # an entry that notices nothing, as this machine lacks what it needs
LEAST_SECONDS = 120  # that an entry may take, however short it is otherwise: the machine may have other work

# Entries that need other machines' tools, or take long and look at what others look at, too.
NOT_ASKED = r"^(cluster_|package_|html_|soak)"
# Where a kernel runs on a GPU; nothing else reaches the shaders.
ON_GPU = r"gpu|vulkan"
# Entries that are near to all files of a folder, beside those that share a word with a file's name.
NEAR = {
    "shaders/": "gpu gpu_operators_counted",
    "lib/gpu/": "gpu gpu_operators_counted dispatch launches gpu_fault vulkan_fault device_choice",
    "lib/cpu/": "lp_pooling padding slice1 reverse_subsequences cpu_kernels conformance",
    "lib/fixes/": "fixes wrong_kinds refusal_values broadcast_advice",
    "lib/ops/": "plan tiling lp_pooling padding slice1 reverse_subsequences conformance",
    "lib/spec/": "spec field_kinds refusal_rules refusal_values refusal_tensors formula",
    "lib/json/": "json refusal far_side", "lib/npy/": "npy ends", "lib/base/": "file text diagnostic ends fault_files",
    "lib/model/": "model_run model_program model_refusal model_resources",
    "lib/batch/": "batch batch_reports batch_merge batch_resume batch_resume_changes",
    "lib/compare/": "compare tolerance golden picture",
    "app/": "cli help cli_streams",
    "specs/": "spec rule_refusal type_matrix feature_level golden_descriptions conformance schema",
}


def run(command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


# The copy of the tree and its build.

def tracked():
    names = run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=SOURCE).split("\0")
    return sorted(name for name in set(names) if name and os.path.isfile(os.path.join(SOURCE, name)))


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def write(name, data):
    path = os.path.join(TREE, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def copy_tree():
    """The names of its files. Only what differs is written, so that little is built again."""
    names = tracked()
    for folder, _, files in os.walk(TREE):
        for file in files:
            name = os.path.relpath(os.path.join(folder, file), TREE)
            if name not in names:
                os.remove(os.path.join(TREE, name))
    for name in names:
        path = os.path.join(TREE, name)
        if not os.path.isfile(path) or read(SOURCE, name) != read(TREE, name):
            write(name, read(SOURCE, name))
            shutil.copymode(os.path.join(SOURCE, name), path)
    return names


def configure():
    samples = os.path.join(HOME, "samples")  # help finds them beside the build folder
    if not os.path.islink(samples):
        os.symlink(os.path.join(TREE, "samples"), samples)
    run(["cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
         "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", "-DCMAKE_CXX_FLAGS=-DHWY_COMPILE_ONLY_STATIC", "-DDMLOP_TESTS=ON",
         "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"])


def build():
    """Whether it can be built; the compiler's words otherwise."""
    done = subprocess.run(["cmake", "--build", BUILD, "--target", *TARGETS], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    return done.returncode == 0, done.stdout


def programs():
    """What tells the built programs from those of another tree."""
    digest = hashlib.sha256()
    for name in ("dmlop", "dmlop_tests"):
        digest.update(read(BUILD, name))
    return digest.hexdigest()


# The tests.

class Entries:
    """The entries of ctest: which are there, how long they take, and in what order a file's are asked."""

    def __init__(self, jobs):
        listed = json.loads(run(["ctest", "--test-dir", BUILD, "--show-only=json-v1"]))
        self.names = [test["name"] for test in listed["tests"] if not re.search(NOT_ASKED, test["name"])]
        self.jobs = jobs
        self.seconds = {}
        self.texts = dict.fromkeys(self.names, "")
        for path in glob.glob(os.path.join(TREE, "tests", "*", "*_test.cpp")):
            self.texts[os.path.basename(path).removesuffix("_test.cpp")] = read("", path).decode()

    def measure(self):
        """Runs each once, unchanged, unless these programs' are known; those that fail are not asked."""
        path = os.path.join(HOME, "entries.json")
        state = programs() + "".join(self.names)
        known = json.loads(read("", path)) if os.path.exists(path) else {}
        if known.get("state") != state:
            print(f"Running {len(self.names)} entries without a change ...", flush=True)
            known = {"state": state, "seconds": {}}
            for name, passed, seconds, why in self.asked(self.names, stop_at_failure=False, limit=lambda name: 3600):
                if passed and why != SKIPPED:
                    known["seconds"][name] = seconds
                else:
                    print(f"  left out, as it {'is skipped' if passed else 'fails already'}: {name}", flush=True)
            with open(path, "w", encoding="utf-8") as file:
                json.dump(known, file)
        self.seconds = known["seconds"]

    def nearest_first(self, changed, patience):
        """(those to ask, the rest): short ones that look at the file come before long ones that do not."""
        words = set(re.split(r"[^a-z0-9]+", os.path.splitext(changed)[0].lower())) - {"lib", "app", "specs", "shaders"}
        header = re.sub(r"^lib/|\.cpp$", "", changed) + ".hpp"
        near = " ".join(names for folder, names in NEAR.items() if changed.startswith(folder)).split()

        def nearness(name):
            return 3 * len(words & set(name.split("_"))) + 3 * (name in near) + 2 * (f'"{header}"' in self.texts[name])

        def cost(name):
            return (1 + self.seconds[name]) / (1 + nearness(name)) ** 2

        chosen, rest, sum_of = [], [], 0
        for name in sorted((name for name in self.seconds if self.may_notice(name, changed)), key=cost):
            sum_of += self.seconds[name]
            (chosen if nearness(name) > 0 or sum_of <= patience else rest).append(name)
        return chosen, rest

    @staticmethod
    def may_notice(name, changed):
        if changed.startswith("shaders/"):
            return re.search(ON_GPU, name)
        is_long = name.startswith("gpu_operators_") or name == "vulkan_loads"
        return not is_long or changed.startswith(("lib/gpu/", "lib/ops/"))

    def asked(self, names, stop_at_failure=True, limit=None):
        """(name, passed, seconds, why) of each that was run, some at a time."""
        limit = limit or (lambda name: max(LEAST_SECONDS, 10 * self.seconds[name]))
        running = set()

        def ask(name):
            begin = time.monotonic()
            passed, why = ask_entry(name, limit(name), running)
            return name, passed, time.monotonic() - begin, why

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            futures = [pool.submit(ask, name) for name in names]
            try:
                for future in concurrent.futures.as_completed(futures):
                    if future.cancelled():
                        continue
                    result = future.result()
                    yield result
                    if stop_at_failure and not result[1]:
                        break
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
                for process in list(running):
                    kill(process)


def kill(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def ask_entry(name, limit, running):
    folder = os.path.join(HOME, "temporary", name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    process = subprocess.Popen(
        ["ctest", "--test-dir", BUILD, "--no-tests=error", "--output-on-failure", "--timeout", str(int(limit) + 1),
         "-R", f"^{re.escape(name)}$"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        env=os.environ | {"TMPDIR": folder}, start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES)))
    running.add(process)
    try:
        output, _ = process.communicate(timeout=limit + LEAST_SECONDS)
        if process.returncode != 0:
            return False, first_failure(output)
        return True, SKIPPED if "***Skipped" in output else ""
    except subprocess.TimeoutExpired:
        return False, "timeout"
    finally:
        kill(process)  # what it left behind, too
        running.discard(process)
        shutil.rmtree(folder, ignore_errors=True)


def first_failure(output):
    for line in output.split("\n"):
        if re.search(r"ERROR: |Timeout|SIGSEGV|SIGABRT|Exception: ", line):
            return line.strip().replace(TREE + "/", "")
    return "failed"


# The changes.

def compiled():
    """The .cpp files that are built on this system."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        return {os.path.relpath(entry["file"], TREE) for entry in json.load(file)}


def is_in(name, paths):
    return any(name == path.rstrip("/") or name.startswith(path.rstrip("/") + "/") for path in paths)


def all_changes(names, paths, seed, kind):
    """(file, change), one of each line that can be changed, in the order that the seed gives to these lines; of one
    kind, or of all."""
    built = compiled()
    ranked = []
    for name in names:
        if not is_in(name, paths or ["lib", "app", "specs", "shaders"]):
            continue
        named = name in paths and name.endswith(".hpp")
        if not named and (not name.endswith(SOURCES) or (name.endswith(".cpp") and name not in built)):
            continue
        of_lines = {}
        for change in changes_of(name, read(TREE, name).decode()):
            if kind in (None, change.kind):
                of_lines.setdefault(change.line, []).append(change)
        same = {}
        for changes in of_lines.values():
            before = changes[0].before
            same[before] = same.get(before, 0) + 1
            rank = hashlib.sha256(f"{seed} {name} {same[before]} {before}".encode()).digest()
            ranked.append((rank, name, changes[int.from_bytes(rank[:4], "big") % len(changes)]))
    return [(name, change) for _, name, change in sorted(ranked)]


def recorded():
    """The last line of results.jsonl for each change."""
    found = {}
    if os.path.exists(RESULTS):
        with open(RESULTS, encoding="utf-8") as file:
            for line in file:
                with contextlib.suppress(json.JSONDecodeError):  # half a line of a run that was killed
                    result = json.loads(line)
                    found[result["file"], result["before"], result["after"]] = result
    return found


def try_change(name, change, entries, unchanged, patience):
    """Makes the change, asks the tests, takes it back; what became of it."""
    original = read(TREE, name)
    begin = time.monotonic()
    result = {"file": name, "line": change.line, "kind": change.kind, "before": change.before, "after": change.after}
    try:
        write(name, apply(original.decode(), change).encode())
        is_built, words = build()
        if not is_built:
            error = re.search(r"error: .*", words)
            return result | {"outcome": "not built", "why": error[0] if error else words[-200:]}
        if programs() == unchanged:
            return result | {"outcome": "same programs"}
        chosen, rest = entries.nearest_first(name, patience)
        for entry, passed, _, why in entries.asked(chosen):
            if not passed:
                return result | {"outcome": "noticed", "by": entry, "why": why,
                                 "seconds": round(time.monotonic() - begin)}
        return result | {"outcome": "survived", "asked": len(chosen), "not asked": rest,
                         "seconds": round(time.monotonic() - begin)}
    finally:
        write(name, original)


def to_try(names, arguments):
    known = recorded()
    if arguments.again:
        survived = {key for key, result in known.items() if result["outcome"] == "survived"}
        return [(name, change) for path in sorted({key[0] for key in survived})
                for name, change in ((path, change) for change in changes_of(path, read(TREE, path).decode()))
                if (name, change.before, change.after) in survived]
    return [(name, change) for name, change in all_changes(names, arguments.paths, arguments.seed, arguments.kind)
            if (name, change.before, change.after) not in known]


def mutate(arguments):
    os.makedirs(HOME, exist_ok=True)
    names = copy_tree()
    configure()
    print("Building the unchanged tree ...", flush=True)
    is_built, words = build()
    if not is_built:
        sys.exit(f"mutate.py: error: the unchanged tree does not build:\n{words}")
    entries = Entries(arguments.jobs)
    entries.measure()
    unchanged = programs()
    counted = 0
    for name, change in to_try(names, arguments):
        if counted >= arguments.count and not arguments.again:
            break
        result = try_change(name, change, entries, unchanged, arguments.patience)
        with open(RESULTS, "a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")
        counted += result["outcome"] in ("noticed", "survived")
        print(f"{result['outcome']:13} {name}:{change.line} {change.kind} {result.get('by', '')}", flush=True)


def report():
    """Prints the score and the survivors; whether there are any."""
    results = list(recorded().values())
    survivors = [result for result in results if result["outcome"] == "survived"]
    noticed = sum(result["outcome"] == "noticed" for result in results)
    for result in survivors:
        print(f"\n{result['file']}:{result['line']}: {result['kind']}\n- {result['before']}\n+ {result['after']}")
        if result["not asked"]:
            print(f"  not asked: {' '.join(result['not asked'])}")
    counted = noticed + len(survivors)
    share = f" ({100 * noticed / counted:.0f} %)" if counted else ""
    print(f"\n{counted} changes: {noticed} noticed{share}, {len(survivors)} survived; "
          f"{len(results) - counted} more did not compile or changed nothing. All of them: {RESULTS}")
    return bool(survivors)


def main():
    parser = argparse.ArgumentParser(prog="mutate", usage=__doc__.split("\n")[2][len("usage: "):])
    parser.add_argument("count", type=int, nargs="?", default=20)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--patience", type=float, default=600)
    parser.add_argument("--kind")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):  # in the background, too, where the first is ignored
        signal.signal(number, signal.default_int_handler)
    try:
        if not arguments.report:
            mutate(arguments)
    except KeyboardInterrupt:
        print("\nstopped", flush=True)
    sys.exit(1 if report() else 0)


if __name__ == "__main__":
    main()
