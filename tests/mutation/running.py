"""Runs tests in the order in which they are likely to notice a change, within limits of time and memory."""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time

MEMORY = 8 << 30
FILE = 1 << 30
BATCH = 2.0  # seconds of CPU time: files of tests are run together up to here


def folder_of_tests(program):
    return "tests/ops/kernels" if program == "kernels" else f"tests/{program}"


def pattern(name):
    """A doctest filter for this name."""
    return name.replace(",", "?").replace("\\", "?")


class Tests:
    def __init__(self, source, build, folder):
        self.source, self.build, self.folder = source, build, folder
        self.known = folder / "times.json"
        kept = json.loads(self.known.read_text()) if self.known.exists() else {"times": {}, "left_out": {}}
        self.times, self.left_out = kept["times"], kept["left_out"]
        self.verified = {}

    def save(self):
        self.known.write_text(json.dumps({"times": self.times, "left_out": self.left_out}, indent=1) + "\n")

    def files(self, program):
        top = self.source / folder_of_tests(program)
        files = [path for path in sorted(top.rglob("*.cpp")) if path.name.endswith("_test.cpp") or path.name == "golden.cpp"]
        return [path for path in files if program != "ops" or "kernels" not in path.parts]

    def time(self, program, path):
        """CPU time of a file's tests, measured once with the program of the build. What fails there is left out."""
        key = f"{program}:{path.relative_to(self.source)}"
        while key not in self.times:
            start = time.time()
            outcome, test, used = self.run(self.build.build / f"{program}_tests", (program, [path]), {}, 900)
            if outcome == "passed":
                self.times[key] = [round(used, 2), round(time.time() - start, 1)]
            elif test is None or not self.leave_out((program, [path]), test):
                self.times[key] = [float("inf"), 0]  # never run
            self.save()
        return self.times[key][0]

    def groups(self, program, file):
        """(program, files): those named like the source, those of the same folder, the others; the fast ones first."""
        near = self.source / "tests" / pathlib.PurePath(file).parent
        while not near.is_dir():
            near = near.parent
        stem = pathlib.PurePath(file).stem

        def rank(path):
            if path.parent != near:
                return 2
            return 0 if stem in path.stem or path.stem.removesuffix("_test") in stem else 1

        ranked = {0: [], 1: [], 2: []}
        for path in self.files(program):
            ranked[rank(path)].append(path)
        for number in (0, 1):
            yield from self.batches(program, sorted(ranked[number], key=lambda path: self.time(program, path)))
        key = lambda path: self.times.get(f"{program}:{path.relative_to(self.source)}", [None])[0]  # noqa: E731
        measured = [path for path in ranked[2] if key(path) is not None]
        yield from self.batches(program, sorted(measured, key=key))
        for path in ranked[2]:
            if path not in measured:
                yield from self.batches(program, [path])

    def batches(self, program, paths):
        batch, total = [], 0.0
        for path in paths:
            took = self.time(program, path)
            if took == float("inf"):
                continue
            if batch and total + took > BATCH:
                yield program, batch
                batch, total = [], 0.0
            batch.append(path)
            total += took
        if batch:
            yield program, batch

    def leave_out(self, group, test):
        left = self.left_out.setdefault(group[0], [])
        if test in left:
            return False
        left.append(test)
        self.save()
        return True

    def run(self, program, group, environment, least=0.0, only=None):
        """("passed", "killed" or "timeout", the test, seconds of CPU time)."""
        name, paths = group
        known = [self.times.get(f"{name}:{path.relative_to(self.source)}", [0, 0]) for path in paths]
        seconds = least or 10 + 6 * sum(cpu for cpu, _ in known)
        wall = 10 * least or 180 + 20 * max(sum(cpu for cpu, _ in known), sum(real for _, real in known))
        scratch = self.folder / "scratch" / "run"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        words = [str(program), "-aa=1", "-nc", "-sf=" + ",".join(str(path) for path in paths)]
        if only:
            words.append("-tc=" + pattern(only))
        if self.left_out.get(name):
            words.append("-tce=" + ",".join(map(pattern, self.left_out[name])))

        def limit():
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        output = self.folder / "scratch" / "output"
        with open(output, "wb") as out:
            child = subprocess.Popen(words, cwd=scratch, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                     env=os.environ | environment | {"TMPDIR": str(scratch)}, preexec_fn=limit)
            end = time.monotonic() + wall
            ended = None
            while ended is None and time.monotonic() < end:
                ended = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
                time.sleep(0.02)
            os.killpg(child.pid, signal.SIGKILL)  # and what the tests have started
            child.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        with open(output, "rb") as out:
            text = out.read(1 << 20).decode(errors="replace")
        if child.returncode == 0:
            return "passed", None, used
        test = re.search(r"^TEST CASE:  ?(.*)$", text, re.M)
        test = test[1].strip() if test else None
        return "timeout" if ended is None or child.returncode == -signal.SIGXCPU else "killed", test, used

    def passes(self, program, objects, group, test, environment):
        """Whether the test, or the group if it is not known, passes with these objects of the unchanged source."""
        key = (*map(str, objects.values()), group[0], *map(str, group[1]), test)
        if key not in self.verified:
            self.verified[key] = self.run(program, group, environment, only=test)[0] == "passed"
        return self.verified[key]
