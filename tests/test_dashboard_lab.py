# SPDX-License-Identifier: Apache-2.0
"""Reports of the lab in the dashboard, and who may read them."""

import re

from support.waiting import eventually
from test_access import add_keys
from test_dashboard import browser, household, new_tab  # noqa: F401  (fixtures)
from test_lab_report import lab, run


def test_a_report_is_read_in_the_page(household, new_tab):
    tab = new_tab(household)
    page = tab.open("lab")
    row = page.get_by_role("row", name=re.compile("after reboot"))
    assert "1.8" in row.inner_text() and "2.7" in row.inner_text()
    page.get_by_role("link", name="Report of classes-1").click()
    inside = page.frame_locator("iframe.report")
    inside.get_by_role("heading").first.wait_for()
    assert inside.locator("style").count() == 0
    # Its own styles are there all the same.
    eventually(lambda: inside.locator("body").evaluate(
        "b => getComputedStyle(b).maxWidth !== 'none' || getComputedStyle(b).margin !== '8px'"),
        "the report is dressed")
    tab.shoot("lab-report-desktop-light")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save").click()
    assert saved.value.suggested_filename == "classes-1.html"


def test_reports_are_for_those_who_watch(new_server):
    server = new_server(model=None)
    assert server.ok("/api/hearth/reports") == {
        "reports": [], "directory": str(server.data / "reports")}
    reports = server.data / "reports"
    reports.mkdir()
    assert lab("report", run(reports / "one")).returncode == 0
    answer = server.get("/api/hearth/reports/one")
    assert answer.status_code == 200 and "after reboot" in answer.text
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'") and "script" not in policy
    assert server.ok("/api/hearth/reports/one?part=summary")["study"] == "classes"
    assert server.get("/api/hearth/reports/two").status_code == 404
    for path in ("..%2Fcatalogue.db", "%2e%2e", "one?part=rows"):
        assert server.get(f"/api/hearth/reports/{path}").status_code in (400, 404), path
    keys = add_keys(server)
    shown = server.get("/api/hearth/reports", headers={"Authorization": f"Bearer {keys['read-only']}"})
    assert "directory" not in shown.json() and shown.json()["reports"][0]["name"] == "one"
