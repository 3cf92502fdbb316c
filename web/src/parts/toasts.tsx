// SPDX-License-Identifier: Apache-2.0
import { signal } from "@preact/signals";

interface Toast {
  id: number;
  text: string;
  bad: boolean;
}

const toasts = signal<readonly Toast[]>([]);
const SHOWN_MS = 6000;
let next = 1;

// Says what came of something, for a few seconds, to screen readers too.
export function tell(text: string, kind: "good" | "bad" = "good") {
  const toast = { id: next++, text, bad: kind === "bad" };
  toasts.value = [...toasts.value, toast];
  setTimeout(() => {
    toasts.value = toasts.value.filter((t) => t.id !== toast.id);
  }, kind === "bad" ? SHOWN_MS * 2 : SHOWN_MS);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <p key={toast.id} class={toast.bad ? "bad" : ""}>{toast.text}</p>
      ))}
    </div>
  );
}
