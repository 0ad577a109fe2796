// What a client is told when nobody answered (contract section 2): by the last signal, or, when nothing could be tried,
// by what the keys are waiting for.

import type { AttemptRow } from "../../../actors/account/state.ts";
import type { ProviderKeyId } from "../../../actors/ids.ts";
import { healthOf, type LevelView, usability } from "../../../actors/level/view.ts";
import type { Refusal } from "../../base/errors.ts";
import type { Demands } from "../../dialect/request-demands.ts";
import type { FailureKind, UpstreamFailure } from "../../upstream/upstream-failure.ts";
import type { ProviderRejection } from "../call.ts";
import { forbidden } from "../codec/key-permits.ts";
import type { Serves } from "../codec/key-support.ts";

export type LastFailure = { readonly refusal: Refusal } | { readonly rejection: ProviderRejection };

/** How the keys of all Levels that were come to stand; waits in ms from now. */
export interface KeyAvailability {
  /** Keys that can take the request and are not disabled. */
  readonly fit: number;
  /** Enabled keys that take it in no style that it can be put into. */
  readonly otherStyle: number;
  /** Enabled keys whose provider does not have the path. */
  readonly otherPath: number;
  /** Enabled keys that may not take what the request demands. */
  readonly forbidden: number;
  /** Fit keys that said they do not have the model. */
  readonly without: number;
  readonly resting: number;
  readonly soonestRestMs: number | null;
  /** The soonest of all waits: rests, sleeps, models passed over. Null too when a key may be used right now. */
  readonly soonestMs: number | null;
}

/** Where the request was, as the Levels are now. `rows`: its attempts, of which the Levels may not know yet. */
export function keyAvailability(
  places: readonly { readonly view: LevelView; readonly model: string }[],
  serves: Serves,
  now: number,
  rows: readonly AttemptRow[] = [],
): KeyAvailability {
  const justSaid = (key: ProviderKeyId, model: string) =>
    rows.some((row) => row.signal === "model_unavailable" && row.key === key && row.model === model);
  const seen = { fit: 0, otherStyle: 0, otherPath: 0, forbidden: 0, without: 0, resting: 0 };
  let soonestRestMs: number | null = null;
  let soonestMs: number | null = null;
  let ready = false;
  for (const { view, model } of places) {
    const health = healthOf(view);
    for (const key of view.keys) {
      const usable = usability(key, health?.get(key.id), model, now);
      if (usable.state === "disabled") continue;
      const serving = serves(key, model);
      if (serving !== "served") {
        seen[COUNTED_AS[serving]]++;
        continue;
      }
      seen.fit++;
      if (usable.state === "passed_over" || justSaid(key.id, model)) seen.without++;
      if (!("until" in usable)) {
        ready ||= !justSaid(key.id, model);
        continue;
      }
      const waitMs = usable.until - now;
      soonestMs = Math.min(soonestMs ?? waitMs, waitMs);
      if (usable.state === "resting") {
        seen.resting++;
        soonestRestMs = Math.min(soonestRestMs ?? waitMs, waitMs);
      }
    }
  }
  return { ...seen, soonestRestMs, soonestMs: ready ? null : soonestMs };
}

const COUNTED_AS = { other_style: "otherStyle", other_path: "otherPath", forbidden: "forbidden" } as const;

/** The request, as far as it matters to what is told. */
export interface Failed {
  readonly path: string;
  readonly model: string;
  /** Why it could not be put into another style; absent or null: it could, or need not. */
  readonly untranslated?: Refusal | null;
  /** What it demands beyond its model; absent: nothing. */
  readonly demands?: Demands | undefined;
}

/** `signals`: what each attempt met, in order. */
export function clientErrorFor(
  signals: readonly UpstreamFailure[],
  request: Failed,
  found: KeyAvailability,
): LastFailure {
  const { model } = request;
  const last = telling(signals);
  if (last === null) return { refusal: untried(request, found) };
  if (last.pass !== undefined) return { rejection: last.pass };
  return { refusal: refusalFor(last, model, { ...found, soonestRestMs: soonestRest(signals, found) }) };
}

