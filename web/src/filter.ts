// SPDX-License-Identifier: Apache-2.0
// Which of the history is shown.

import { computed, signal } from "@preact/signals";
import { rows, type Row } from "./history";

export interface Filter {
  class: string;
  model: string;
  client: string;
  layer: string;
  from: number; // ms since 1970
  to: number;
}

const ALL: Filter = { class: "", model: "", client: "", layer: "", from: 0, to: Infinity };

export const filter = signal<Filter>(ALL);

export function narrow(part: Partial<Filter>) {
  filter.value = { ...filter.value, ...part };
}

export function widen() {
  filter.value = ALL;
}

export const isNarrow = computed(() => Object.keys(ALL).some(
  (name) => filter.value[name as keyof Filter] !== ALL[name as keyof Filter]));

function fits(row: Row, f: Filter): boolean {
  return (f.class === "" || (row.class ?? row.outcome) === f.class) &&
    (f.model === "" || row.model === f.model) &&
    (f.client === "" || row.client === f.client) &&
    (f.layer === "" || row.layer === f.layer) &&
    row.at >= f.from && row.at <= f.to;
}

export const shown = computed(() => {
  const f = filter.value;
  return isNarrow.value ? rows.value.filter((row) => fits(row, f)) : rows.value;
});

// What there is to choose from.
function choices(of: (row: Row) => string) {
  return computed(() => [...new Set(rows.value.map(of))].sort());
}

export const knownModels = choices((row) => row.model);
export const knownClients = choices((row) => row.client);
