# SPDX-License-Identifier: Apache-2.0
"""Reports of runs that were kept, and comparisons of two of them. Need no server and no model."""

import csv
import json
import subprocess

import pytest
from support.server import HEARTH

ARMS = {"after reboot": 1800, "immediate repeat": 20}


def run(directory, factor=1.0, damage=""):
    """A run of five blocks, as a study leaves it behind."""
    directory.mkdir()
    (directory / "run.json").write_text(json.dumps(
        {"study": "classes", "model": "smollm2", "arms": list(ARMS), "machine": {"kernel": "6.1"}}))
    rows = [{"study": "classes", "side": side, "arm": arm, "block": block, "order": block,
             "timing": {"first_token_ms": wait * (1 + block / 100) * (factor if side == "hearth" else 1.5),
                        "total_ms": wait + 100}}
            for block in range(5) for arm, wait in ARMS.items() for side in ("hearth", "llama-server")]
    rows[0]["flags"] = ["busy: <b>0.8</b> cores"]
    (directory / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + damage)
    return directory


def lab(*arguments):
    return subprocess.run([HEARTH, "lab", *map(str, arguments)], capture_output=True, text=True,
                          timeout=60, stdin=subprocess.DEVNULL)


def test_a_report_can_be_made_again(tmp_path):
    kept = run(tmp_path / "run")
    done = lab("report", kept)
    assert done.returncode == 0, done.stderr
    heading, *lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert heading[:3] == ["arm", "side", "wait_ms"] and len(lines) == 4
    page = (kept / "report.html").read_text()
    assert "after reboot" in page and "&lt;b&gt;0.8" in page and "<b>0.8" not in page
    assert "http://" not in page and "https://" not in page and "<script" not in page
    rows = list(csv.DictReader((kept / "rows.csv").open()))
    assert len(rows) == 20 and rows[0]["counts"] == "0" and "busy" in rows[0]["why_not"]


def test_its_figures_are_json_too(tmp_path):
    kept = run(tmp_path / "run")
    summary = json.loads(lab("report", kept, "--json").stdout)
    assert summary == json.loads((kept / "summary.json").read_text())
    cell = next(c for c in summary["cells"] if (c["arm"], c["side"]) == ("after reboot", "hearth"))
    assert cell["n"] == 4 and cell["flagged"] == 1
    assert summary["ratios"][0]["ratio"]["median"] == pytest.approx(1 / 1.5)


def test_a_row_that_was_cut_off_is_told_of(tmp_path):
    kept = run(tmp_path / "run", damage='{"study":"classes","si')
    summary = json.loads(lab("report", kept, "--json").stdout)
    assert "could not be read" in summary["not_observable"][0]


def test_what_is_slower_is_named_and_fails(tmp_path):
    before, after = run(tmp_path / "before"), run(tmp_path / "after", factor=1.4)
    done = lab("compare", before, after, "--json")
    assert done.returncode == 1, done.stderr
    verdicts = {(c["arm"], c["side"]): c["verdict"] for c in json.loads(done.stdout)["changes"]}
    assert verdicts["after reboot", "hearth"] == "slower"
    assert verdicts["after reboot", "llama-server"] == "no change that can be told"
    assert lab("compare", after, before).returncode == 0
    assert lab("compare", before, before).returncode == 0


def test_what_is_no_run_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text("[]")
    for directory, why in (("none", "no run.json"), ("empty", "no run.json"), ("bad", "JSON object")):
        done = lab("report", tmp_path / directory)
        assert done.returncode == 1 and why in done.stderr, done
    assert lab("compare", tmp_path / "bad").returncode == 64
    good = run(tmp_path / "good")
    for pair in ((tmp_path / "bad", good), (good, tmp_path / "none")):
        assert lab("compare", *pair).returncode == 2
