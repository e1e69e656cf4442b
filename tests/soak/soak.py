#!/usr/bin/env python3
"""Feeds a worker very many mixed jobs and checks each answer, and that memory stays flat.

usage: soak.py PROGRAM [--jobs 1000000] [--seed 1] [--workers N] [--device cpu] [--no-ids] [--any-memory]

The worker is `PROGRAM batch - --results -`, on the CPU unless another --device is named. It gets the samples of all
operators, with right and wrong golden files, kept outputs, tags and skips; descriptions with errors, operators that do
not exist, broken JSON, ids that are used twice, files that are missing, empty lines. Every job has to be answered once,
under its id, with its status; the summary and the exit code have to agree, and nothing may stand on standard error but
jobs that could not run.

Memory is the worker's VmRSS, sampled while it runs: first after a warm-up of 10,000 jobs or a third of all, last when
all jobs are answered and the worker waits for more. It may grow by 4 MiB and by what a batch has to remember: 48 bytes
for each job with an id of its own, to find ids that are used twice (12 bytes in a table that is at least 3/8 full, and
half as much again for a moment when the table grows). With --no-ids no job has one, and the 4 MiB stand alone. --any-memory
is for sanitizers, which keep freed memory.

Exit code 0 when all holds, 1 with the first differences otherwise. Needs nothing but Python."""
import argparse, array, json, os, random, shutil, subprocess, sys, tempfile, threading, time

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples")
OPERATORS = ["lp_pooling", "padding", "reverse_subsequences", "slice1"]
STATUSES = ["PASSED", "FAILED", "UNCOMPARED", "UNSUPPORTED", "INVALID", "ERROR", "SKIPPED"]
BEFORE, NO_JOB, ANSWERED = 255, 254, 253  # what stands for a line that has no status to come
HAS_ID = 16
WARM_UP = 10_000
GROWTH_BYTES, GROWTH_BYTES_PER_ID = 4 << 20, 48
DIFFERENCES_SHOWN = 10
PATIENCE_SECONDS = 60  # without an answer


def make_folder(folder):
    """Files for all jobs; returns the four operators' jobs without ids, as objects."""
    jobs = []
    for name in OPERATORS:
        sample = os.path.join(SAMPLES, name)
        shutil.copytree(sample, os.path.join(folder, name))
        with open(os.path.join(sample, "op.json"), encoding="utf-8") as file:
            job = json.load(file)
        job["bindings"] = {tensor: f"{name}/{path}" for tensor, path in job["bindings"].items()}
        with open(os.path.join(sample, "expected", "OutputTensor.npy"), "rb") as file:
            golden = bytearray(file.read())
        golden[-1] ^= 0x40  # of the last element, far from any tolerance
        with open(os.path.join(folder, name, "wrong.npy"), "wb") as file:
            file.write(golden)
        jobs.append((name, job))
    return jobs


