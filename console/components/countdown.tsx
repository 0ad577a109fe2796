// Time that is left until an instant, counted down in the page. All of them share one clock, which runs while one is shown and the
// tab is visible: what is asked for by the time of the clock is not asked for in a hidden tab.

import { Text } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { utcText } from "./time.tsx";

const TICK_MS = 1_000;

const listeners = new Set<() => void>();
let now = Date.now();
let ticking: ReturnType<typeof setInterval> | null = null;

function tick(): void {
  if (document.visibilityState === "hidden") return;
  now = Date.now();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (ticking === null) {
    now = Date.now();
    ticking = setInterval(tick, TICK_MS);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0 || ticking === null) return;
    clearInterval(ticking);
    ticking = null;
  };
}

/** Returns the wall clock in milliseconds, and renders again every second while the tab is visible. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now);

const twoDigits = (figure: number): string => String(figure).padStart(2, "0");

/** Writes a duration as `4:32`, `1:02:03` from an hour on, `3d 4h` from two days on; what is over is `0:00`. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const rest = twoDigits(seconds % 60);
  if (hours >= 48) return `${Math.floor(hours / 24)}d ${hours % 24}h`;
  return hours > 0 ? `${hours}:${twoDigits(minutes)}:${rest}` : `${minutes}:${rest}`;
}

/** The time that is left until an instant. */
export function Countdown({ until }: { readonly until: string }) {
  const left = Date.parse(until) - useNow();
  return (
    <Text span inherit className="figure" title={`${utcText(until)} UTC`} role="timer">
      {durationText(left)}
    </Text>
  );
}
