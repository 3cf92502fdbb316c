# SPDX-License-Identifier: Apache-2.0
"""The lab's studies, as somebody runs them: few trials each, on a machine that may be busy."""

import json
import os
import signal
import subprocess

import pytest

from support.server import HEARTH, SMOLLM2, clean_environment
from support.waiting import eventually

USAGE, INTERRUPTED = 64, 130
pytestmark = pytest.mark.timeout(300)
PATIENCE_S = 240


@pytest.fixture
def lab(tmp_path):
    """Runs `hearth lab ...` with a state directory of its own."""
    environment = clean_environment({"XDG_STATE_HOME": str(tmp_path / "state")})
    started = []

    def start(*arguments):
        process = subprocess.Popen(
            [HEARTH, "lab", *map(str, arguments)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
            start_new_session=True)
        started.append(process)
        return process

    def run(*arguments, code=0):
        process = start(*arguments)
        out, error = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == code, out + error
        return out

    run.start = start
    run.journals = tmp_path / "state/hearth/lab"
    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


def rows_of(run):
    with open(run / "rows.jsonl") as file:
        return [json.loads(line) for line in file]


def study_of(tmp_path, model_copy, *more, repetitions=1):
    return ["--model", model_copy, "--repetitions", repetitions, "--quiet", 0,
            "--out", tmp_path / "run", *more]


def nothing_is_left(lab, run):
    assert not list(lab.journals.glob("*.undo"))
    assert not list(run.glob(".lab-*"))


def servers_in(run):
    """Processes whose programs lie in the run's directory."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and str(run) in os.readlink(f"/proc/{entry}/exe"):
                found.append(int(entry))
        except OSError:
            continue
    return found


def test_classes_prove_their_states(lab, tmp_path, model_copy):
    run = tmp_path / "run"
    arms = ("page-cold 100 %", "page-cold 50 %", "prefix cold", "immediate repeat")
    chosen = [word for arm in arms for word in ("--only", arm)]
    summary = json.loads(lab("classes", *study_of(tmp_path, model_copy, "--quick", "--json", *chosen)))
    assert sorted(summary["arms"]) == sorted(arms)
    rows = {row["arm"]: row for row in rows_of(run)}
    assert set(rows) == set(arms)
    assert rows["page-cold 100 %"]["before"]["pages"] < 0.01
    assert abs(rows["page-cold 50 %"]["before"]["pages"] - 0.5) < 0.011
    assert rows["page-cold 100 %"]["effects"]["bytes_read"] > SMOLLM2.stat().st_size / 2
    assert rows["immediate repeat"]["timing"]["cached_tokens"] > 100
    assert rows["prefix cold"]["timing"].get("cached_tokens", 0) == 0
    page = (run / "report.html").read_text()
    assert "page-cold 50 %" in page and "<script" not in page
    assert (run / "rows.csv").exists() and json.loads((run / "run.json").read_text())["machine"]
    nothing_is_left(lab, run)
    assert not servers_in(run)


def test_a_run_goes_on_where_it_was_interrupted(lab, tmp_path, model_copy):
    run = tmp_path / "run"
    process = lab.start("classes", *study_of(tmp_path, model_copy, "--only", "immediate",
                                             repetitions=3))
    eventually(lambda: (run / "rows.jsonl").exists() and rows_of(run), "a row", 100)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == INTERRUPTED, error
    assert "--resume" in error
    nothing_is_left(lab, run)
    first = rows_of(run)
    lab("classes", "--resume", run)
    rows = rows_of(run)
    assert rows[:len(first)] == first
    assert {(row["arm"], row["block"]) for row in rows} == {
        ("immediate repeat", block) for block in range(3)}


def test_what_a_killed_run_left_is_put_back(lab, tmp_path, model_copy):
    run = tmp_path / "run"
    process = lab.start("classes", *study_of(tmp_path, model_copy, "--only", "prefix cold"))
    eventually(lambda: servers_in(run), "a server runs", 120)
    process.kill()
    process.wait()
    assert list(lab.journals.glob("*.undo"))
    said = lab("undo")
    assert "ended process" in said and str(run / ".lab-") in said
    eventually(lambda: not servers_in(run), "the servers are gone", 20)
    nothing_is_left(lab, run)
    assert "No experiment" in lab("undo")


def test_idle_compares_injected_and_real_pauses(lab, tmp_path, model_copy):
    run = tmp_path / "run"
    text = lab("idle", *study_of(tmp_path, model_copy, "--mode", "both", "--gaps", "0",
                                 "--real-repetitions", 1))
    assert {row["arm"] for row in rows_of(run)} == {"0 min, injected", "0 min, real"}
    for column in ("UPTIME", "RAM", "VRAM", "READ", "CLOCK", "QUEUE", "TOKENIZE", "PREFILL",
                   "FIRST DECODE", "FIRST TOKEN"):
        assert column in text
    [forecast] = json.loads((run / "forecasts.json").read_text())
    assert forecast["side"] == "hearth" and forecast["pause"] == "0 min"


def test_mix_replays_a_household(lab, tmp_path, model_copy):
    trace = tmp_path / "trace.csv"
    lines = [f"{second},m{second % 2},1,1" for second in (0, 60, 400, 401, 900)]
    trace.write_text("seconds,model,size_gb,service_s\n" + "\n".join(lines) + "\n")
    run = tmp_path / "run"
    text = lab("mix", *study_of(tmp_path, model_copy, "--trace", trace, "--requests", 5))
    rows = rows_of(run)
    assert sum(row["arm"] == "household" for row in rows) == 5
    assert sum(row["arm"] == "immediate repeat" for row in rows) == 7
    assert "A DAY" in text
    assert (run / "mix.json").exists()


def test_a_server_that_runs_already_is_asked_and_left_alone(lab, tmp_path, new_server):
    server = new_server()
    arms = ["--only", "immediate", "--only", "page-cold 100"]
    lab("classes", "--without-hearth", "--against", server.url, "--repetitions", 1, "--quiet", 0,
        "--out", tmp_path / "run", *arms)
    assert server.process.poll() is None
    info = json.loads((tmp_path / "run/run.json").read_text())
    assert any("page-cold 100 %" in arm for arm in info["left_out"])


@pytest.mark.parametrize("arguments", [
    ["classes"],
    ["classes", "--without-hearth", "--model", "x.gguf"],
    ["idle", "--mode", "slow"],
    ["idle", "--gaps", "-1"],
    ["mix", "--requests", "0"],
])
def test_wrong_usage_is_said(lab, arguments):
    lab(*arguments, code=USAGE)


def test_what_somebody_keeps_in_a_directory_stays(lab, tmp_path, model_copy):
    run = tmp_path / "run"
    for name in ("servers", "competition"):
        (run / name).mkdir(parents=True)
        (run / name / "mine.txt").write_text("mine")
    lab("classes", *study_of(tmp_path, model_copy), code=1)
    lab("undo")
    assert sorted(path.name for path in run.rglob("*.*")) == ["mine.txt", "mine.txt"]


@pytest.mark.parametrize("arguments, code, said", [
    (["classes", "--model", "nowhere.gguf", "--host", "127.0.0.1:1"], 1, "nowhere.gguf"),
    (["classes", "--model", "MODEL", "--only", "lukewarm"], USAGE, "immediate repeat"),
    (["idle", "--model", "MODEL", "--gaps", "1", "--only", "9 min"], USAGE, "1 min, injected"),
    (["mix", "--model", "MODEL", "--trace", "nowhere.csv"], 1, "nowhere.csv"),
])
def test_what_cannot_be_begun_leaves_no_run(lab, tmp_path, model_copy, arguments, code, said):
    arguments = [str(model_copy) if word == "MODEL" else word for word in arguments]
    process = lab.start(*arguments, "--out", tmp_path / "run")
    _, error = process.communicate(timeout=60)
    assert process.returncode == code, error
    assert said in error
    assert not (tmp_path / "run").exists()
    assert not list(lab.journals.glob("*.undo"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_whoever_ends_it_finds_all_put_back(lab, tmp_path, model_copy, number):
    """While its server opens: that is no reason to leave it out of the run for good."""
    run = tmp_path / "run"
    process = lab.start("classes", *study_of(tmp_path, model_copy, "--only", "immediate"))
    eventually(lambda: servers_in(run), "a server runs", 100)
    process.send_signal(number)
    _, error = process.communicate(timeout=30)
    assert process.returncode == INTERRUPTED, error
    nothing_is_left(lab, run)
    assert not servers_in(run)
    assert "left_out" not in json.loads((run / "run.json").read_text())


def test_two_do_not_go_on_with_one_run(lab, tmp_path, model_copy):
    run = tmp_path / "run"
    process = lab.start("classes", *study_of(tmp_path, model_copy, "--only", "immediate"))
    eventually(lambda: (run / "run.json").exists(), "a run", 60)
    lab("classes", "--resume", run, code=1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)


def test_a_report_that_cannot_be_written_is_printed(lab, tmp_path, model_copy):
    run = tmp_path / "run"
    process = lab.start("idle", *study_of(tmp_path, model_copy, "--gaps", "0"))
    eventually(lambda: (run / "run.json").exists(), "a run", 60)
    for name in ("report.html", "forecasts.json"):
        (run / name / "in the way").mkdir(parents=True)
    out, error = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, error
    assert "0 min, injected" in out and "FIRST TOKEN" in out
    assert "report.html" in error and "forecasts.json" in error


def test_a_directory_that_holds_a_run_is_not_overwritten(lab, tmp_path, model_copy):
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text("{}")
    lab("classes", *study_of(tmp_path, model_copy), code=1)
    assert (run / "run.json").read_text() == "{}"