class Jobs:
    """Writes the lines, one after another, and keeps in `expected` what each has to end as: by line, from 1."""

    def __init__(self, folder, count, seed, with_ids):
        self.operators = make_folder(folder)
        self.random = random.Random(seed)
        self.with_ids = with_ids
        self.lines = 0
        self.left = count
        self.ids = 0
        self.expected = bytearray([BEFORE])
        self.used = array.array("I")  # lines whose ids may be used again
        self.counts = dict.fromkeys(STATUSES, 0)
        self.kinds = [(kind, weight) for kind, weight in (
            (self.passed, 40), (self.kept, 4), (self.failed, 8), (self.uncompared, 4), (self.skipped, 5),
            (self.unsupported, 4), (self.wrong_description, 10), (self.broken, 6), (self.missing, 8),
            (self.bad_id, 3), (self.used_twice, 6), (self.empty, 2)) if with_ids or kind != self.used_twice]
        # Texts are made once: the worker is measured, not this.
        self.templates = {}

    def next(self):
        """The next line, as bytes with its end."""
        kind = self.random.choices([k for k, _ in self.kinds], [w for _, w in self.kinds])[0]
        text, status, may_have_id = kind()
        self.lines += 1
        has_id = may_have_id and self.with_ids and self.random.random() < 0.7
        if has_id:
            text = b'{"id": "job/%d", ' % self.lines + text[1:]
            self.ids += 1
            self.used.append(self.lines)
        if status is None:
            self.expected.append(NO_JOB)
        else:
            self.expected.append(STATUSES.index(status) + (HAS_ID if has_id else 0))
            self.counts[status] += 1
            self.left -= 1
        return text + b"\n"

    def job(self, what, make):
        """The text of one of the operators' jobs, with changes."""
        name, job = self.random.choice(self.operators)
        if (name, what) not in self.templates:
            self.templates[name, what] = json.dumps(make(name, dict(job))).encode()
        return self.templates[name, what]

    def passed(self):
        tags = self.random.choice([[], [], ["nightly"], ["a", "b b", "\u00fc"]])
        make = lambda name, job: {"tags": tags, "expect": f"{name}/expected/OutputTensor.npy", **job}
        return self.job(("passed", len(tags)), make), "PASSED", True

    def kept(self):
        number = self.random.randrange(8)  # workers replace each other's

        def make(name, job):
            bindings = {**job["bindings"], "OutputTensor": f"{name}/kept{number}.npy"}
            return {**job, "bindings": bindings}
        return self.job(("kept", number), make), "PASSED", True

    def failed(self):
        return self.job("failed", lambda name, job: {"expect": f"{name}/wrong.npy", **job}), "FAILED", True

    def uncompared(self):
        return self.job("blind", lambda name, job: job), "UNCOMPARED", True

    def skipped(self):
        return self.job("skipped", lambda name, job: {"skip": "not today", "tags": ["t"], **job}), "SKIPPED", True

    def unsupported(self):
        model = b'{"resources": {}, "dispatchables": {"s": {"type": "hlsl"}}, "commands": []}'
        return model, "UNSUPPORTED", True

    def wrong_description(self):
        which = self.random.randrange(5)

        def make(name, job):
            desc = dict(job["desc"])
            if which == 0:
                desc["OutputTensor"] = {"DataType": "FLOAT32", "Sizes": [1, 1, 99, 99]}
            if which == 1:
                desc["Typo"] = 1
            if which == 2:
                return {**job, "bindings": {}}
            if which == 3:
                return {**job, "bindings": {**job["bindings"], "InputTensor": "lp_pooling/op.json"}}
            if which == 4:
                return {**job, "tags": 7}
            return {**job, "desc": desc}
        return self.job(("wrong", which), make), "INVALID", True

    def broken(self):
        whole = self.job("blind", lambda name, job: job)
        return self.random.choice([
            whole[:self.random.randrange(2, len(whole))],  # cut off
            whole + b"}", b'{"type": "PADDING",, "desc": {}}', b'{"type": "\xff\xfe"}', b"[1, 2]", b"null",
            b"\x93NUMPY", b'{"a": "\x00"}', b"[" * 5000]), "INVALID", False

    def missing(self):
        if self.random.random() < 0.5:
            make = lambda name, job: {**job, "expect": f"{name}/none.npy"}
            return self.job("no golden", make), "ERROR", True
        make = lambda name, job: {**job, "bindings": {**job["bindings"], "InputTensor": f"{name}/none.npy"}}
        return self.job("no input", make), "ERROR", True

    def bad_id(self):
        text = self.job("blind", lambda name, job: job)
        wrong = self.random.choice([b'""', b'"../x"', b'"/x"', b'"line-7"', b"7", b'"a\\nb"', b'"' + b"x" * 201 + b'"'])
        return b'{"id": %s, ' % wrong + text[1:], "INVALID", False

    def used_twice(self):
        if not self.used:
            return self.empty()
        # Of the first jobs as well as of the last ones.
        line = self.random.choice(self.used)
        return b'{"id": "job/%d", ' % line + self.passed()[0][1:], "INVALID", False

    def empty(self):
        return self.random.choice([b"", b"  \t", b"\r"]), None, False


