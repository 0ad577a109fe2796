// One call of the HTTP API: the key in the Authorization header, exact numbers in both directions, failures as data. The browser's
// own cache keeps entity tags and answers 304 as the body that it has, so a poll of an unchanged figure costs no transfer.

import { readExact, writeExact } from "./exact-json.ts";
import { CallFailed, type Failure } from "./failure.ts";
import { currentKey, signOut } from "./session.ts";

/** The methods of the API. */
export type Method = "GET" | "POST" | "PUT" | "DELETE";

/** A call: its path begins with a slash; absent and empty parameters of the query are left out. */
export interface Call {
  readonly method: Method;
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  /** Where the contract takes one: a repeat with the same one gets the first answer. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  /** Further headers by name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A POST that changes nothing, or says itself what it did: its failure leaves no outcome in doubt. */
  readonly isQuestion?: boolean;
  /** Another key than the session's: before signing in. */
  readonly key?: string;
}

/** Parameters of a query. */
export type Query = Readonly<Record<string, string | number | undefined>>;

/** What a list's headers say of it. */
export interface Paging {
  readonly total: number;
}

/** Returns the address of a call below this host. */
export function addressOf(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  if (given.length === 0) return path;
  return `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

/** Makes a call and returns the parsed answer. Rejects with `CallFailed`, or with AbortError once `signal` aborts. */
export const callApi = async (call: Call): Promise<unknown> => readExact(await (await respond(call)).text());

/** The same with the total that the answer's headers state, for lists that are bare arrays. */
export async function callList(call: Call): Promise<{ readonly rows: unknown; readonly total: number }> {
  const response = await respond(call);
  const rows = readExact(await response.text());
  return { rows, total: Number(response.headers.get("x-total-count") ?? 0) };
}

/** Makes a call and returns its response as it comes, for streams and downloads. Rejects as `callApi`. */
export async function respond(call: Call): Promise<Response> {
  const isWrite = call.method !== "GET" && call.isQuestion !== true;
  const key = call.key ?? currentKey();
  let response: Response;
  try {
    response = await fetch(addressOf(call.path, call.query), {
      method: call.method,
      headers: {
        ...call.headers,
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(call.body === undefined ? {} : { "content-type": "application/json" }),
        ...(call.idempotencyKey === undefined ? {} : { "idempotency-key": call.idempotencyKey }),
      },
      ...(call.body === undefined ? {} : { body: writeExact(call.body) }),
      ...(call.signal === undefined ? {} : { signal: call.signal }),
      credentials: "omit",
      redirect: "error",
    });
  } catch (error) {
    if (call.signal?.aborted) throw error;
    throw new CallFailed(
      isWrite
        ? { kind: "unknown", code: "connection_lost", message: String(error), requestId: null }
        : { kind: "unreachable" },
    );
  }
  if (response.ok) return response;
  const failure = await readFailure(response, isWrite);
  // A key that ended while the page was open signs out, wherever the call came from. One that was replaced meanwhile does not.
  const isRejected = failure.kind === "refused" && failure.code === "invalid_api_key";
  if (call.key === undefined && isRejected && key === currentKey()) signOut("rejected");
  throw new CallFailed(failure);
}

async function readFailure(response: Response, isWrite: boolean): Promise<Failure> {
  const requestId = response.headers.get("x-request-id");
  const { code, message } = await readError(response);
  if (response.status >= 500 && isWrite) return { kind: "unknown", code, message, requestId };
  const after = response.headers.get("retry-after");
  return {
    kind: "refused",
    status: response.status,
    code,
    message,
    requestId,
    retryAfterS: after === null ? null : Number(after),
  };
}

/** Reads the contract's error body; what stands between browser and service may answer another. */
async function readError(response: Response): Promise<{ code: string; message: string }> {
  try {
    const { error } = JSON.parse(await response.text());
    if (typeof error.code === "string" && typeof error.message === "string") return error;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  }
  return { code: `http_${response.status}`, message: response.statusText };
}
