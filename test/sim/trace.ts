// What happened in one run: a hash over every step (the same seed must give the same), counts of everything that
// occurred, the violations found, and, when asked for, the steps themselves.

export class Violation extends Error {}

export interface Trace {
  /** One step. Never holds what differs between two runs of one seed (API keys are drawn by the real CSPRNG). */
  step(now: number, what: string): void;
  count(what: string, by?: number): void;
  /** A checker found that a promise is broken. The first one ends the run. */
  violate(checker: string, message: string): void;
  readonly counts: Map<string, number>;
  readonly violations: { readonly at: number; readonly checker: string; readonly message: string }[];
  hash(): string;
}

export function createTrace(print: ((line: string) => void) | null): Trace {
  const counts = new Map<string, number>();
  const violations: { at: number; checker: string; message: string }[] = [];
  let hash = 0n;
  let last = 0;
  return {
    counts,
    violations,
    step(now, what) {
      last = now;
      const line = `${now.toFixed(3)} ${what}`;
      hash = Bun.hash.wyhash(line, hash);
      print?.(line);
    },
    count: (what, by = 1) => void counts.set(what, (counts.get(what) ?? 0) + by),
    violate(checker, message) {
      violations.push({ at: last, checker, message });
      print?.(`VIOLATION ${checker}: ${message}`);
    },
    hash: () => hash.toString(16).padStart(16, "0"),
  };
}
