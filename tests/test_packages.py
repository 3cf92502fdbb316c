# SPDX-License-Identifier: Apache-2.0
"""What `make install` and `make deb` make: complete, confined, and gone again when it is removed."""

import gzip
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from support.server import HEARTH, ROOT, SMOLLM2, Server, clean_environment
from support.waiting import eventually

STEP_S = 180

# Runs its arguments as the unit does, as far as a process can do that to itself: as nobody where we
# are root, without new privileges, and without memory that is written and then executed.
CONFINED = """
import ctypes, os, resource, sys
prctl = ctypes.CDLL(None).prctl
NO_NEW_PRIVS, MDWE, REFUSE_EXEC_GAIN = 38, 65, 1
if os.geteuid() == 0:
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (8 << 20, 8 << 20))
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
assert prctl(NO_NEW_PRIVS, 1, 0, 0, 0) == 0
prctl(MDWE, REFUSE_EXEC_GAIN, 0, 0, 0)
os.umask(0o077)
os.execv(sys.argv[1], sys.argv[1:])
"""


def needs(program):
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not here")


def run(*command, **environment):
    done = subprocess.run([str(word) for word in command], cwd=ROOT, timeout=STEP_S, text=True,
                          capture_output=True, env=clean_environment(environment))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def open_folder():
    """A folder that others can look into, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="hearth-packages-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def installed(open_folder):
    """The prefix of an installation: DESTDIR and PREFIX put together."""
    destination = open_folder / "destination"
    run("scripts/install.sh", DESTDIR=destination, PREFIX="/opt/hearth", HEARTH_BUILD=HEARTH.parent)
    return destination / "opt/hearth"


@pytest.fixture(scope="module")
def package(open_folder):
    if shutil.which("dpkg-deb") is None:
        pytest.skip("dpkg-deb is not here")
    folder = open_folder / "deb"
    run("scripts/deb.sh", folder, HEARTH_BUILD=HEARTH.parent, HEARTH_DEB_COMPRESSION="gzip")
    (made,) = folder.glob("hearth_*.deb")
    return made


@pytest.fixture(scope="module")
def unpacked(package, open_folder):
    run("dpkg-deb", "-x", package, open_folder / "unpacked")
    return open_folder / "unpacked"


class ServiceManager:
    """The other end of NOTIFY_SOCKET, in the abstract namespace so that anybody reaches it."""

    def __init__(self):
        name = f"hearth-test-{os.getpid()}"
        self.address = "@" + name
        self.heard = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("\0" + name)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        # Always reading: what does not fit into the queue is dropped by the server.
        while message := self._socket.recv(4096).decode():
            self.heard.append(message)

    def close(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
            last.sendto(b"", "\0" + self.address[1:])
        self._socket.close()


@pytest.fixture
def manager():
    end = ServiceManager()
    yield end
    end.close()


def verbs_of(program, *words):
    """All verbs that the help names, with those below them."""
    text = run(program, *words, "--help")
    found = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.M)
    for line in found[1].splitlines() if found else []:
        if match := re.match(r"  ([a-z]+)", line):
            yield [*words, match[1]]
            yield from verbs_of(program, *words, match[1])


# ---- make install ----


def test_what_is_installed_answers_while_confined(installed, open_folder, manager):
    model = shutil.copyfile(SMOLLM2, open_folder / "model.gguf")
    work = open_folder / "work"
    work.mkdir()
    work.chmod(0o777)
    server = Server(work / "data", program=installed / "bin/hearth",
                    within=[sys.executable, "-c", CONFINED],
                    environment={"NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "2000000"})
    # The server reads its configuration as whoever it has become.
    server.config.chmod(0o644)
    try:
        server.start()
        eventually(lambda: len(manager.heard) > 1, "it is ready and alive", 20)
        assert manager.heard[0] == f"READY=1\nSTATUS=on http://127.0.0.1:{server.port}"
        assert manager.heard[1] == "WATCHDOG=1"
        server.import_model(model, "smollm2")
        assert server.chat("What is a hearth?")["choices"][0]["message"]["content"]
        status = Path(f"/proc/{server.worker_pid()}/status").read_text()
        assert "NoNewPrivs:\t1" in status
        if os.geteuid() == 0:
            assert "Uid:\t65534" in status
            assert "CapEff:\t0000000000000000" in status
            server.output.wait_for(r"server.may_not what=\"lock more than .*LimitMEMLOCK", 10)
        server.stop()
        eventually(lambda: any(m.startswith("STOPPING=1") for m in manager.heard), "it stops", 20)
        assert not server.new_errors()
    finally:
        server.kill()


def test_executables_stay_together(installed):
    link = installed / "bin/hearth"
    assert os.readlink(link) == "../lib/hearth/hearth"
    for name in ("hearth", "hearth-worker", "hearth-keeper", "hearth-fetcher"):
        assert os.access(installed / "lib/hearth" / name, os.X_OK)
    built = {path.name for path in (HEARTH.parent / "lib").glob("*.so*")}
    assert {path.name for path in (installed / "lib/hearth/lib").iterdir()} == built


def test_every_verb_has_a_page(installed):
    pages = {path.name for path in (installed / "share/man/man1").iterdir()}
    names = ["hearth", *("-".join(["hearth", *words]) for words in verbs_of(HEARTH))]
    assert len(names) > 40
    assert pages == {f"{name}.1" for name in names}


def test_pages_have_what_the_program_says(installed):
    page = (installed / "share/man/man1/hearth-doctor.1").read_text()
    assert ".TP\n\\fB\\-\\-apply N" in page and "hearth doctor \\-\\-apply 1" in page
    options = (installed / "share/man/man5/hearth.toml.5").read_text()
    for name in re.findall(r"^### (\S+)", run(HEARTH, "config", "docs"), re.M):
        assert f".SS {name}" in options


@needs("man")
def test_pages_are_laid_out_without_warnings(installed):
    for page in sorted((installed / "share/man").glob("man?/*")):
        done = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True,
                              env={**os.environ, "LC_ALL": "C.UTF-8", "MANROFFOPT": ""}, check=True)
        assert not done.stderr, page.name + ": " + done.stderr


def test_completions_are_the_programs_own(installed):
    for shell, path in {"bash": "bash-completion/completions/hearth",
                        "zsh": "zsh/site-functions/_hearth",
                        "fish": "fish/vendor_completions.d/hearth.fish"}.items():
        assert (installed / "share" / path).read_text() == run(HEARTH, "completion", shell)


def test_nothing_is_left_after_uninstall(open_folder):
    destination = open_folder / "gone"
    where = {"DESTDIR": destination, "PREFIX": "/usr/local", "HEARTH_BUILD": HEARTH.parent}
    run("scripts/install.sh", **where)
    own = destination / "usr/local/bin/another"
    own.write_text("")
    run("scripts/install.sh", "--remove", **where)
    assert [path for path in destination.rglob("*") if not path.is_dir()] == [own]


# ---- licences and the bill of materials ----


def test_third_parties_are_all_named():
    run(sys.executable, "scripts/third_party.py", "check")


def test_licences_come_along(installed):
    texts = {path.stem: path.read_text() for path in (installed / "share/doc/hearth/licenses").iterdir()}
    assert "ggml authors" in texts["llama.cpp-with-ggml"]
    assert "Boost Software License" in texts["boost.asio-beast-json"]
    assert all(len(text) > 300 for text in texts.values())


def test_bill_of_materials(installed):
    bill = json.loads((installed / "share/doc/hearth/sbom.cdx.json").read_text())
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.5", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bill["serialNumber"])
    parts = {part["bom-ref"]: part for part in bill["components"]}
    assert len(parts) == len(bill["components"]) > 15
    (edge,) = bill["dependencies"]
    assert edge["ref"] == bill["metadata"]["component"]["bom-ref"]
    assert sorted(edge["dependsOn"]) == sorted(parts)
    for part in parts.values():
        assert part["type"] in ("library", "file") and part["licenses"]
        assert re.match(r"pkg:(npm|deb|github)/\S+$", part.get("purl", "pkg:npm/x"))
        for digest in part.get("hashes", []):
            assert digest["alg"] == "SHA-512" and re.fullmatch("[0-9a-f]{128}", digest["content"])
    lock = (ROOT / "third_party/llama/packages.lock").read_text()
    commit = re.search(r"^commit\s+(\w+)", lock, re.M)[1]
    assert f"pkg:github/ggml-org/llama.cpp@{commit}" in parts


# ---- the unit ----


@needs("systemd-analyze")
def test_the_unit_is_understood(open_folder):
    # As the system's own, but for the program, which has to exist.
    unit = open_folder / "hearth.service"
    text = (ROOT / "packaging/hearth.service.in").read_text().replace("@PREFIX@/bin/hearth", "/bin/true")
    unit.write_text(text)
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
    # What it says of other units, or of a system that systemd does not run, is not about ours.
    assert not [line for line in done.stderr.splitlines() if "hearth.service:" in line], done.stderr


@needs("systemd-analyze")
def test_the_unit_is_confined(unpacked):
    said = run("systemd-analyze", "security", "--offline=yes", "--threshold=30",
               f"--root={unpacked}", "hearth.service")
    assert re.search(r"exposure level for hearth.service: [0-2]\.\d OK", said), said[-300:]


# ---- the Debian package ----


def test_package_says_what_it_needs(package):
    field = {name: run("dpkg-deb", "-f", package, name).strip() for name in ("Depends", "Version", "Maintainer")}
    for name in ("libc6", "libcurl4", "libsqlite3-0", "libssl3", "libstdc++6", "libxxhash0"):
        assert re.search(rf"\b{re.escape(name)} \(>= \d", field["Depends"]), field
    assert "llama" not in field["Depends"] and "ggml" not in field["Depends"]
    assert re.fullmatch(r"[\d.]+-1", field["Version"])
    assert re.fullmatch(r".+ <\S+@\S+>", field["Maintainer"])


def test_what_is_unpacked_runs(unpacked):
    assert re.search(r"\d+\.\d+", run(unpacked / "usr/bin/hearth", "--version"))
    # Needs the engine's libraries, which it finds beside itself.
    found = run("ldd", unpacked / "usr/lib/hearth/hearth-worker")
    assert f"{unpacked}/usr/lib/hearth/lib/libllama" in found and "not found" not in found


def test_package_holds_nobodys_paths(unpacked):
    for path in unpacked.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode in (0o644, 0o755), f"{path}: {mode:o}"
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        assert str(ROOT).encode() + b"/" not in data, path


class ScratchSystem:
    """A root of our own that dpkg installs into, without what the package depends on."""

    def __init__(self, root):
        self.root = root
        for folder in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "etc", "usr"):
            (root / folder).mkdir(parents=True)
        for file in ("var/lib/dpkg/status", "var/lib/dpkg/available", "etc/passwd", "etc/group"):
            (root / file).touch()

    def dpkg(self, *words):
        return run("dpkg", f"--root={self.root}", "--force-script-chrootless", "--force-depends",
                   "--force-confold", "--force-not-root", *words,
                   PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")

    def installed(self):
        return [line for line in self.dpkg("-l").splitlines() if re.match(r"ii  hearth ", line)]


def newer(package, folder):
    """The same package under a later version."""
    tree = folder / "newer"
    run("dpkg-deb", "-R", package, tree)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"(Version: .*)-1", r"\1-2", control.read_text()))
    made = folder / "newer.deb"
    run("dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, made)
    return made


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes users")
def test_package_comes_and_goes(package, tmp_path):
    system = ScratchSystem(tmp_path / "root")
    data, config = system.root / "var/lib/hearth", system.root / "etc/hearth/hearth.toml"

    system.dpkg("-i", package)
    assert system.installed()
    uid = int(re.search(r"^hearth:x:(\d+):", (system.root / "etc/passwd").read_text(), re.M)[1])
    assert data.stat().st_uid == uid and stat.S_IMODE(data.stat().st_mode) == 0o700
    (data / "hearth.db").write_text("kept")
    config.write_text("keep_alive = \"30m\"\n")

    system.dpkg("-i", newer(package, tmp_path))
    assert "-2 " in system.installed()[0]
    assert (data / "hearth.db").read_text() == "kept" and "30m" in config.read_text()
    assert int(re.search(r"^hearth:x:(\d+):", (system.root / "etc/passwd").read_text(), re.M)[1]) == uid

    system.dpkg("-r", "hearth")
    assert not (system.root / "usr/bin/hearth").exists()
    assert (data / "hearth.db").read_text() == "kept" and "30m" in config.read_text()

    system.dpkg("-P", "hearth")
    assert not data.exists() and not config.exists()
    left = [path for path in system.root.rglob("*hearth*") if "dpkg" not in path.parts]
    assert not left, left


def test_what_runs_at_installation_is_sound():
    for name in ("postinst", "prerm", "postrm"):
        script = ROOT / "packaging/debian" / name
        run("sh", "-n", script)
        assert "\nset -e\n" in script.read_text()


@needs("lintian")
def test_lintian_finds_no_error(package):
    run("lintian", "--fail-on", "error", package)


# ---- the container ----


def test_container_runs_as_nobody_special():
    text = (ROOT / "packaging/Containerfile").read_text()
    last = text[text.rindex("\nFROM "):]
    assert "\nUSER hearth\n" in last and "\nVOLUME /var/lib/hearth\n" in last
    assert not re.search(r"^(ADD|ARG)\b|(?i:secret|token|password)=", text, re.M)
    # Both name what the executables are linked to; glibc is in every system.
    named = set(re.findall(r"\blib[a-z][\w.+-]*", last[:last.index("useradd")]))
    page = (ROOT / "THIRD_PARTY.md").read_text().split("## Linked at run time, from Debian")[1].split("\n## ")[0]
    assert set(re.findall(r"\| `(lib\S+)` \|", page)) - {"libc6"} <= named
