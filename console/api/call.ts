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
export const callApi = async (call: Call): Promise<unknown> => readAnswer(call, await respond(call));

/** The same with the total that the answer's headers state, for lists that are bare arrays. */
export async function callList(call: Call): Promise<{ readonly rows: unknown; readonly total: number }> {
  const response = await respond(call);
  const rows = await readAnswer(call, response);
  return { rows, total: Number(response.headers.get("x-total-count") ?? 0) };
}

/** Reads the body of a success. One that breaks off, or that something before the service wrote, leaves the outcome unknown. */
async function readAnswer(call: Call, response: Response): Promise<unknown> {
  try {
    return readExact(await response.text());
  } catch (error) {
    if (call.signal?.aborted) throw error;
    throw lost(call, error);
  }
}

/** A call whose answer did not arrive: a question has none, a write may have been done. */
const lost = (call: Call, error: unknown): CallFailed =>
  new CallFailed(
    isWrite(call)
      ? { kind: "unknown", code: "connection_lost", message: String(error), requestId: null }
      : { kind: "unreachable" },
  );

const isWrite = ({ method, isQuestion }: Call): boolean => method !== "GET" && isQuestion !== true;

/** Makes a call and returns its response as it comes, for streams and downloads. Rejects as `callApi`. */
export async function respond(call: Call): Promise<Response> {
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
    throw lost(call, error);
  }
  if (response.ok) return response;
  const failure = await readFailure(response, call);
  // A key that ended while the page was open signs out, wherever the call came from. One that was replaced meanwhile does not.
  const isRejected = failure.kind === "refused" && failure.code === "invalid_api_key";
  if (call.key === undefined && isRejected && key === currentKey()) signOut("rejected");
  throw new CallFailed(failure);
}

async function readFailure(response: Response, call: Call): Promise<Failure> {
  const requestId = response.headers.get("x-request-id");
  const { code, message } = await readError(response);
  // What stands before the service may give up on a request that the service goes on with, and charges.
  const isOthers = call.idempotencyKey !== undefined && code === otherCode(response);
  if (response.status >= 500 && (isWrite(call) || isOthers))
    return { kind: "unknown", code, message, requestId };
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
  return { code: otherCode(response), message: response.statusText };
}

/** The code of an answer that is not the service's own. */
const otherCode = ({ status }: Response): string => `http_${status}`;
