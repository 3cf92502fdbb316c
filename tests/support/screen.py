# SPDX-License-Identifier: Apache-2.0
"""What somebody sees on a terminal after so many bytes: as much of one as `hearth top` uses."""

import re

_PIECES = re.compile(r"\x1b\[(\??)([\d;]*)([A-Za-z])|([\r\n])|([^\x1b\r\n]+)")


class Screen:
    def __init__(self, raw, columns):
        self.lines = [""]
        self.alternate = False
        self._columns = columns
        self._row = self._column = 0
        for private, numbers, letter, newline, text in _PIECES.findall(raw):
            if text:
                self._write(text)
            elif newline:
                self._column = 0
                self._row += newline == "\n"
            elif private:
                self.alternate = letter == "h" if numbers == "1049" else self.alternate
            else:
                self._do(letter, numbers)

    @property
    def text(self):
        return "\n".join(line.rstrip() for line in self.lines)

    def _write(self, text):
        while len(self.lines) <= self._row:
            self.lines.append("")
        line = self.lines[self._row].ljust(self._column)
        line = line[:self._column] + text + line[self._column + len(text):]
        self.lines[self._row] = line[:self._columns]
        self._column += len(text)

    def _do(self, letter, numbers):
        if letter == "H":
            row, _, column = (numbers or "1;1").partition(";")
            self._row, self._column = int(row) - 1, int(column or 1) - 1
        elif letter == "J":
            self.lines = [""]
        elif letter == "K" and self._row < len(self.lines):
            self.lines[self._row] = ""
