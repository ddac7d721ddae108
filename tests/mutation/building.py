"""Compiles one changed source as the build does, but with -O1, and links test programs with it."""

import json
import pathlib
import re
import shlex
import shutil
import subprocess

LIBRARIES = ("CMakeFiles/gradus.dir/", "examples/CMakeFiles/lab_core.dir/", "text/CMakeFiles/gradus_text.dir/",
             "kit/CMakeFiles/gradus_kit.dir/")
MOST_OBJECTS = 4  # a header that more include is left alone


# Kernels of one kind, and what a CPU needs to run them.
NEEDS = {"ops/kernels/kernels_amx.cpp": "amx_bf16", "ops/kernels/kernels_avx512bf16.cpp": "avx512_bf16"}


def cpu_flags():
    """Of this machine; none where they are not known."""
    try:
        return set(pathlib.Path("/proc/cpuinfo").read_text().split())
    except OSError:
        return set()


def best_instructions():
    """The widest instruction set of this machine that has kernels of every function; scalar where it is not known."""
    return "avx2" if {"avx2", "fma"} <= cpu_flags() else "scalar"


class Build:
    def __init__(self, source, build, scratch):
        self.source, self.build, self.scratch = source, build, scratch
        shutil.rmtree(scratch, ignore_errors=True)
        (scratch / "source").mkdir(parents=True)
        self.commands, self.by_source, self.links, self.kept = {}, {}, {}, {}
        for entry in json.loads((build / "compile_commands.json").read_text()):
            words = shlex.split(entry["command"])
            target = words[words.index("-o") + 1]
            if not target.startswith(LIBRARIES):
                continue
            self.commands[target] = words
            file = pathlib.Path(entry["file"])
            members = [file]
            if "/Unity/" in entry["file"]:
                members = [pathlib.Path(name) for name in re.findall(r'#include "(.+)"', file.read_text())]
            for member in members:
                if member.is_relative_to(source):
                    self.by_source[str(member.relative_to(source))] = [target]
        for name, flag in NEEDS.items():
            if flag not in cpu_flags():
                self.by_source.pop(name, None)
        self.instructions = best_instructions()
        self.find_headers()

    def ninja(self, *arguments):
        return subprocess.run(["ninja", "-C", self.build, "-t", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout

    def find_headers(self):
        """Which objects a header is compiled into. What a precompiled header contains is compiled into all."""
        users, precompiled, target = {}, set(), None
        for line in self.ninja("deps").splitlines():
            if line and line[0] not in " n":
                target = line.partition(":")[0]
            elif line.startswith(f"    {self.source}/") and line.endswith(".h"):
                name = line.strip()[len(str(self.source)) + 1:]
                if target.endswith(".gch"):
                    precompiled.add(name)
                elif target in self.commands:
                    users.setdefault(name, []).append(target)
        kernels = f"CMakeFiles/gradus.dir/ops/kernels/kernels_{self.instructions}.cpp.o"
        for name, targets in users.items():
            if name.startswith("ops/kernels/vec_") or name.startswith("ops/kernels/body"):
                if kernels in targets:
                    self.by_source[name] = [kernels]
            elif name not in precompiled and len(targets) <= MOST_OBJECTS and not name.startswith("build/"):
                self.by_source[name] = targets

    def objects_of(self, name):
        return self.by_source.get(name, [])

    def environment_of(self, name):
        kernels = "kernels_" + self.instructions
        return {"GRADUS_ISA": self.instructions} if any(kernels in target for target in self.objects_of(name)) else {}

    def has(self, name):
        return (self.build / f"{name}_tests").exists()

    def compile(self, name, text, folder="mutant"):
        """Object file of each target, with `text` in place of the source `name`; None if it does not compile."""
        original = self.source / name
        top = self.scratch / "source"
        shutil.rmtree(top)
        header = name.endswith(".h")
        changed = top / (f"include/gradus/{name}" if header else original.name)
        changed.parent.mkdir(parents=True)
        changed.write_text(f'#line 1 "{original}"\n{text}')
        objects = {}
        for number, target in enumerate(self.objects_of(name)):
            words = list(self.commands[target])
            file = pathlib.Path(words[words.index("-c") + 1])
            if header:
                words[1:1] = ["-I", str(top / "include")]
            elif file == original:
                words[words.index("-c") + 1] = str(changed)
            else:  # one of several that are compiled together
                together = top / file.name
                together.write_text(file.read_text().replace(f'"{original}"', f'"{changed}"'))
                words[words.index("-c") + 1] = str(together)
            output = self.scratch / folder / f"{number}.o"
            output.parent.mkdir(exist_ok=True)
            words[words.index("-o") + 1] = str(output)
            words = [word for word in words if not re.match(r"-(O|W[^l])", word)] + ["-O1", "-w"]
            if subprocess.run(words, cwd=self.build, stderr=subprocess.DEVNULL, timeout=3600).returncode != 0:
                return None
            objects[target] = output
        return objects

    def originals(self, name, text):
        """The same of the source as it is. A header's are kept apart, since other targets belong to each."""
        key = name if name.endswith(".h") else self.objects_of(name)[0]
        if key not in self.kept:
            objects = self.compile(name, text, f"original-{len(self.kept)}")
            if objects is None:
                raise RuntimeError(f"mutate: {name} does not compile with -O1")
            self.kept[key] = objects
        return self.kept[key]

    def equal(self, name, text, objects):
        return all(objects[target].read_bytes() == path.read_bytes() for target, path in self.originals(name, text).items())

    def link(self, name, objects, folder="mutant"):
        """The test program with these objects, which hide those of the library; None if it cannot be linked."""
        if name not in self.links:
            line = self.ninja("commands", f"{name}_tests").splitlines()[-1]
            self.links[name] = shlex.split(line.removeprefix(": && ").removesuffix(" && :"))
        words = list(self.links[name])
        at = words.index("-o")
        output = self.scratch / folder / f"{name}_tests"
        output.parent.mkdir(exist_ok=True)
        words[at:at + 2] = ["-o", str(output), "-Wl,-z,muldefs"]
        if shutil.which("ld.lld"):
            words.append("-fuse-ld=lld")
        for target, path in objects.items():
            if target in words:
                words[words.index(target)] = str(path)
            else:
                words.insert(1, str(path))
        done = subprocess.run(words, cwd=self.build, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0 and folder == "original":
            raise RuntimeError(f"mutate: {name}_tests cannot be linked:\n{done.stderr}")
        return output if done.returncode == 0 else None
