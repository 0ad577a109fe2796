// GET /dashboard/explain and /x-explain: why requests go where they go, and where one of them went. Provider keys are
// named to their Owner only; everybody else sees how many there are of a kind.

import { Type } from "@sinclair/typebox";
import type { AttemptRow } from "../../actors/account/state.ts";
import type { AccountRecord } from "../../actors/account/views.ts";
import { toUsd } from "../../actors/money.ts";
import type { AdmissionParts } from "../gateway/admission.ts";
import { type Candidate, type Explanation, explain } from "../gateway/explain.ts";
import type { FailedRequest, Recent } from "../gateway/recent.ts";
import { SURFACES, type Surface } from "../gateway/surfaces.ts";
import { type ChargedRequest, chargedRequest } from "../report/requests.ts";
import { Refused } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";
import { answer, type Edge, endpoint } from "./endpoint.ts";
import { descendant } from "./reach.ts";
import { text } from "./shapes.ts";

export interface ExplainParts extends Edge, AdmissionParts {
  readonly store: Store;
  readonly recent: Recent;
}

const asked = {
  model: Type.Optional(text(256, 1)),
  request: Type.Optional(text(128, 1)),
  path: Type.Optional(text(256, 1)),
};
const OwnQuery = Type.Object(asked, { additionalProperties: false });
const DescendantQuery = Type.Object({ user: text(254, 1), ...asked }, { additionalProperties: false });

interface Asked {
  readonly model?: string;
  readonly request?: string;
  readonly path?: string;
}

/** contract section 4: GET /dashboard/explain. */
export const getExplain = (parts: ExplainParts) =>
  endpoint(parts, { who: "any", query: OwnQuery }, async ({ caller, query, clientIp }) =>
    answer(await explained(parts, { of: caller, ip: clientIp, named: caller.isOwner, query })),
  );

/** contract section 4: GET /x-explain, for an ancestor. */
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

async function explained(parts: ExplainParts, { of, ip, named, query }: Question): Promise<object> {
  const { id, keyHash } = of.profile;
  if ((query.model === undefined) === (query.request === undefined)) {
    throw new Refused({ code: "missing_parameter", message: 'Give either "model" or "request".' });
  }
  if (query.model !== undefined) {
    const surface = surfaceAt(query.path);
    const caller = { account: id, keyHash };
    const found = await explain(parts, surface, { caller, ip, model: query.model }, parts.clock.wall());
    return modelShape(found, named);
  }
  const request = query.request!;
  const charged = await chargedRequest(parts.store, id, request);
  if (charged !== null) return chargedShape(charged, named);
  const [failed] = parts.recent.find(id, request);
  if (failed !== undefined) return failedShape(failed, named);
  throw new Refused({
    code: "not_found",
    message: "No request with this id is known: it was never charged, and failed long ago or elsewhere.",
  });
}

function surfaceAt(path: string | undefined): Surface {
  const found = path === undefined ? SURFACES[0] : SURFACES.find((one) => one.path === path);
  if (found !== undefined) return found;
  const paths = SURFACES.map((one) => one.path).join(", ");
  throw new Refused({ code: "invalid_parameter", message: `"path" must be one of ${paths}.` });
}

function modelShape(found: Explanation, named: boolean) {
  const { decision } = found;
  return {
    object: "explain",
    model: found.model,
    steps: found.steps,
    limits: found.limits.map(({ scope, name, limit, remaining, resetsAt, unit }) => ({
      scope,
      name,
      limit: unit === "nano" ? toUsd(limit as never) : limit,
      remaining: unit === "nano" ? toUsd(remaining as never) : remaining,
      resets_at: resetsAt === null ? null : new Date(resetsAt).toISOString(),
    })),
    candidates: named ? found.candidates.map(candidateShape) : counted(found.candidates),
    decision: {
      ...decision,
      refusal:
        decision.refusal === null ? null : { code: decision.refusal.code, message: decision.refusal.message },
    },
  };
}

const candidateShape = ({ model, level, key, state, reason, until }: Candidate) => ({
  model,
  level,
  key_id: key,
  state,
  ...(reason === null ? {} : { reason }),
  ...(until === null ? {} : { until: new Date(until).toISOString() }),
});

/** How many keys of a Level are in which state, in the order of the candidates. */
function counted(candidates: readonly Candidate[]) {
  const rows = new Map<
    string,
    { model: string; level: number; count: number; state: string; reason?: string }
  >();
  for (const { model, level, state, reason } of candidates) {
    const name = JSON.stringify([model, level, state, reason]);
    const row = rows.get(name) ?? {
      model,
      level,
      count: 0,
      state,
      ...(reason === null ? {} : { reason }),
    };
    row.count++;
    rows.set(name, row);
  }
  return [...rows.values()];
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
