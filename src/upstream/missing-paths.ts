// Remembers which base addresses turned out to lack a path, so that requests are not sent there in vain. It is soft: what is
// forgotten is learned again from the next answer. It judges no answer; upstream-failure.ts does.
//
// /v1/responses is remembered for all models, because a request there goes on translated. At other paths it ends, and an answer
// without words may mean the model alone, so that it is remembered for that model: no request closes a path to other models.

import type { Clock } from "../base/clock.ts";

/** How long a missing path is remembered, in ms: a host may get it with its next version. */
const REMEMBERED_MS = 3_600_000;
/** Paths that are remembered. At the bound the oldest is forgotten. */
const PATHS_MAX = 1_000;

/** The missing paths of hosts, by host name, port and base path: one host may have several APIs. */
export class MissingPaths {
  /** Until when (monotonic ms) each is remembered, oldest first. */
  private readonly known = new Map<string, number>();

  constructor(private readonly clock: Pick<Clock, "mono">) {}

  /** Remembers that a base URL lacks a path for a model. */
  add(provider: string, path: string, model: string): void {
    const name = nameOf(provider, path, model);
    this.known.delete(name);
    if (this.known.size >= PATHS_MAX) this.known.delete(this.known.keys().next().value!);
    this.known.set(name, this.clock.mono() + REMEMBERED_MS);
  }

  /** Whether a base URL is known to lack a path for a model. */
  has(provider: string, path: string, model: string): boolean {
    if (this.known.size === 0) return false;
    const name = nameOf(provider, path, model);
    const until = this.known.get(name);
    if (until === undefined) return false;
    if (until > this.clock.mono()) return true;
    this.known.delete(name);
    return false;
  }
}

/** A base URL without a path means the same as one that ends in /v1; see standard.ts. */
function nameOf(provider: string, path: string, model: string): string {
  const url = URL.parse(provider);
  const place = path === FOR_ALL_MODELS ? path : `${path} ${model}`;
  return url === null ? place : `${url.host}${url.pathname.replace(/\/+$/, "") || "/v1"} ${place}`;
}

const FOR_ALL_MODELS = "/v1/responses";
