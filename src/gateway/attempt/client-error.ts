// The error that a client gets when no attempt succeeded (contract section 2): from the last failure or, when
// nothing could be tried, from the state of the keys. Pure functions.

import type { AttemptRow } from "../../../actors/account/state.ts";
import type { ProviderKeyId } from "../../../actors/ids.ts";
import { healthOf, type LevelView, usability } from "../../../actors/level/view.ts";
import type { Refusal } from "../../base/errors.ts";
import type { Demands } from "../../dialect/request-demands.ts";
import type { FailureKind, UpstreamFailure } from "../../upstream/upstream-failure.ts";
import type { ProviderRejection } from "../call.ts";
import { modelAtPath } from "../codec/key-formats.ts";
import { forbidden } from "../codec/key-permits.ts";
import type { Serves } from "../codec/key-support.ts";

/** The error for the client: a refusal, or the provider's own 4xx. */
export type LastFailure = { readonly refusal: Refusal } | { readonly rejection: ProviderRejection };

/** The state of the keys of all Levels that were reached. Waits are ms from now. */
export interface KeyAvailability {
  /** Keys that can serve the request and are not disabled. */
  readonly fit: number;
  /** Enabled keys that accept no style into which the request can be encoded. */
  readonly otherStyle: number;
  /** Enabled keys whose provider does not have the path. */
  readonly otherPath: number;
  /** Enabled keys that may not take what the request demands, see `forbids`. */
  readonly forbidden: number;
  /** Fit keys whose provider answered that it lacks the model. */
  readonly without: number;
  readonly resting: number;
  readonly soonestRestMs: number | null;
  /**
   * The shortest of all waits: rests, sleeps, models passed over. Null when there is none, or a key is usable
   * now.
   */
  readonly soonestMs: number | null;
}

/**
 * Returns the state of the keys at the candidates in `places` for a request to `path`. `now` is wall-clock ms. `rows` are the
 * request's attempts, of which the views may not know yet.
 */
export function keyAvailability(
  path: string,
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
      const usable = usability(key, health?.get(key.id), modelAtPath(path, model), now);
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

/** The part of a request that its error depends on. */
export interface Failed {
  readonly path: string;
  readonly model: string;
  /** Why it could not be translated into another style; null or omitted when it could, or need not be. */
  readonly untranslated?: Refusal | null;
  /** What it demands beyond its model; omitted when nothing. */
  readonly demands?: Demands | undefined;
}

/** Returns the error for the client. `signals` are the failures of all attempts, in order. */
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

/** Key availability for a request with at least one attempt: its error depends on the last failure alone. */
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

/**
 * Returns the failure that decides the error: the last one other than `model_unavailable`, which counts only
 * when every key says so, and `path_missing`, after which the key counts as one of another style. Returns null when there
 * is none.
 */
function telling(signals: readonly UpstreamFailure[]): UpstreamFailure | null {
  return signals.findLast(({ name }) => name !== "model_unavailable" && name !== "path_missing") ?? null;
}

/**
 * Returns the shortest rest in ms, of those in the views of the Levels and those that this request has just
 * caused.
 */
function soonestRest(signals: readonly UpstreamFailure[], { soonestRestMs }: KeyAvailability): number | null {
  const met = signals.flatMap(({ name, retryAfterMs }) =>
    name === "rate_limited" && retryAfterMs !== undefined ? [retryAfterMs] : [],
  );
  const all = soonestRestMs === null ? met : [soonestRestMs, ...met];
  return all.length === 0 ? null : Math.min(...all);
}

/**
 * Returns the refusal of a request without attempts, or whose attempts all found that the model is missing.
 */
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
    case "unstreamed":
      return {
        code: "invalid_parameter",
        message: `The provider of the model ${model} does not stream its answers here. Ask without "stream".`,
      };
    case "too_large":
      return {
        code: "upstream_failed",
        message: `The provider's answer for ${model} is larger than 64 MB. Ask for less at once.`,
        final: true,
      };
    case "busy":
      return {
        code: "service_unavailable",
        message: "The service has too many connections to providers open. Try again later.",
        retryAfterS: 1,
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

type ErrorKind = "timeout" | "limited" | "too_big" | "too_large" | "unstreamed" | "busy" | "unavailable";

const KIND: Partial<Record<FailureKind, ErrorKind>> = {
  timeout: "timeout",
  rate_limited: "limited",
  too_big_for_tpm: "too_big",
  not_streamed: "unstreamed",
  answer_too_large: "too_large",
  no_connection: "busy",
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
