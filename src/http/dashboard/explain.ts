// GET /dashboard/explain and /x-explain: why requests go where they go, and where one of them went. Provider keys are
// named to their Owner only; everybody else sees how many there are of a kind.

import { Type } from "@sinclair/typebox";
import type { LimitRow } from "../../../actors/account/rate-limits.ts";
import type { AttemptRow } from "../../../actors/account/state.ts";
import type { AccountRecord } from "../../../actors/account/views.ts";
import { type Nano, toUsd } from "../../../actors/money.ts";
import { RefusedError } from "../../base/errors.ts";
import type { FailedRequest, FailedRequestLog } from "../../gateway/answer/failed-request-log.ts";
import type { DryRunParts } from "../../gateway/dry-run/dry-run.ts";
import { explain, type KeyCandidate } from "../../gateway/dry-run/explain.ts";
import { findEndpoint } from "../../gateway/endpoints.ts";
import { type ChargedRequest, chargedRequest } from "../../report/charged-request.ts";
import type { Store } from "../../store/store.ts";
import { descendant } from "../accounts/account-lookup.ts";
import { answer, endpoint } from "../endpoint.ts";
import type { ManagementParts } from "../management.ts";
import { textSchema } from "../schemas.ts";

export interface ExplainParts extends ManagementParts, DryRunParts {
  readonly store: Store;
  readonly recent: FailedRequestLog;
}

const asked = {
  model: Type.Optional(textSchema(256, 1)),
  request: Type.Optional(textSchema(128, 1)),
  path: Type.Optional(textSchema(256, 1)),
};
const OwnQuery = Type.Object(asked, { additionalProperties: false });
const DescendantQuery = Type.Object({ user: textSchema(254, 1), ...asked }, { additionalProperties: false });

interface Asked {
  readonly model?: string;
  readonly request?: string;
  readonly path?: string;
}

/** GET /dashboard/explain?model= or request=: the caller's own. */
export const getExplain = (parts: ExplainParts) =>
  endpoint(parts, { who: "any", query: OwnQuery }, async ({ caller, query, clientIp }) =>
    answer(await explained(parts, { of: caller, ip: clientIp, named: caller.isOwner, query })),
  );

/** GET /x-explain?user=: the same of a descendant. */
export const getDescendantExplain = (parts: ExplainParts) =>
  endpoint(parts, { who: "any", query: DescendantQuery }, async ({ caller, query }) => {
    const of = await descendant(parts, caller, query.user);
    // Where its requests come from is not known here: any address that it may have will do.
    const ip = () => of.profile.allowIps[0]?.split("/")[0] ?? "";
    return answer(await explained(parts, { of, ip, named: caller.isOwner, query }));
  });

interface Question {
  readonly of: AccountRecord;
  readonly ip: () => string;
  /** Provider keys by id, not only by number. */
  readonly named: boolean;
  readonly query: Asked;
}

async function explained(parts: ExplainParts, question: Question): Promise<object> {
  const { model, request } = question.query;
  if (model !== undefined && request === undefined) return ofModel(parts, question, model);
  if (request !== undefined && model === undefined) return ofRequest(parts, question, request);
  throw new RefusedError({ code: "missing_parameter", message: 'Give either "model" or "request".' });
}

/** Where a model is asked for unless the question names a path. */
const DEFAULT_PATH = "/v1/chat/completions";

async function ofModel(parts: ExplainParts, { of, ip, named, query }: Question, model: string) {
  const caller = { account: of.profile.id, keyHash: of.profile.keyHash };
  const found = await explain(parts, findEndpoint(query.path ?? DEFAULT_PATH), { caller, ip }, model);
  const { refusal, ...decision } = found.decision;
  return {
    object: "explain",
    model,
    steps: found.steps,
    limits: found.limits.map(limitShape),
    candidates: named ? found.candidates.map(candidateShape) : counted(found.candidates),
    decision: {
      ...decision,
      admitted: refusal === null,
      refusal: refusal === null ? null : { code: refusal.code, message: refusal.message },
    },
  };
}

async function ofRequest(parts: ExplainParts, { of, named }: Question, request: string) {
  const { id } = of.profile;
  const charged = await chargedRequest(parts.store, id, request);
  if (charged !== null) return chargedShape(charged, named);
  const [failed] = parts.recent.find(id, request);
  if (failed !== undefined) return failedShape(failed, named);
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
    resets_at: resetsAt === null ? null : new Date(resetsAt).toISOString(),
  };
}

const candidateShape = ({ key, ...found }: KeyCandidate) => ({
  model: found.model,
  level: found.level,
  key_id: key,
  ...stateShape(found),
});

const stateShape = ({ state, reason, until }: Omit<KeyCandidate, "key">) => ({
  state,
  ...(reason === null ? {} : { reason }),
  ...(until === null ? {} : { until: new Date(until).toISOString() }),
});

/** How many keys of a Level are in which state, in the order of the candidates; `until` is the soonest of theirs. */
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

const attemptShape = (named: boolean) => (row: AttemptRow) => ({
  ...(named ? { key_id: row.key } : {}),
  level: row.level,
  model: row.model,
  status: row.status,
  signal: row.signal,
  ms: row.ms,
});

function chargedShape({ at, event }: ChargedRequest, named: boolean) {
  return {
    object: "explain",
    model: event.asked,
    steps: [],
    limits: [],
    candidates: [],
    decision: { model: event.model, level: event.level, admitted: true, refusal: null },
    attempts: event.attempts.map(attemptShape(named)),
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
      price: event.price,
      ...(event.parts === undefined ? {} : { parts: event.parts }),
      ...(event.answeredModel === undefined ? {} : { answered_model: event.answeredModel }),
    },
  };
}

function failedShape(failed: FailedRequest, named: boolean) {
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
    attempts: failed.attempts.map(attemptShape(named)),
    request: {
      id: failed.id,
      request_id: failed.request,
      path: failed.path,
      at: new Date(failed.at).toISOString(),
      cost: 0,
    },
  };
}
