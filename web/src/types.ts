// SPDX-License-Identifier: Apache-2.0
// What the server answers, as far as these pages use it. docs/openapi.json has all of it.

export type LayerName = "artifact" | "pages" | "weights" | "compiled" | "prefix";

export interface LayerState {
  level: string;
  fraction: number;
  bytes: number;
  total: number;
  detail?: string;
}

export type Layers = Record<LayerName, LayerState>;

export interface Forecast {
  low_ms: number;
  high_ms: number;
  known: boolean;
  start: string;
  errors: number[];
}

export interface Need {
  weights_bytes?: number;
  kv_bytes?: number;
  total_bytes?: number;
}

export interface Model {
  name: string;
  status: string;
  reason?: string;
  size: number;
  last_used_us: number;
  architecture: string;
  quantization: string;
  parameters: number;
  trained_context: number;
  has_chat_template: boolean;
  store: string;
  source: string | null;
  capabilities: string[];
  keep_alive: string;
  keep_alive_source: string;
  expires_at_us?: number;
  pinned: string[];
  layers: Layers;
  worker?: {
    pid: number;
    uptime_ms: number;
    resident_bytes: number;
    anonymous_bytes: number;
    device_bytes: number;
    backend: string;
    context: number;
    threads: number;
  };
  predicted_ttft_ms?: number;
  predicted_ttft?: Forecast;
  active: number;
  queued: number;
}

export interface Stage {
  name: string;
  start_ms: number;
  ms?: number; // absent while it goes on
  bytes?: number;
  shared?: boolean;
}

export interface Verdict {
  code: string;
  layer?: string;
  cost_ms?: number;
  remedy?: string;
  text: string;
}

// The `hearth` object of a reply, and with the members below it an entry of the history.
export interface Account {
  request_id: string;
  class: string | null;
  cold_layer?: LayerName;
  shared: boolean;
  queued_ms: number;
  total_ms: number;
  overlap_ms: number;
  other_ms: number;
  stages: Stage[];
  before?: Partial<Record<LayerName, { level: string; fraction: number; bytes: number }>> & {
    pressure?: { cpu: number; memory: number };
  };
  avoided?: Partial<Record<LayerName, { bytes?: number; ms?: number }>>;
  verdict?: Verdict;
  warm?: { ttft_ms: number; bound_ms: number; why?: string };
  chat_template?: string;
  truncated?: { messages: number; tokens: number };
  prefix?: {
    live: number;
    memory: number;
    disk: number;
    miss?: { reason: string; position: number; text: string };
  };
}

export interface Entry extends Account {
  model: string;
  api: string;
  path: string;
  key?: string;
  status: number;
  outcome: string;
  message?: string;
  started_us: number;
  prompt_tokens?: number;
  cached_tokens?: number;
  generated_tokens?: number;
  ttft_ms?: number;
  prefill_ms?: number;
  decode_ms?: number;
  tokens_per_s?: number;
  bytes_read?: number;
  major_faults?: number;
}

export interface Memory {
  limit_bytes: number;
  limit_reason: string;
  held_bytes: number;
  promised_bytes: number;
  free_bytes: number;
  over_bytes: number;
  machine: { total: number; available: number; reserve: number; swap_used: number | null };
  cgroup: { path: string; version: number; limit: number | null; used: number | null } | null;
  pressure: { memory_some_avg10: number | null; cpu_some_avg10: number | null };
  held: { what: string; model: string | null; bytes: number }[];
  devices: { name: string; limit: number; held: number }[];
  page_cache: { ours: number | null; of_files: number | null };
}

export interface Move {
  at_us: number;
  model: string;
  layer: string;
  from: string;
  to: string;
  cause: string;
  for?: string;
  bytes: number;
  ms: number;
  error?: string;
}

export interface Guarded {
  name: string;
  kind: string;
  state: string;
  gave_way: string[];
  reason: string | null;
  baseline_ms: number | null;
  p99_ms: number | null;
}

export interface Warmth {
  model: string;
  claim: {
    ttft_ms: number;
    idle_gap_s: number;
    state: string;
    met: number;
    of: number;
    bound_ms: number | null;
    promise: string | null;
    given_up: { layer: string; why: string }[];
    reason: string | null;
  } | null;
}

export interface Levels {
  protected: Guarded[];
  prewarming: { state: string; why: string | null; model: string | null; daily_bytes: number };
  warmth: Warmth[];
}

export interface Finding {
  code: string;
  model?: string;
  text: string;
  remedy?: string;
  requests?: number;
  seconds_per_day?: number;
}

export interface Pull {
  source: string;
  name: string;
  state: string;
  reason?: string;
  done_bytes: number;
  total_bytes: number;
  bytes_per_s: number;
  touched_us: number;
  waiting: number;
  eta_ms?: number;
  stage?: string;
}

export interface PrefixView {
  memory: { bytes: number; limit: number; blocks: number };
  disk: { bytes: number; limit: number; blocks: number; written_today: number; daily_limit: number };
  lookups: number;
  hit_tokens: number;
  missed_tokens: number;
  saved_seconds: number;
}

export interface Report {
  name: string;
  study: string;
  model: string;
  started_us: number;
  report: boolean;
  summary: boolean;
}

export interface LabCell {
  arm: string;
  side: string;
  figures: { wait_ms?: { low: number; median: number; high: number; n: number } };
}

export interface LabSummary {
  sides: string[];
  arms: string[];
  cells: LabCell[];
}

export interface Device {
  name: string;
  kind: string;
  file_system: string;
  read_ahead_bytes?: number;
  rates: { bytes_per_s?: number }[];
}

export interface Version {
  version: string;
  engine: string;
  uptime_ms: number;
  resident_bytes: number;
  role?: string;
  devices?: Device[];
}
