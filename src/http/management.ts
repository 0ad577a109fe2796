// What every management, administration and dashboard endpoint does around its handler, as hooks of Elysia: identify the
// caller, limit how often it calls, read the body, write the operation log, and answer a repeated request as the first.
//
//   transform      key, flags, IP, scope → call limiter → audit entry → role → body      401 and 403 come before 400
//                  flags, IP, scope → role again: reading the body takes as long as the client likes
//   (Elysia)       validation of params, query and body
//   beforeHandle   a kept answer of the same Idempotency-Key ends the request here
//   afterHandle    the answer is kept, the audit entry closed, and the answer may get an entity tag, or become 304
//   onError        of app.ts: ends both with `fail`
//
// It knows no endpoint, and maps no error to a response.

import { type AnySchema, Elysia, NotFoundError } from "elysia";
import { INVALID_KEY } from "../../actors/account/authenticate.ts";
import type { IdentifiedCaller, IdentifyCaller } from "../../actors/account/identify.ts";
import { isRoot } from "../../actors/account/state.ts";
import type { RequiredScope } from "../../actors/api-key/api-key.ts";
import { type AccountId, ROOT } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { Clock, Random } from "../base/clock.ts";
import { assert, type Refusal, RefusedError } from "../base/errors.ts";
import type { HeaderRecord } from "../base/header-reader.ts";
import type { Log } from "../base/log.ts";
import { type Identify, type Caller as KeyHolder, MISSING_KEY } from "../gateway/account/identify.ts";
import { parseBoundedBody } from "../gateway/json-body.ts";
import type { ActorSystem } from "../runtime/system.ts";
import { type Action, type AuditCall, type AuditEntry, type AuditLog, openAuditEntry } from "./audit-log.ts";
import type { CallLimiter } from "./call-limiter.ts";
import { taggedAnswer } from "./etag.ts";
import type { AdminIdempotency, CommandId, IdempotentWrite } from "./idempotency.ts";
import { MANAGEMENT_BODY_BYTES_MAX, readText, refuseRepeatedNames } from "./request-body.ts";
import {
  apiKeyOf,
  clientIpOf,
  emptyUndecodedParts,
  isGatewayPath,
  pathOf,
  requestIdOf,
} from "./request-head.ts";
import type { RoutedRequests } from "./routed-requests.ts";
import { isOptionalBody } from "./schemas.ts";

/** The listener for which an application is made. */
export interface ListenerParts {
  /** Whether it serves the endpoints of Owners and Root, which otherwise are 404 there. */
  readonly servesAdministration: boolean;
  /** Learns which requests are management calls, for the access log. */
  readonly routed: RoutedRequests;
}

/** What management endpoints need. */
export interface ManagementParts extends ListenerParts {
  readonly system: ActorSystem<Protocol>;
  readonly identify: Identify;
  /** Counts the calls of each account. */
  readonly limiter: CallLimiter<AccountId>;
  /** Counts the calls from each address that flags, address or scope refuse. */
  readonly refusalLimiter: CallLimiter<string>;
  readonly auditLog: AuditLog;
  readonly idempotency: AdminIdempotency;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly maxBodyBytes: number;
  readonly trustProxy: readonly string[];
}

/** Access to an endpoint: the caller's role, the key's scope, and its action in the operation log. */
export interface Access {
  readonly role: "any" | "owner" | "root";
  /** What the API key needs (contract section 8). The account checks it after the address, before all else. */
  readonly scope: RequiredScope;
  /** The action under which every call of a known caller is in the operation log, done or refused; null for none. */
  readonly audit: Action | null;
  /** Milliseconds that the caller's account may take to identify it; if absent, as long as for any command. */
  readonly identifyMs?: number;
  /** The answer has a price, so `insufficient_balance` is 429, as for a request to a model. */
  readonly isCharged?: true;
  /** Its answers have entity tags: see etag.ts. */
  readonly hasEtag?: true;
}

/** Whether an endpoint answers only on the administration listener where there is one (contract section 1). */
export const isAdministration = ({ role }: Access): boolean => role !== "any";

/** The account that calls, its key, and the hash that was presented. */
export interface ManagementCaller extends IdentifiedCaller {
  readonly keyHash: string;
}

/** A kept answer: its body, and the headers beside it. */
interface KeptAnswer {
  readonly body: unknown;
  readonly headers?: HeaderRecord;
}

