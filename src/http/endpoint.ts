// What every management, administration and dashboard endpoint does around its own few lines: identify the caller,
// limit how often he calls, read and check the body and the query, answer in JSON, turn refusals into error bodies;
// of what changes something also: write the operation log, and answer a repeated request as the first.
// The order is the contract's: who calls is settled before what he sends is looked at.

import type { Static, TObject } from "@sinclair/typebox";
import { INVALID_KEY } from "../../actors/account/admit.ts";
import { ROOT } from "../../actors/ids.ts";
import { type Action, type AuditCall, type AuditEntry, openAuditEntry } from "./audit-log.ts";
import { asManagement, errorResponse, httpError, INTERNAL, refusalOf } from "./errors.ts";
import type { CommandId, IdempotentWrite } from "./idempotency.ts";
import {
  authorize,
  identified,
  keyHolder,
  type ManagementCaller,
  type ManagementParts,
} from "./management.ts";
import { parseJsonBody, readText, validate } from "./request-body.ts";
import { apiKeyOf, requestIdOf } from "./request-head.ts";
import { NoQuerySchema } from "./schemas.ts";

/** What a handler gets of a request. */
export interface Context {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | undefined>>;
  /** The client's address as the trusted proxies tell it. */
  readonly clientIp: () => string;
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

export interface EndpointOptions<B extends TObject, Q extends TObject> {
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
  readonly takes: EndpointOptions<TObject, TObject>;
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
  options: EndpointOptions<B, Q>,
  handle: (input: ManagementInput<B, Q>) => Promise<ManagementAnswer> | ManagementAnswer,
): Endpoint {
  const activeOnly = options.body !== undefined || options.writes === true || options.gateway === true;
  const { action } = options;
  const handler = async ({ request, params, query, clientIp }: Context): Promise<Response> => {
    const requestId = requestIdOf(request, edge.random);
    const headers = { "x-request-id": requestId };
    let page: AuditCall | null = null;
    let write: IdempotentWrite | null = null;
    try {
      const holder = await keyHolder(edge, apiKeyOf(request, options.xApiKey === true), clientIp);
      edge.limiter.count(holder.account, holder.account === ROOT);
      const { account: operator } = holder;
      page = openAuditEntry(edge.auditLog, action ? { action, operator, ip: clientIp() } : null);
      const asks = { ip: clientIp(), suspendedToo: !activeOnly };
      const caller = await identified(edge, holder, asks, options.knownWithinMs);
      authorize(caller, options.who);
      const text = options.body ? await readText(request, edge.maxBodyBytes) : "";
      const lacks = options.bodyMayLack === true && text.trim() === "";
      const body = options.body && !lacks ? validate(options.body, parseJsonBody(text)) : ({} as Static<B>);
      // Below /v1 what nobody knows passes; elsewhere it would be done without what was meant.
      const known = options.query ?? (options.xApiKey ? null : (NoQuerySchema as TObject as Q));
      const asked = known ? validate(known, given(query), "the query") : ({} as Static<Q>);
      const input = { caller, body, query: asked, params, requestId, request, clientIp, journal: page };
      write = await edge.idempotency.begin({ account: operator, request, body: text });
      const kept = write.kept?.answer as ManagementAnswer | undefined;
      const value = kept ?? (await handle({ ...input, command: write.command }));
      if (kept === undefined) {
        await write.complete(value);
        await page.close(null);
      } else await write.abandon();
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
      await write?.abandon();
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

const given = (query: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
