// Explains why a request for a model is routed as it is at this moment: the trace of routing, the account's
// limits, every key that could serve it, and the failover candidates. It decides nothing itself.

import type { LimitRow } from "../../../actors/account/rate-limits.ts";
import type { AccountId, ProviderKeyId } from "../../../actors/ids.ts";
import { healthOf, type Usability, usability } from "../../../actors/level/view.ts";
import type { LevelAffinity } from "../../../actors/owner/config.ts";
import type { Refusal } from "../../base/errors.ts";
import type { KeyChooser } from "../attempt/key-chooser.ts";
import { modelAtPath } from "../codec/key-formats.ts";
import { firstSupportFor, type KeySupport, keySupportFor, type Serves } from "../codec/key-support.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import type { RequestSize } from "../metering/request-size.ts";
import { atLevel, type ConversationHash, conversationNamed } from "../routing/rendezvous.ts";
import type { RouteCandidate, RoutingStep } from "../routing/route.ts";
import { type DryRunParts, dryRun, type SampleRequest } from "./dry-run.ts";

/** A provider key that could serve the request, and its state. */
export interface KeyCandidate {
  readonly model: string;
  readonly level: number;
  readonly key: ProviderKeyId;
  readonly state: Usability["state"] | Exclude<KeySupport, "served">;
  /** Why the key is not usable; null when it is. */
  readonly reason: string | null;
  /**
   * Wall-clock ms from which the key may be used again; null when it is usable now or must be enabled by
   * hand.
   */
  readonly until: number | null;
  /**
   * How the named conversation meets the key: first of all, or because this node remembers that it answered last. Null for
   * another key, and where no conversation is named.
   */
  readonly affinity: "first_choice" | "remembered" | null;
}

/** The explanation of one routing decision. */
export interface Explanation {
  readonly steps: readonly RoutingStep[];
  readonly limits: readonly LimitRow[];
  /** Whether conversations choose keys at this Owner's Levels. */
  readonly affinity: LevelAffinity;
  /** In the order in which they would be tried: model by model, Level by Level. */
  readonly candidates: readonly KeyCandidate[];
  readonly decision: {
    readonly model: string;
    /** The Level where it would be tried first; null when it has no route. */
    readonly level: number | null;
    /** Why it would be refused; null when it would be tried. */
    readonly refusal: Refusal | null;
  };
}

/** The services that an explanation reads. */
export interface ExplainingParts extends DryRunParts {
  readonly chooser: Pick<KeyChooser, "affinityOf">;
}

/** What is explained. */
export interface ExplainedRequest extends Pick<SampleRequest, "caller" | "ip"> {
  readonly model: string;
  /** The `prompt_cache_key` or `x-session-id` of a conversation; null when none is named. */
  readonly session: string | null;
}

/**
 * Explains a request at the endpoint `endpoint`. Throws `RefusedError` only when the account does not exist.
 */
export async function explain(
  parts: ExplainingParts,
  endpoint: GatewayEndpoint,
  { model, session, ...who }: ExplainedRequest,
): Promise<Explanation> {
  const seen = await dryRun(parts, endpoint, { ...who, requested: { model, size: SMALLEST } });
  const { account } = who.caller;
  const affinity = await affinityFor(parts, account);
  const isNamed = affinity === "on" && session !== null;
  const conversation = isNamed ? conversationNamed(account, endpoint.dialect.name, session) : null;
  const now = parts.clock.wall();
  const serves = keySupportFor(endpoint, parts.upstream);
  const servesFirst = firstSupportFor(endpoint, parts.upstream);
  const by = { endpoint, serves, servesFirst, now, conversation, chooser: parts.chooser };
  return {
    steps: seen.steps,
    limits: seen.preview.limits,
    affinity,
    candidates: seen.candidates.flat().flatMap((candidate) => candidatesOf(candidate, by)),
    decision: {
      model: seen.model ?? model,
      level: seen.at?.route.level ?? null,
      refusal: seen.refusal,
    },
  };
}

async function affinityFor({ configs }: DryRunParts, account: AccountId): Promise<LevelAffinity> {
  const { config } = await configs.accountContext(account);
  return config.config.levelAffinity;
}

/** A minimal request: what refuses it refuses every other request. */
const SMALLEST: RequestSize = {
  promptTokens: 1,
  maxOutput: 1,
  n: 1,
  inputs: 1,
  serviceTier: null,
  never: [],
  measured: {},
};

interface Seen {
  readonly endpoint: GatewayEndpoint;
  readonly serves: Serves;
  /** The keys that are asked before all others; null where there is no such difference. */
  readonly servesFirst: Serves | null;
  /** Wall-clock milliseconds. */
  readonly now: number;
  readonly conversation: ConversationHash | null;
  readonly chooser: ExplainingParts["chooser"];
}

function candidatesOf({ model, level, view }: RouteCandidate, seen: Seen): KeyCandidate[] {
  const { endpoint, serves, servesFirst, now, conversation, chooser } = seen;
  const health = healthOf(view);
  const query =
    conversation === null ? null : { model, serves, servesFirst, conversation: atLevel(conversation, level) };
  const meets = query === null ? null : chooser.affinityOf(view, query, now);
  const lacked = modelAtPath(endpoint.path, model);
  return view.keys.map((key) => {
    const affinity =
      meets?.remembered === key.id ? "remembered" : meets?.first === key.id ? "first_choice" : null;
    const place = { model, level, key: key.id, affinity } as const;
    const found = usability(key, health?.get(key.id), lacked, now);
    const serving = serves(key, model);
    if (found.state !== "disabled" && serving !== "served") {
      return { ...place, state: serving, reason: WHY[serving](endpoint), until: null };
    }
    return "until" in found
      ? { ...place, state: found.state, reason: found.reason, until: found.until || null }
      : { ...place, state: found.state, reason: null, until: null };
  });
}

const WHY: Readonly<Record<Exclude<KeySupport, "served">, (endpoint: GatewayEndpoint) => string>> = {
  other_style: ({ path }) => `it does not take requests at ${path}, and they are not translated`,
  other_path: ({ path }) => `its provider does not serve ${path}`,
  forbidden: () => "it may not take what the request demands",
};
