# SPDX-License-Identifier: Apache-2.0
"""A program in a terminal of its own."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]")


class Terminal:
    def __init__(self, command, environment, columns=100):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs,
                                        env=environment, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(theirs)
        self._terminal = ours
        self.raw = ""
        self._seen = 0

    @property
    def text(self):
        """What came, without colours and cursor moves."""
        return _ESCAPES.sub("", self.raw)

    def type(self, line):
        os.write(self._terminal, line.encode())

    def _read(self, deadline):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([self._terminal], [], [], left)[0]:
            raise AssertionError(f"the terminal stayed silent after:\n{self.text}")
        try:
            data = os.read(self._terminal, 4096)
        except OSError:  # the other end is closed
            data = b""
        self.raw += data.decode(errors="replace")
        return bool(data)

    def take(self, within):
        """What comes within so many seconds; False at the end of all output."""
        try:
            return self._read(time.monotonic() + within)
        except AssertionError:
            return True

    def expect(self, pattern, timeout=30):
        """Waits until `pattern` comes after what was matched before."""
        deadline = time.monotonic() + timeout
        while True:
            if match := re.compile(pattern).search(self.text, self._seen):
                self._seen = match.end()
                return match
            if not self._read(deadline):
                raise AssertionError(f"it ended without {pattern!r}:\n{self.text}")

    def wait(self, timeout=30):
        deadline = time.monotonic() + timeout
        while self._read(deadline):
            pass
        os.close(self._terminal)
        return self.process.wait(timeout)
