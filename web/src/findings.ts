// SPDX-License-Identifier: Apache-2.0
// What is worth a change: replies with the same verdict and model make one finding, most seconds a
// day first. `hearth doctor` looks at the machine besides.

import type { Row } from "./history";
import type { Finding } from "./types";

export interface Case {
  code: string;
  model: string;
  layer: string | undefined;
  replies: number;
  perDay: number; // seconds
  worst: string; // in the server's words
  remedy: string | undefined;
  example: string; // a request's id
}

// Every server has some of these; they are worth a word where they come again and are felt.
const ORDINARY = /^(weights\.first_use|pages\.never_read|compiled\.first|artifact\.(absent|partial)|prefix\.(short|not_restorable|other_options)|queue\.|power\.ramp)/;
const LEAST_ORDINARY = 1; // seconds a day
const DAY_MS = 86_400_000;
const WEEK = 7; // days
const LEAST_CONTENDED = 3; // replies

function isWorthAWord(one: Case): boolean {
  if (one.code === "cpu.contended") return one.replies >= LEAST_CONTENDED;
  return !ORDINARY.test(one.code) || (one.replies > 1 && one.perDay >= LEAST_ORDINARY);
}

// Of the last week, and what there is of it: less than a day counts as one, so that one bad minute
// is not taken for the rule.
export function casesOf(all: readonly Row[], now: number): Case[] {
  const rows = all.filter((row) => row.at >= now - WEEK * DAY_MS);
  const first = rows.reduce((at, row) => Math.min(at, row.at), now);
  const days = Math.max(1, (now - first) / DAY_MS);
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    if (!row.verdict?.cost_ms) continue;
    const name = `${row.verdict.code} ${row.model}`;
    const group = groups.get(name);
    if (group) group.push(row);
    else groups.set(name, [row]);
  }
  const cases = [...groups.values()].map((group): Case => {
    const cost = (row: Row) => row.verdict!.cost_ms!;
    const worst = group.reduce((a, b) => (cost(b) > cost(a) ? b : a));
    return {
      code: worst.verdict!.code, model: worst.model, layer: worst.verdict!.layer,
      replies: group.length,
      perDay: group.reduce((sum, row) => sum + cost(row), 0) / 1000 / days,
      worst: worst.verdict!.text, remedy: group[0]!.verdict!.remedy, example: worst.id,
    };
  });
  return cases.filter(isWorthAWord).sort((a, b) => b.perDay - a.perDay);
}

// Those that the server found by itself cost what nobody has measured.
export function caseOf(finding: Finding): Case {
  return {
    code: finding.code, model: finding.model ?? "", layer: finding.code.split(".")[0],
    replies: finding.requests ?? 0, perDay: finding.seconds_per_day ?? 0,
    worst: finding.text, remedy: finding.remedy, example: "",
  };
}
