// Explains why requests go where they go, and where one of them went. Provider keys are shown by id to their Owner only; other
// callers see how many there are of a kind.

import type { Static } from "@sinclair/typebox";
import type { LimitRow } from "../../../actors/account/rate-limits.ts";
import type { AttemptRow } from "../../../actors/account/state.ts";
import type { AccountRecord } from "../../../actors/account/views.ts";
import { MAIN_API_KEY } from "../../../actors/ids.ts";
import { actorRef } from "../../../actors/index.ts";
import { isAddress } from "../../../actors/ip-allow-list.ts";
import { type Nano, toUsd } from "../../../actors/money.ts";
import { RefusedError } from "../../base/errors.ts";
import type { FailedRequest, FailedRequestLog } from "../../gateway/answer/failed-request-log.ts";
import { type ExplainingParts, explain, type KeyCandidate } from "../../gateway/dry-run/explain.ts";
import { findEndpoint } from "../../gateway/endpoints.ts";
import { type ChargedRequest, chargedRequest } from "../../report/charged-request.ts";
import type { Store } from "../../store/store.ts";
import { wholeSecond } from "../etag.ts";
import type { ExplainQuerySchema, ExplainSchema } from "./schemas.ts";

/** What explanations need. */
export interface ExplainParts extends ExplainingParts {
  readonly store: Store;
  readonly failedRequests: FailedRequestLog;
}

/** What is to be explained. */
export interface ExplainQuestion {
  /** The account whose request it is. */
  readonly of: AccountRecord;
  /** Whether provider keys are shown by id, and not only counted. */
  readonly showsKeys: boolean;
  readonly query: Static<typeof ExplainQuerySchema>;
}

type Explanation = Static<typeof ExplainSchema>;

/**
 * Explains where a request for a model would go, or where a request that was made went. Throws `missing_parameter`
 * unless exactly one of both is given, `not_found` for a request that is not known, `key_not_found` for an unknown API
 * key, `invalid_parameter` for a text that is no address.
 */
export async function explained(parts: ExplainParts, question: ExplainQuestion): Promise<Explanation> {
  const { model, request } = question.query;
  const ip = addressOf(question);
  const asker = { keyHash: await keyHashOf(parts, question), ip };
  if (model !== undefined && request === undefined) return ofModel(parts, question, asker, model);
  if (request !== undefined && model === undefined) return ofRequest(parts, question, request);
  throw new RefusedError({ code: "missing_parameter", message: 'Give either "model" or "request".' });
}

/** The path on which a model is asked for, unless the question has one. */
const DEFAULT_PATH = "/v1/chat/completions";

/** Returns the hash of the API key whose request is explained: of a named key's newest secret. */
async function keyHashOf({ system }: ExplainParts, { of, query }: ExplainQuestion): Promise<string> {
  const id = Number(query.api_key ?? MAIN_API_KEY);
  if (id === MAIN_API_KEY) return of.profile.keyHash;
  const { keys } = await system.ask(actorRef.account(of.profile.id), "apiKeys", {});
  const found = keys.find((key) => key.id === id);
  if (found !== undefined) return found.hash;
  throw new RefusedError({ code: "key_not_found", message: `The account has no API key ${id}.` });
}

/** Returns the address whose request is explained; null: addresses are not judged. */
function addressOf({ query: { ip } }: ExplainQuestion): string | null {
  if (ip === undefined || isAddress(ip)) return ip ?? null;
  throw new RefusedError({ code: "invalid_parameter", message: '"ip" must be an IPv4 or IPv6 address.' });
}

async function ofModel(
  parts: ExplainParts,
  { of, showsKeys, query }: ExplainQuestion,
  { keyHash, ip }: { readonly keyHash: string; readonly ip: string | null },
  model: string,
): Promise<Explanation> {
  const caller = { account: of.profile.id, keyHash };
  const asked = { caller, ip: () => ip, model, session: query.session ?? null };
  const found = await explain(parts, findEndpoint(query.path ?? DEFAULT_PATH), asked);
  const { refusal, ...decision } = found.decision;
  return {
    object: "explain",
    model,
    steps: found.steps,
    limits: found.limits.map(limitShape),
    affinity: found.affinity,
    candidates: showsKeys ? found.candidates.map(candidateShape) : counted(found.candidates),
    decision: {
      ...decision,
      admitted: refusal === null,
      refusal: refusal === null ? null : { code: refusal.code, message: refusal.message },
    },
  };
}

