// Names of tools, ids of calls and the client's name for its user, in a form that the other side takes. The same name
// always becomes the same one, so that a call, its definition and its result still agree; nothing is remembered beyond one
// request.

import type { Renamed } from "./translation.ts";

const TAKEN = /^[a-zA-Z0-9_-]+$/;
const HASH_LENGTH = 8;

const hashOf = (name: string): string => new Bun.CryptoHasher("sha256").update(name).digest("hex");

/** The name itself where it fits; else what fits of it and a hash of the whole. */
function fitted(name: string, lengthMax: number): string {
  if (name.length <= lengthMax && TAKEN.test(name)) return name;
  const hash = hashOf(name).slice(0, HASH_LENGTH);
  return `${name.slice(0, lengthMax - HASH_LENGTH - 1).replace(/[^a-zA-Z0-9_-]/g, "_")}_${hash}`;
}

export interface ToolNames {
  /** The name as the provider is told. */
  sent(name: string): string;
  readonly renamed: Renamed;
}

export function createToolNames(lengthMax: number): ToolNames {
  const renamed = new Map<string, string>();
  return {
    sent(name) {
      const sent = fitted(name, lengthMax);
      if (sent !== name) renamed.set(sent, name);
      return sent;
    },
    renamed,
  };
}

export interface Ids {
  /** An id for one more call: the client's where it fits and is the first of its kind. */
  next(id: string): string;
}

/** Room for what tells calls of the same id apart. */
const COUNT_LENGTH = 8;

export function createIds(lengthMax: number): Ids {
  const used = new Set<string>();
  const counts = new Map<string, number>();
  return {
    next(id) {
      const first = id === "" ? "call" : fitted(id, lengthMax);
      const base = first.slice(0, lengthMax - COUNT_LENGTH);
      let fresh = first;
      while (used.has(fresh)) {
        const count = (counts.get(base) ?? 1) + 1;
        counts.set(base, count);
        fresh = `${base}_${count}`;
      }
      used.add(fresh);
      return fresh;
    },
  };
}

/** The client's name for its user, or its hash where that is longer than the provider takes; null without one. */
export function userName(name: unknown, lengthMax: number): string | null {
  if (typeof name !== "string" || name === "") return null;
  return name.length <= lengthMax ? name : hashOf(name);
}
