# SPDX-License-Identifier: Apache-2.0
"""What `hearth doctor` says of a server."""

import json
import subprocess

from support.server import HEARTH, clean_environment


class Doctor:
    def __init__(self, server, state):
        """`state`: a directory where the doctor keeps what was applied."""
        self._server = server
        self._state = state

    def run(self, *arguments, code=0):
        """Its standard output, and of a refusal the standard error."""
        environment = clean_environment({"HEARTH_HOST": f"127.0.0.1:{self._server.port}",
                                         "XDG_STATE_HOME": str(self._state)})
        done = subprocess.run([HEARTH, *map(str, arguments)], capture_output=True, text=True,
                              timeout=60, env=environment, stdin=subprocess.DEVNULL)
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr

    def told(self):
        return json.loads(self.run("--json", "doctor"))

    def findings(self):
        """{code: finding}"""
        return {found["code"]: found for found in self.told()["findings"]}

    def number_of(self, code):
        """As --apply counts."""
        codes = [found["code"] for found in self.told()["findings"]]
        return codes.index(code) + 1