class Soak:
    def __init__(self, arguments, folder):
        self.jobs = Jobs(folder, arguments.jobs, arguments.seed, not arguments.no_ids)
        self.total = arguments.jobs
        self.any_memory = arguments.any_memory
        self.warm_up = min(WARM_UP, self.total // 3)
        self.differences = 0
        self.answered = 0
        self.errors = tempfile.TemporaryFile()
        command = [os.path.abspath(arguments.program), "batch", "-", "--device", arguments.device, "-q", "--results",
                   "-"]
        if arguments.workers:
            command += ["--jobs", str(arguments.workers)]
        self.start = time.monotonic()
        self.worker = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=self.errors)
        self.first = self.last = self.most = 0

    def differ(self, text):
        self.differences += 1
        if self.differences <= DIFFERENCES_SHOWN:
            print(f"DIFFERENT: {text}", file=sys.stderr)

    def feed(self):
        try:
            while self.jobs.left > 0:
                lines = []
                while self.jobs.left > 0 and len(lines) < 100:
                    lines.append(self.jobs.next())
                self.worker.stdin.write(b"".join(lines))
            self.worker.stdin.flush()
        except (BrokenPipeError, ValueError):  # ended, or closed by finish()
            self.differ("the worker reads no more jobs")

    def watch(self):
        """Ends a worker that answers no more: an answer was lost, or it hangs."""
        answered, since = -1, time.monotonic()
        while self.answered < self.total and self.worker.poll() is None:
            if self.answered != answered:
                answered, since = self.answered, time.monotonic()
            if time.monotonic() - since > PATIENCE_SECONDS:
                self.differ(f"no answer for {PATIENCE_SECONDS} s")
                return self.worker.kill()
            time.sleep(0.2)

    def memory(self, name="VmRSS"):
        with open(f"/proc/{self.worker.pid}/status", encoding="ascii") as file:
            for line in file:
                if line.startswith(name + ":"):
                    return int(line.split()[1]) << 10
        return 0

    def check(self, record):
        """One answer: is it due, and right?"""
        kind, _, number = record["id"].replace("/", "-").partition("-")
        line = int(number) if number.isdigit() else 0
        expected = self.jobs.expected
        if kind not in ("job", "line") or not 0 < line < len(expected):
            return self.differ(f"an answer for {record['id']}, which nobody asked")
        due, expected[line] = expected[line], ANSWERED
        if due == ANSWERED:
            return self.differ(f"line {line} has a second answer")
        if due == NO_JOB:
            return self.differ(f"line {line} is empty and has an answer")
        own, status = due & HAS_ID, STATUSES[due & ~HAS_ID]
        if record["status"] != status:
            return self.differ(f"line {line} is {record['status']}, must be {status}: {record.get('message')}")
        if bool(own) != (kind == "job"):
            return self.differ(f"the answer to line {line} has the id {record['id']}")
        if record["place"] != f"-:{line}":
            self.differ(f"the answer to line {line} has the place {record['place']}")

    def sample(self):
        self.last = self.memory()
        self.most = max(self.most, self.last)
        if self.answered == self.warm_up:
            self.first = self.most = self.last

    def read_answers(self):
        step = max(1, min(self.total // 200, 1000))
        shown = self.start
        while self.answered < self.total:
            line = self.worker.stdout.readline()
            if not line:
                return self.differ(f"the worker ended after {self.answered} answers")
            try:
                self.check(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                self.differ(f"an answer that is no record: {line[:200]} ({error!r})")
            self.answered += 1
            if self.answered == self.warm_up or (self.answered > self.warm_up and self.answered % step == 0):
                self.sample()
            if time.monotonic() > shown + 5:
                shown = time.monotonic()
                print(f"{self.answered} of {self.total} jobs, {self.answered / (shown - self.start):.0f}/s, "
                      f"{self.last / 2**20:.1f} MiB", file=sys.stderr)
        self.sample()

    def finish(self):
        """After the last answer: the end of input, the summary, the exit code, what stands on standard error."""
        try:
            self.worker.stdin.close()
        except BrokenPipeError:
            pass
        rest = self.worker.stdout.read().splitlines()
        code = self.worker.wait()
        summary = {}
        if len(rest) == 1 and b'"summary"' in rest[0]:
            summary = json.loads(rest[0])["summary"]
        else:
            self.differ(f"{len(rest)} lines after the last answer, must be the summary: {rest[:2]}")
        counts = {name: count for name, count in summary.get("counts", {}).items() if name in STATUSES}
        if counts != self.jobs.counts or summary.get("complete") is not True:
            self.differ(f"the summary is {summary}, must count {self.jobs.counts}")
        if self.total >= 1000 and code != 6:  # files are missing: the worst there is
            self.differ(f"the exit code is {code}, must be 6")
        self.errors.seek(0)
        for line in self.errors.read().splitlines():
            if not line.startswith((b"INVALID ", b"ERROR ", b"UNSUPPORTED ", b"and ", b"  ")):
                self.differ(f"standard error says {line[:1000]}")
        lost = sum(1 for due in self.jobs.expected if due < NO_JOB - 1)
        if lost:
            self.differ(f"{lost} jobs have no answer")

    def run(self):
        feeder = threading.Thread(target=self.feed, daemon=True)
        feeder.start()
        threading.Thread(target=self.watch, daemon=True).start()
        try:
            self.read_answers()
            seconds = time.monotonic() - self.start
            if self.answered == self.total:
                feeder.join()
            self.finish()
        finally:
            self.worker.kill()
            self.worker.wait()
        allowed = self.first + GROWTH_BYTES + GROWTH_BYTES_PER_ID * self.jobs.ids
        if self.most > allowed and not self.any_memory:
            self.differ(f"memory grew to {self.most} bytes, may be {allowed}")
        mib = 2**20
        per_job = (self.last - self.first) / max(1, self.total - self.warm_up)
        print(f"{self.answered} jobs ({self.jobs.ids} with ids) in {seconds:.1f} s, {self.answered / seconds:.0f}/s: "
              + ", ".join(f"{count} {name}" for name, count in self.jobs.counts.items()))
        print(f"memory: {self.first / mib:.1f} MiB after {self.warm_up} jobs, {self.last / mib:.1f} MiB at the end, "
              f"at most {self.most / mib:.1f} MiB; {per_job:.1f} bytes more per job")
        print("OK" if self.differences == 0 else f"{self.differences} differences")
        return 0 if self.differences == 0 else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=0, help="--jobs of the worker; default: as it chooses")
    parser.add_argument("--device", default="cpu", help="--device of the worker")
    parser.add_argument("--no-ids", action="store_true", help="no job has an id of its own")
    parser.add_argument("--any-memory", action="store_true", help="memory is printed and not checked")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dmlop-soak-") as folder:
        return Soak(arguments, folder).run()


if __name__ == "__main__":
    sys.exit(main())
