// What every management, administration and dashboard endpoint does around its own few lines: identify the caller,
// limit how often he calls, read and check the body and the query, answer in JSON, turn refusals into error bodies.
// The order is the contract's: who calls is settled before what he sends is looked at.

import type { Static, TObject } from "@sinclair/typebox";
import { WRONG_KEY } from "../../actors/account/admit.ts";
import { isRoot } from "../../actors/account/state.ts";
import type { AccountRecord } from "../../actors/account/views.ts";
import { type Protocol, to } from "../../actors/index.ts";
import { type Identify, MISSING_KEY } from "../gateway/identify.ts";
import type { Clock, Random } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import { type ActorSystem, Refused } from "../runtime/system.ts";
import type { CallLimiter } from "./call-limiter.ts";
import { asManagement, errorResponse, INTERNAL, problem, refusalOf } from "./errors.ts";
import { check, parseJson, readText } from "./json.ts";

export interface Edge {
  readonly system: ActorSystem<Protocol>;
  readonly identify: Identify;
  readonly limiter: CallLimiter;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly maxBodyBytes: number;
}

/** The listener a request came to. */
export type Listener = { requestIP(request: Request): { address: string } | null } | null;

/** What a handler gets of a request. */
export interface Context {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | undefined>>;
  /** The client's address as the trusted proxies tell it. */
  readonly clientIp: () => string;
}

export interface Caller extends AccountRecord {
  readonly keyHash: string;
}

export interface Input<B extends TObject, Q extends TObject> {
  readonly caller: Caller;
  readonly body: Static<B>;
  readonly query: Static<Q>;
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly request: Request;
  readonly clientIp: () => string;
}

export interface Options<B extends TObject, Q extends TObject> {
  readonly who: "any" | "owner" | "root";
  readonly body?: B;
  readonly query?: Q;
  /** The key may also come as `x-api-key`: a path below /v1. */
  readonly xApiKey?: true;
  /** Changes something although it reads no body: refused to a suspended account, as what has a body is. */
  readonly writes?: true;
  /** A path of the gateway: refused to a suspended account, as every other one is. */
  readonly gateway?: true;
}

/** Headers beside a body. */
export interface Answer {
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const answer = (body: unknown, headers?: Readonly<Record<string, string>>): Answer =>
  headers === undefined ? { body } : { body, headers };

export function endpoint<B extends TObject, Q extends TObject>(
  edge: Edge,
  options: Options<B, Q>,
  handle: (input: Input<B, Q>) => Promise<Answer> | Answer,
): (context: Context) => Promise<Response> {
  const activeOnly = options.body !== undefined || options.writes === true || options.gateway === true;
  return async ({ request, params, query, clientIp }) => {
    const requestId = requestIdOf(request, edge.random);
    const headers = { "x-request-id": requestId };
    try {
      const caller = await authenticate(edge, {
        request,
        ip: clientIp,
        activeOnly,
        xApiKey: options.xApiKey === true,
      });
      authorize(caller, options.who);
      edge.limiter.count(caller.profile.id, isRoot(caller.profile));
      const body = options.body
        ? check(options.body, parseJson(await readText(request, edge.maxBodyBytes)))
        : ({} as Static<B>);
      const asked = options.query ? check(options.query, given(query), "the query") : ({} as Static<Q>);
      const result = await handle({ caller, body, query: asked, params, requestId, request, clientIp });
      return Response.json(result.body, { headers: { ...headers, ...result.headers } });
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === null) {
        edge.log("error", "request_failed", {
          requestId,
          path: new URL(request.url).pathname,
          error: String(error),
        });
      }
      return errorResponse(asManagement(problem(refusal ?? INTERNAL)), headers);
    }
  };
}

/** The client's id when it is fit to be one, else a fresh one (contract section 2). */
export const requestIdOf = (request: Request, random: Random): string =>
  givenRequestId(request) ?? random.id();

/** The client's own id; null when it sent none that is fit. */
export function givenRequestId(request: Request): string | null {
  const given = request.headers.get("x-request-id");
  return given !== null && /^[\x20-\x7e]{1,128}$/.test(given) ? given : null;
}

/** The API key of `Authorization: Bearer`, or of `x-api-key` where that is allowed. */
export function apiKeyOf(request: Request, alsoXApiKey: boolean): string | null {
  const header = request.headers.get("authorization");
  const bearer = header !== null && /^bearer /i.test(header) ? header.slice(7).trim() : "";
  if (bearer !== "") return bearer;
  const other = alsoXApiKey ? request.headers.get("x-api-key")?.trim() : undefined;
  return other === undefined || other === "" ? null : other;
}

async function authenticate(
  edge: Edge,
  {
    request,
    ip,
    activeOnly,
    xApiKey,
  }: { request: Request; ip: () => string; activeOnly: boolean; xApiKey: boolean },
): Promise<Caller> {
  const key = apiKeyOf(request, xApiKey);
  if (key === null) throw new Refused(MISSING_KEY);
  const caller = await edge.identify(key, ip);
  if (caller === null) throw new Refused(WRONG_KEY);
  try {
    const record = await edge.system.ask(to.account(caller.account), "identify", {
      keyHash: caller.keyHash,
      ip: ip(),
      suspendedToo: !activeOnly,
    });
    return { ...record, keyHash: caller.keyHash };
  } catch (error) {
    if (error instanceof Refused && error.refusal.code === WRONG_KEY.code)
      edge.identify.forget(caller.keyHash);
    throw error;
  }
}

function authorize(caller: Caller, who: "any" | "owner" | "root"): void {
  if (who === "owner" && !caller.isOwner) {
    throw new Refused({ code: "not_owner", message: "Only an Owner may call this endpoint." });
  }
  if (who === "root" && !isRoot(caller.profile)) {
    throw new Refused({ code: "not_root", message: "Only Root may call this endpoint." });
  }
}

const given = (query: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
