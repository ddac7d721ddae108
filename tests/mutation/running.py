"""Runs tests in the order in which they are likely to notice a change, within limits of time and memory."""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

MEMORY = 8 << 30
UNKNOWN = [20, 200]  # seconds of CPU time and in all, of tests that never ran
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
        """CPU time of a file's tests when they last passed; None if they never ran."""
        return self.times.get(self.key(program, path), [None])[0]

    def key(self, program, path):
        return f"{program}:{path.relative_to(self.source)}"

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

        files = self.files(program)
        for number in range(3):
            yield from self.batches(program, [path for path in files if rank(path) == number])

    def batches(self, program, paths):
        """Those of known times first; of the others, each by itself, those of few lines."""
        batch, total = [], 0.0
        for took, path in sorted((self.time(program, path), path) for path in paths if self.time(program, path) is not None):
            if batch and total + took > BATCH:
                yield program, batch
                batch, total = [], 0.0
            batch.append(path)
            total += took
        if batch:
            yield program, batch
        for path in sorted(paths, key=lambda path: path.stat().st_size):
            if self.time(program, path) is None:
                yield program, [path]

    def leave_out(self, group, test):
        left = self.left_out.setdefault(group[0], [])
        if test in left:
            return False
        left.append(test)
        self.save()
        return True

    def run(self, program, group, environment, only=None):
        """("passed", "killed" or "timeout", the test, seconds of CPU time)."""
        name, paths = group
        known = [self.times.get(self.key(name, path), UNKNOWN) for path in paths]
        seconds = 10 + 6 * sum(cpu for cpu, _ in known)
        wall = 180 + 20 * max(sum(cpu for cpu, _ in known), sum(real for _, real in known))
        scratch = pathlib.Path(tempfile.mkdtemp(prefix="gradus-mutate-"))  # where tests write usually
        scratch.chmod(0o755)  # tests of permissions act as another user
        words = [str(program), "-aa=1", "-nc", "-sf=" + ",".join(str(path) for path in paths)]
        if only:
            words.append("-tc=" + pattern(only))
        if self.left_out.get(name):
            words.append("-tce=" + ",".join(map(pattern, self.left_out[name])))

        def limit():
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        output = self.folder / "scratch" / "output"
        output.parent.mkdir(exist_ok=True)
        with open(output, "wb") as out:
            child = subprocess.Popen(words, cwd=scratch, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                     env=os.environ | environment | {"TMPDIR": str(scratch)}, preexec_fn=limit)
            start = time.monotonic()
            ended = None
            while ended is None and time.monotonic() < start + wall:
                ended = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
                time.sleep(0.02)
            os.killpg(child.pid, signal.SIGKILL)  # and what the tests have started
            child.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        shutil.rmtree(scratch, ignore_errors=True)
        with open(output, "rb") as out:
            text = out.read(1 << 20).decode(errors="replace")
        if child.returncode == 0:
            if len(paths) == 1 and not only and self.time(name, paths[0]) is None:
                self.times[self.key(name, paths[0])] = [round(used, 2), round(time.monotonic() - start, 1)]
                self.save()
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
