// What every management, administration and dashboard endpoint does around its own few lines: identify the caller,
// limit how often he calls, read and check the body and the query, answer in JSON, turn refusals into error bodies;
// of what changes something also: write the operation log, and answer a repeated request as the first.
// The order is the contract's: who calls is settled before what he sends is looked at.

import type { Static, TObject } from "@sinclair/typebox";
import { INVALID_KEY } from "../../actors/account/admit.ts";
import { isRoot } from "../../actors/account/state.ts";
import type { AccountRecord } from "../../actors/account/views.ts";
import { ROOT } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { Clock, Random } from "../base/clock.ts";
import { RefusedError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { type Identify, type Caller as KeyHolder, MISSING_KEY } from "../gateway/account/identify.ts";
import type { ActorSystem } from "../runtime/system.ts";
import { type Action, type AuditCall, type AuditEntry, type AuditLog, openAuditEntry } from "./audit-log.ts";
import type { CallLimiter } from "./call-limiter.ts";
import { asManagement, errorResponse, httpError, INTERNAL, refusalOf } from "./errors.ts";
import type { AdminIdempotency, CommandId } from "./idempotency.ts";
import { parseJsonBody, readText, validate } from "./request-body.ts";
import { NoQuery } from "./shapes.ts";

export interface ManagementParts {
  readonly system: ActorSystem<Protocol>;
  readonly identify: Identify;
  readonly limiter: CallLimiter;
  readonly operations: AuditLog;
  readonly repeats: AdminIdempotency;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly maxBodyBytes: number;
}

/** The listener a request came to. */
export type HttpListener = { requestIP(request: Request): { address: string } | null } | null;

/** What a handler gets of a request. */
export interface Context {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | undefined>>;
  /** The client's address as the trusted proxies tell it. */
  readonly clientIp: () => string;
}

export interface ManagementCaller extends AccountRecord {
  readonly keyHash: string;
}

export interface ManagementInput<B extends TObject, Q extends TObject> {
  readonly caller: ManagementCaller;
  readonly body: Static<B>;
  readonly query: Static<Q>;
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly request: Request;
  readonly clientIp: () => string;
  /** What the operation log is to say; of an endpoint without `action` nobody reads it. */
  readonly journal: AuditEntry;
  /** For what moves money: a repeat after a crash has the same, so that nothing moves twice. */
  readonly command: CommandId;
}

export interface Access<B extends TObject, Q extends TObject> {
  readonly who: "any" | "owner" | "root";
  readonly body?: B;
  /** It may be left out altogether: then `body` is empty, whatever the schema requires. */
  readonly bodyMayLack?: true;
  readonly query?: Q;
  /** The key may also come as `x-api-key`: a path below /v1. */
  readonly xApiKey?: true;
  /** Changes something although it reads no body: refused to a suspended account, as what has a body is. */
  readonly writes?: true;
  /** Its answer has a price: who cannot pay is refused as a request to a model is. */
  readonly pays?: true;
  /** Every call of a known caller writes a line of the operation log, done or refused. */
  readonly action?: Action;
  /** How long the caller's account may take to say who it is, ms; absent: as long as others are asked. */
  readonly knownWithinMs?: number;
  /** A path of the gateway: refused to a suspended account, as every other one is. */
  readonly gateway?: true;
}

/** A handler that says what it takes: the document of the service is written from what really checks. */
export type Endpoint = ((context: Context) => Promise<Response>) & {
  readonly takes: Access<TObject, TObject>;
};

/** Headers beside a body. */
export interface ManagementAnswer {
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const answer = (body: unknown, headers?: Readonly<Record<string, string>>): ManagementAnswer =>
  headers === undefined ? { body } : { body, headers };

export function endpoint<B extends TObject, Q extends TObject>(
  edge: ManagementParts,
  options: Access<B, Q>,
  handle: (input: ManagementInput<B, Q>) => Promise<ManagementAnswer> | ManagementAnswer,
): Endpoint {
  const activeOnly = options.body !== undefined || options.writes === true || options.gateway === true;
  const { action } = options;
  const handler = async ({ request, params, query, clientIp }: Context): Promise<Response> => {
    const requestId = requestIdOf(request, edge.random);
    const headers = { "x-request-id": requestId };
    let page: AuditCall | null = null;
    try {
      const holder = await keyHolder(edge, { request, ip: clientIp, xApiKey: options.xApiKey === true });
      edge.limiter.count(holder.account, holder.account === ROOT);
      const { account: operator } = holder;
      page = openAuditEntry(edge.operations, action && { action, operator, ip: clientIp() });
      const budgetMs = options.knownWithinMs;
      const caller = await identified(edge, holder, { ip: clientIp, activeOnly, budgetMs });
      authorize(caller, options.who);
      const text = options.body ? await readText(request, edge.maxBodyBytes) : "";
      const lacks = options.bodyMayLack === true && text.trim() === "";
      const body = options.body && !lacks ? validate(options.body, parseJsonBody(text)) : ({} as Static<B>);
      // Below /v1 what nobody knows passes; elsewhere it would be done without what was meant.
      const known = options.query ?? (options.xApiKey ? null : (NoQuery as TObject as Q));
      const asked = known ? validate(known, given(query), "the query") : ({} as Static<Q>);
      const input = { caller, body, query: asked, params, requestId, request, clientIp, journal: page };
      const { value, repeated } = await edge.repeats.once(
        { account: operator, request, body: text },
        async (command) => handle({ ...input, command }),
      );
      // A repeat did nothing, so it has no line of its own.
      if (!repeated) await page.close(null);
      return respond(value.body, { ...headers, ...value.headers });
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === null) {
        edge.log("error", "request_failed", {
          requestId,
          path: new URL(request.url).pathname,
          error: String(error),
        });
      }
      // A key that was rotated away identifies no operator.
      if (refusal?.code !== INVALID_KEY.code) await page?.close(refusal ?? INTERNAL);
      const found = httpError(refusal ?? INTERNAL);
      return errorResponse(options.pays ? found : asManagement(found), headers);
    }
  };
  return Object.assign(handler, { takes: options });
}

/** Text and streams go as they are, with a content type of their own; everything else as JSON. */
const respond = (body: unknown, headers: Readonly<Record<string, string>>): Response =>
  typeof body === "string" || body instanceof ReadableStream
    ? new Response(body, { headers })
    : Response.json(body, { headers });

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

/** Whose key came along; whether it still is, the account itself says. */
async function keyHolder(
  edge: ManagementParts,
  { request, ip, xApiKey }: { request: Request; ip: () => string; xApiKey: boolean },
): Promise<KeyHolder> {
  const key = apiKeyOf(request, xApiKey);
  if (key === null) throw new RefusedError(MISSING_KEY);
  const holder = await edge.identify(key, ip);
  if (holder === null) throw new RefusedError(INVALID_KEY);
  return holder;
}

async function identified(
  edge: ManagementParts,
  { account, keyHash }: KeyHolder,
  { ip, activeOnly, budgetMs }: { ip: () => string; activeOnly: boolean; budgetMs: number | undefined },
): Promise<ManagementCaller> {
  try {
    const asking = { keyHash, ip: ip(), suspendedToo: !activeOnly };
    const options = budgetMs === undefined ? {} : { budgetMs };
    const record = await edge.system.ask(actorRef.account(account), "identify", asking, options);
    return { ...record, keyHash };
  } catch (error) {
    if (error instanceof RefusedError && error.refusal.code === INVALID_KEY.code)
      edge.identify.forget(keyHash);
    throw error;
  }
}

function authorize(caller: ManagementCaller, who: "any" | "owner" | "root"): void {
  if (who === "owner" && !caller.isOwner) {
    throw new RefusedError({ code: "not_owner", message: "Only an Owner may call this endpoint." });
  }
  if (who === "root" && !isRoot(caller.profile)) {
    throw new RefusedError({ code: "not_root", message: "Only Root may call this endpoint." });
  }
}

const given = (query: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