async function ofRequest(
  parts: ExplainParts,
  { of, showsKeys }: ExplainQuestion,
  request: string,
): Promise<Explanation> {
  const { id } = of.profile;
  const charged = await chargedRequest(parts.store, id, request);
  if (charged !== null) return chargedShape(charged, showsKeys);
  const [failed] = parts.failedRequests.find(id, request);
  if (failed !== undefined) return failedShape(failed, showsKeys);
  throw new RefusedError({
    code: "not_found",
    message: "No request with this id is known: it was never charged, and failed long ago or elsewhere.",
  });
}

function limitShape({ scope, name, limit, remaining, resetsAt, unit }: LimitRow) {
  const shown = (figure: number) => (unit === "nano" ? toUsd(figure as Nano) : figure);
  return {
    scope,
    name,
    limit: shown(limit),
    remaining: shown(remaining),
    resets_at: resetsAt === null ? null : wholeSecond(resetsAt),
  };
}

const candidateShape = ({ key, ...found }: KeyCandidate) => ({
  model: found.model,
  level: found.level,
  key_id: key,
  ...stateShape(found),
  ...(found.affinity === null ? {} : { affinity: found.affinity }),
});

const stateShape = ({ state, reason, until }: Pick<KeyCandidate, "state" | "reason" | "until">) => ({
  state,
  ...(reason === null ? {} : { reason }),
  ...(until === null ? {} : { until: new Date(until).toISOString() }),
});

/** Counts the keys of a Level by state, in the order of the candidates. `until` is the soonest of each group. */
function counted(candidates: readonly KeyCandidate[]) {
  const alike = Map.groupBy(candidates, ({ model, level, state, reason }) =>
    JSON.stringify([model, level, state, reason]),
  );
  return [...alike.values()].map((group) => {
    const { model, level } = group[0]!;
    const soonest = group.reduce((a, b) => ((b.until ?? 0) < (a.until ?? 0) ? b : a));
    return { model, level, count: group.length, ...stateShape(soonest) };
  });
}

const attemptShape = (showsKeys: boolean) => (row: AttemptRow) => ({
  ...(showsKeys ? { key_id: row.key } : {}),
  level: row.level,
  model: row.model,
  status: row.status,
  signal: row.signal,
  ms: row.ms,
});

function chargedShape({ at, event }: ChargedRequest, showsKeys: boolean): Explanation {
  return {
    object: "explain",
    model: event.asked,
    steps: [],
    limits: [],
    candidates: [],
    decision: { model: event.model, level: event.level, admitted: true, refusal: null },
    attempts: event.attempts.map(attemptShape(showsKeys)),
    request: {
      id: event.id,
      request_id: event.request,
      path: event.path,
      stream: event.stream,
      at: new Date(at).toISOString(),
      basis: event.basis,
      prompt_tokens: event.prompt,
      completion_tokens: event.completion,
      cost: toUsd(event.cost),
      usage: event.usage,
      price: event.price,
      ...(event.parts === undefined ? {} : { parts: event.parts }),
      ...(event.answeredModel === undefined ? {} : { answered_model: event.answeredModel }),
      ...(event.tags === undefined ? {} : { tags: event.tags }),
    },
  };
}

function failedShape(failed: FailedRequest, showsKeys: boolean): Explanation {
  const { code, message } = failed;
  return {
    object: "explain",
    model: failed.asked,
    steps: [],
    limits: [],
    candidates: [],
    decision: {
      model: failed.model,
      level: failed.level,
      admitted: true,
      refusal: { code, message },
    },
    attempts: failed.attempts.map(attemptShape(showsKeys)),
    request: {
      id: failed.id,
      request_id: failed.request,
      path: failed.path,
      at: new Date(failed.at).toISOString(),
      cost: 0,
    },
  };
}
