# SPDX-License-Identifier: Apache-2.0
"""What gpu_check.py needs: found in a checkout, or packed for a machine without a network.

A runtime is a folder with Hearth, llama-server and one set of the engine's libraries, one of which is the
GPU's backend; both servers compute with the same ones.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACK = ROOT / "build/gpu_check"
MOST_PACKED = 64 << 20
# Every Linux that has a CUDA compiler has these, and its own are the right ones.
SYSTEM_LIBRARIES = ("linux-vdso", "ld-linux", "libc.", "libm.", "libstdc++", "libgcc_s", "libpthread",
                    "libdl.", "librt.")
PYTHON_MODULES = ("httpx", "httpcore", "h11", "idna", "certifi", "anyio", "sniffio", "prometheus_client",
                  "typing_extensions.py")
CUDA_SOURCES = ("LICENSE", "ggml/include", "ggml/src/ggml-cuda", ":(glob)ggml/src/*.h")
HEADER_BYTES = 4 << 20  # of the test model: its vocabulary is in the first two
# Of the fourteen CPU variants those that machines with such a GPU have.
CPU_VARIANTS = ("haswell", "skylakex", "cascadelake", "icelake", "sapphirerapids", "zen4")
PROGRAMS = ("hearth", "hearth-worker", "hearth-keeper")


def is_packed():
    """This is the other machine: nothing was built here."""
    return (PACK / "hearth").exists() and not (ROOT / "build/release/hearth").exists()


class Missing(Exception):
    """A part that is not there; says how it comes."""


def programs(build):
    return sorted(p for p in Path(build).glob("hearth*") if p.is_file() and os.access(p, os.X_OK))


def link_or_copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def engine():
    found = sorted((ROOT / "build/third_party").glob("llama-*"))
    if not found:
        raise Missing("the engine: make build")
    return found[-1]


def library_of(device, packed):
    """The prebuilt backend; None if it is to be compiled."""
    if device == "cuda":
        return None
    found = [*(PACK.glob("gpu/*.so") if packed else ()), *engine().glob(f"lib-{device}/*.so")]
    if not found:
        raise Missing(f"the {device} backend: HEARTH_GPU={device} third_party/llama/fetch.sh")
    return found[0]


def plan(device, build):
    """[(what, path or why it is missing)], and whether all is there."""
    packed = is_packed()
    source = PACK if packed else Path(build)
    server = PACK / "llama-server" if packed else ROOT / "build/peers/llama-server"
    parts = [("hearth", source / "hearth" if programs(source) else "MISSING: make build"),
             ("engine", source / "lib" if (source / "lib").is_dir() else "MISSING: make build"),
             ("llama-server", server if server.exists() else "MISSING: make peers")]
    if device == "cuda":
        nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
        tree = PACK / "source/ggml/src/ggml-cuda"
        parts += [("nvcc", nvcc or "MISSING: CUDA's compiler"),
                  ("sources", tree if tree.is_dir() else "MISSING: bench/gpu_check.py --pack")]
    else:
        try:
            parts.append(("backend", library_of(device, packed)))
        except Missing as why:
            parts.append(("backend", f"MISSING: {why}"))
    return parts, not any(str(part).startswith("MISSING") for _, part in parts)


def compile_cuda(lib):
    """The backend for the GPU at hand, beside the engine's libraries."""
    objects = PACK / "cuda"
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    configure = ["cmake", "-S", ROOT / "third_party/llama/cuda", "-B", objects, "-G", "Ninja",
                 f"-DGPU_SOURCE={PACK / 'source'}", f"-DGPU_LIB={lib}", "-DCMAKE_BUILD_TYPE=Release",
                 "-DCMAKE_CUDA_ARCHITECTURES=native", f"-DCMAKE_CUDA_COMPILER={nvcc}"]
    subprocess.run(configure, check=True, stdout=sys.stderr)
    subprocess.run(["cmake", "--build", objects], check=True, stdout=sys.stderr)


def make_runtime(device, build, folder):
    """(program of Hearth, program of llama-server); CUDA's backend is compiled on the way."""
    packed = is_packed()
    source = PACK if packed else Path(build)
    server = PACK / "llama-server" if packed else ROOT / "build/peers/llama-server"
    for program in programs(source):
        link_or_copy(program, folder / program.name)
    backend = library_of(device, packed)
    if backend is None:
        for library in (source / "lib").glob("*.so"):
            link_or_copy(library, folder / "lib" / library.name)
        compile_cuda(folder / "lib")
    for library in [*(source / "lib").glob("*.so"), *([backend] if backend else [])]:
        link_or_copy(library, folder / "lib" / library.name)
    # llama-server looks for its libraries beside itself.
    link_or_copy(server, folder / "peer" / server.name)
    for library in (folder / "lib").glob("*.so"):
        link_or_copy(library, folder / "peer" / library.name)
    if packed:
        os.environ["LD_LIBRARY_PATH"] = str(PACK / "libs")
    return folder / "hearth", folder / "peer" / server.name


# ---- packing ----

def _needed(program):
    lines = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    for line in lines.splitlines():
        name, _, rest = line.strip().partition(" => ")
        path = rest.split(" ")[0]
        if path.startswith("/") and not name.startswith(SYSTEM_LIBRARIES):
            yield name, Path(path)


def _unpack_sources(to):
    bundle = engine() / "upstream/gitRelease.bundle"
    bare = to.with_suffix(".git")
    shutil.rmtree(bare, ignore_errors=True)
    subprocess.run(["git", "clone", "--quiet", "--bare", bundle, bare], check=True)
    to.mkdir(parents=True)
    archive = subprocess.run(["git", "-C", bare, "archive", "HEAD", "--", *CUDA_SOURCES], check=True,
                             capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", to], input=archive, check=True)
    shutil.rmtree(bare)


def pack(build, model, device):
    """Fills build/gpu_check/ for a run on another machine."""
    if not programs(build) or not (ROOT / "build/peers/llama-server").exists():
        raise Missing("the programs: make build peers")
    shutil.rmtree(PACK, ignore_errors=True)
    for program in [*(Path(build) / name for name in PROGRAMS), ROOT / "build/peers/llama-server"]:
        target = PACK / program.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(program, target)
        subprocess.run(["strip", "-s", target], check=True)
        for name, path in _needed(program):
            if path.parent not in (Path(build) / "lib", ROOT / "build/peers"):
                link_or_copy(path.resolve(), PACK / "libs" / name)
    for library in (Path(build) / "lib").glob("*.so"):
        if "-cpu-" not in library.name or library.stem.endswith(CPU_VARIANTS):
            link_or_copy(library, PACK / "lib" / library.name)
    if device == "vulkan":
        link_or_copy(library_of(device, False), PACK / "gpu/libggml-vulkan.so")
    else:
        _unpack_sources(PACK / "source")
    (PACK / "models").mkdir()
    with open(model, "rb") as file:
        (PACK / "models" / model.name).write_bytes(file.read(HEADER_BYTES))
    for site in (ROOT / "build/venv/lib").glob("python*/site-packages"):
        for name in PYTHON_MODULES:
            found = site / name
            if found.is_dir():
                shutil.copytree(found, PACK / "python" / name, ignore=shutil.ignore_patterns("__pycache__"))
            elif found.exists():
                link_or_copy(found, PACK / "python" / name)
    size = sum(p.stat().st_size for p in PACK.rglob("*") if p.is_file())
    print(f"packed {size / 1e6:.0f} MB into {PACK.relative_to(ROOT)}")
    if size > MOST_PACKED:
        raise Missing(f"room: more than {MOST_PACKED / 1e6:.0f} MB cannot be carried")
