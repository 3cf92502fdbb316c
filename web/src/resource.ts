// SPDX-License-Identifier: Apache-2.0
import { signal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, textOf } from "./api";

const LEAST_PAUSE_MS = 2000;

// One answer of the server that is shown somewhere. touch() says that it may have changed: it is
// then fetched again, at most every two seconds, and only while something shows it.
export class Resource<T> {
  readonly data: Signal<T | null> = signal(null);
  readonly error = signal("");
  private shown = 0;
  private timer = 0;
  private last = -Infinity;

  constructor(private readonly path: string) {}

  async load(): Promise<void> {
    this.last = performance.now();
    try {
      this.data.value = await get<T>(this.path);
      this.error.value = "";
    } catch (error) {
      this.error.value = textOf(error);
    }
  }

  refresh(): Promise<void> {
    return this.shown > 0 ? this.load() : Promise.resolve();
  }

  touch() {
    if (this.shown === 0 || this.timer !== 0) return;
    const wait = Math.max(0, this.last + LEAST_PAUSE_MS - performance.now());
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      void this.refresh();
    }, wait);
  }

  // In a component: keeps the answer fresh while that is there.
  use(): T | null {
    useEffect(() => {
      ++this.shown;
      void this.load();
      return () => void --this.shown;
    }, []);
    return this.data.value;
  }
}