/** Of a request that was tried already: nothing is to be said of keys. */
export const NO_KEY_AVAILABILITY: KeyAvailability = {
  fit: 0,
  otherStyle: 0,
  otherPath: 0,
  forbidden: 0,
  without: 0,
  resting: 0,
  soonestRestMs: null,
  soonestMs: null,
};

/** The signal to answer by: the last one, but "no such model" only counts when every key says so. */
function telling(signals: readonly UpstreamFailure[]): UpstreamFailure | null {
  return signals.findLast((one) => one.name !== "model_unavailable") ?? null;
}

/** The smallest rest, of those that the keys' Levels know of and those that this request has just met. */
function soonestRest(signals: readonly UpstreamFailure[], { soonestRestMs }: KeyAvailability): number | null {
  const met = signals.flatMap(({ name, retryAfterMs }) =>
    name === "rate_limited" && retryAfterMs !== undefined ? [retryAfterMs] : [],
  );
  const all = soonestRestMs === null ? met : [soonestRestMs, ...met];
  return all.length === 0 ? null : Math.min(...all);
}

/** No attempt says more than that the model is not there; or none was made. */
function untried({ model, path, untranslated, demands }: Failed, found: KeyAvailability): Refusal {
  if (found.fit === 0 && found.forbidden > 0 && demands !== undefined) return forbidden(demands);
  if (found.fit === 0 && found.otherPath > 0) {
    return { code: "model_not_found", message: `No provider of the model ${model} serves this path.` };
  }
  if (found.fit === 0 && found.otherStyle > 0) return untranslated ?? otherStyle(model, path);
  if (found.fit > 0 && found.without === found.fit) {
    return { code: "model_not_found", message: `No provider key has access to the model ${model}.` };
  }
  if (found.resting > 0) return limited(model, found.soonestRestMs);
  return unavailable(model, found.soonestMs);
}

const otherStyle = (model: string, path: string): Refusal => ({
  code: "invalid_parameter",
  message:
    `No provider of the model ${model} takes requests at ${path}, and they are not translated. ` +
    "Ask for it at /v1/chat/completions or /v1/messages.",
});

function refusalFor(signal: UpstreamFailure, model: string, found: KeyAvailability): Refusal {
  switch (KIND[signal.name] ?? "failed") {
    case "timeout":
      return {
        code: "upstream_timeout",
        message: `The provider did not answer in time for ${model}. Try again.`,
      };
    case "limited":
      return limited(model, found.soonestRestMs);
    case "too_big":
      return {
        code: "upstream_rate_limited",
        message: `The request is larger than the provider's tokens per minute for ${model}. Send less.`,
        final: true,
      };
    case "unavailable":
      return unavailable(model, found.soonestMs);
    default:
      return {
        code: "upstream_failed",
        message: `The provider failed to answer for ${model}. Try again.`,
      };
  }
}

const KIND: Partial<Record<FailureKind, "timeout" | "limited" | "too_big" | "unavailable">> = {
  timeout: "timeout",
  rate_limited: "limited",
  too_big_for_tpm: "too_big",
  quota_gone: "unavailable",
  overloaded: "unavailable",
};

const seconds = (ms: number | null): { retryAfterS?: number } =>
  ms === null ? {} : { retryAfterS: Math.max(1, Math.ceil(ms / 1_000)) };

const limited = (model: string, waitMs: number | null): Refusal => ({
  code: "upstream_rate_limited",
  message: `The provider limits requests for ${model} at the moment. Try again later.`,
  ...seconds(waitMs ?? 1_000),
});

const unavailable = (model: string, waitMs: number | null): Refusal => ({
  code: "no_available_key",
  message: `No provider key can serve ${model} at the moment. Try again later.`,
  ...seconds(waitMs),
});