/** One management request while it runs. Its getters throw before `open` has resolved. */
export class ManagementCall {
  readonly requestId: string;
  #caller: ManagementCaller | null = null;
  #audit: AuditCall | null = null;
  #text = "";
  #write: IdempotentWrite | null = null;
  #isCharged = false;
  #refusedWith: string | null = null;

  constructor(
    private readonly parts: ManagementParts,
    readonly request: Request,
  ) {
    this.requestId = requestIdOf(request, parts.random);
  }

  get caller(): ManagementCaller {
    assert(this.#caller !== null, "the caller is not identified yet");
    return this.#caller;
  }

  /** The caller, or null before it is identified. */
  get knownCaller(): ManagementCaller | null {
    return this.#caller;
  }

  /** The code of the error that ended the request; null for none. */
  get refusedWith(): string | null {
    return this.#refusedWith;
  }

  /** The entry of the operation log. An endpoint whose `audit` is null writes none. */
  get audit(): AuditEntry {
    assert(this.#audit !== null, "the audit entry is not open yet");
    return this.#audit;
  }

  /** The id for commands that move money: a repeat after a crash has the same, so that nothing moves twice. */
  get command(): CommandId {
    assert(this.#write !== null, "the request has not begun yet");
    return this.#write.command;
  }

  /** Whether refusals keep the status that a request to a model would have. */
  get isCharged(): boolean {
    return this.#isCharged;
  }

  /** Whether the request has a body, where it may be left out. */
  get hasBody(): boolean {
    return this.#text.trim() !== "";
  }

  /** Returns the client's address as the trusted proxies state it. */
  readonly clientIp = (): string =>
    clientIpOf(this.request, this.parts.routed.addressOf(this.request), this.parts.trustProxy);

  /**
   * Identifies the caller and reads the body. Throws `RefusedError` in the order of contract section 2, and
   * `NotFoundError` for an endpoint that this listener does not serve. `body`: the schema of the body; without one
   * it is not read. Returns the parsed body, undefined where none is read.
   */
  async open(access: Access, body: AnySchema | undefined): Promise<unknown> {
    const { parts, request } = this;
    if (isAdministration(access) && !parts.servesAdministration) throw new NotFoundError();
    this.#isCharged = access.isCharged === true;
    const isGateway = isGatewayPath(pathOf(request.url));
    const holder = await keyHolder(parts, apiKeyOf(request, isGateway), this.clientIp);
    const act = access.audit && { action: access.audit, operator: holder.account, ip: this.clientIp() };
    const audit = openAuditEntry(parts.auditLog, act);
    // A suspended account may read what lies outside the gateway, and nothing else.
    const suspendedToo = !isGateway && (request.method === "GET" || request.method === "HEAD");
    const { scope, identifyMs } = access;
    const asked = { ip: this.clientIp(), scope, suspendedToo };
    // Over either limit the entry is not opened, because a caller could fill the operation log with refusals.
    this.#caller = await identified(parts, holder, asked, identifyMs).catch((error) => {
      if (error instanceof RefusedError && error.refusal.code !== INVALID_KEY.code) {
        // A key that may not call must not use up the calls of its account.
        parts.refusalLimiter.count(asked.ip);
        this.#audit = audit;
      }
      throw error;
    });
    if (holder.account !== ROOT) parts.limiter.count(holder.account);
    this.#audit = audit;
    authorize(this.#caller, access.role);
    const most = Math.min(parts.maxBodyBytes, MANAGEMENT_BODY_BYTES_MAX);
    if (body !== undefined) {
      this.#text = await readText(request, most);
      // A client may take hours to send a body, and its key may have ended or been narrowed since.
      this.#caller = await identified(parts, holder, asked, identifyMs);
      authorize(this.#caller, access.role);
    }
    const isAbsent = isOptionalBody(body) && !this.hasBody;
    const value = body === undefined || isAbsent ? {} : parseBoundedBody(this.#text);
    // Elysia takes the last of several values, so the others would be ignored unnoticed.
    if (!isGateway) refuseRepeatedNames(request.url);
    return body === undefined ? undefined : value;
  }

  /** Begins the handler's work under the request's Idempotency-Key. Returns the kept answer, which ends the request. */
  async begin(): Promise<KeptAnswer | null> {
    const { request, parts } = this;
    const { account, apiKey } = this.caller.key;
    this.#write = await parts.idempotency.begin({ account, apiKey, request, body: this.#text });
    return (this.#write.kept?.answer as KeptAnswer | undefined) ?? null;
  }

  /** Ends the request with an answer. A repeat did nothing, so it has no line in the operation log. */
  async complete(body: unknown, headers: KeptAnswer["headers"]): Promise<void> {
    const [write, audit] = this.#end();
    assert(write !== null, "a request is completed before it has begun, or twice");
    if (write.kept !== null) return write.abandon();
    await write.complete(headers === undefined ? { body } : { body, headers });
    await audit?.close(null);
  }

  /** Ends the request with a refusal, before its response leaves. Never rejects. */
  async fail(refusal: Refusal): Promise<void> {
    this.#refusedWith = refusal.code;
    const [write, audit] = this.#end();
    await write?.abandon();
    // A key that was rotated away identifies no operator.
    if (refusal.code !== INVALID_KEY.code) await audit?.close(refusal);
  }

  /** Takes what has to be ended, so that it is ended once. */
  #end(): [IdempotentWrite | null, AuditCall | null] {
    const open: [IdempotentWrite | null, AuditCall | null] = [this.#write, this.#audit];
    this.#write = null;
    this.#audit = null;
    return open;
  }
}

/** In place of the body until the caller is known. Elysia parses before that; without a parse hook it would read. */
const UNREAD_BODY = Symbol("unread body");

/** Hooks and the macro `access` of management endpoints, scoped to the plugin that uses them. */
export const management = (parts: ManagementParts) =>
  new Elysia({ normalize: false })
    .onParse(() => UNREAD_BODY)
    .derive(({ request, set }) => {
      const call = new ManagementCall(parts, request);
      parts.routed.manage(request, call);
      set.headers["x-request-id"] = call.requestId;
      return { call };
    })
    .macro({
      access: (access: Access) => {
        let bodySchema: AnySchema | undefined;
        return {
          detail: { security: [{ bearer: [] }], "x-access": access },
          introspect(route: { readonly body?: AnySchema }) {
            bodySchema = route.body;
          },
          async transform(context) {
            context.body = await context.call!.open(access, bodySchema);
            emptyUndecodedParts(context.params);
          },
          async beforeHandle({ call, set }) {
            const kept = await call!.begin();
            if (kept === null) return undefined;
            Object.assign(set.headers, kept.headers);
            return kept.body;
          },
          async afterHandle({ call, request, set, responseValue }) {
            const { "x-request-id": _, ...headers } = set.headers;
            await call!.complete(responseValue, headers as Record<string, string>);
            return access.hasEtag ? taggedAnswer(request, responseValue, headers) : undefined;
          },
        };
      },
    })
    .as("scoped");

/** Returns the holder of a key. Whether the key is still valid is decided by its account. */
async function keyHolder(
  { identify }: ManagementParts,
  key: string | null,
  ip: () => string,
): Promise<KeyHolder> {
  if (key === null) throw new RefusedError(MISSING_KEY);
  const holder = await identify(key, { ip });
  if (holder === null) throw new RefusedError(INVALID_KEY);
  return holder;
}

async function identified(
  { system, identify }: ManagementParts,
  { account, keyHash }: KeyHolder,
  request: Omit<IdentifyCaller, "keyHash" | "ip"> & { readonly ip: string },
  budgetMs: number | undefined,
): Promise<ManagementCaller> {
  try {
    const options = budgetMs === undefined ? {} : { budgetMs };
    const record = await system.ask(actorRef.account(account), "identify", { keyHash, ...request }, options);
    return { ...record, keyHash };
  } catch (error) {
    if (error instanceof RefusedError && error.refusal.code === INVALID_KEY.code) {
      identify.forget(keyHash);
      await identify.slowDown(request.ip);
    }
    throw error;
  }
}

function authorize(caller: ManagementCaller, role: Access["role"]): void {
  if (role === "owner" && !caller.isOwner) {
    throw new RefusedError({ code: "not_owner", message: "Only an Owner may call this endpoint." });
  }
  if (role === "root" && !isRoot(caller.profile)) {
    throw new RefusedError({ code: "not_root", message: "Only Root may call this endpoint." });
  }
}
