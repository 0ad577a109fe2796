// What a client of the table is: a script of scenarios, written against one SDK, that answer what the SDK showed. Scripts judge
// nothing: what must have been seen stands in the rows.

import type { ApiStyle } from "../../../src/gateway/codec/key-formats.ts";
import type { Json } from "../harness.ts";

/** What a scenario is given. Prompts stand in the rows, so that all clients say the same. */
export interface Run {
  readonly url: string;
  readonly key: string;
  readonly model: string;
  /** Null for no message at all. */
  readonly said: string | null;
}

/** One run of a named scenario; the clients of Python are of two modes. */
export interface Asked extends Omit<Run, "url"> {
  readonly scenario: string;
  readonly mode: Mode;
}

export type Mode = "sync" | "async";

export type Script = Readonly<Record<string, (run: Run) => Promise<Json>>>;

/** What a run saw, or what it broke with. */
export interface Seen {
  readonly seen?: Json;
  readonly broke?: string;
}

export type ClientName =
  | "openai"
  | "anthropic"
  | "openai in Python"
  | "openai in Python, async"
  | "anthropic in Python"
  | "anthropic in Python, async"
  | "vercel, chat"
  | "vercel, messages"
  | "langchain, chat"
  | "langchain, messages"
  | "fetch";

export interface Client {
  readonly name: ClientName;
  /** How it speaks in conversations. */
  readonly style: ApiStyle;
  readonly mode: Mode;
  readonly perform: Perform;
}

/** Clients that share a process share this. */
export type Perform = (url: string, asked: readonly Asked[]) => Promise<readonly Seen[]>;

/** The tools of all scenarios; the stand-in calls them with one text. */
export const TOOLS = ["look_up", "add"] as const;
/** What their calls are answered, one each. */
export const RESULTS = ["42 apples", "43 pears"] as const;
export const PARAMETERS = {
  type: "object",
  properties: { text: { type: "string" } },
  required: ["text"],
  additionalProperties: false,
} as const;

/** A picture of one pixel, in base64. */
export const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const pictureFile = () =>
  new File([Buffer.from(PICTURE, "base64")], "boat.png", { type: "image/png" });

/** Runs that wait for something do not hold up the others. */
const AT_ONCE = 4;

/** Runs the scenarios, as the scripts in Python do. */
export async function performed(
  script: Script,
  url: string,
  asked: readonly Asked[],
): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  await inTurns(asked.entries(), AT_ONCE, async ([i, { scenario, mode: _, ...given }]) => {
    const run = script[scenario];
    seen[i] =
      run === undefined
        ? { broke: `the script has no ${scenario}` }
        : await run({ url, ...given }).then((seen) => ({ seen }), brokenBy);
  });
  return seen;
}

/** Does all the work, so much of it at a time. */
export async function inTurns<T>(
  all: Iterable<T>,
  atOnce: number,
  work: (one: T) => Promise<void>,
): Promise<void> {
  const rest = all[Symbol.iterator]();
  const turn = async (): Promise<void> => {
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: atOnce }, turn));
}

const brokenBy = (error: unknown): Seen => ({
  broke: error instanceof Error ? `${error.name}: ${error.message}\n${error.stack}` : String(error),
});

/** A fetch for an SDK; its first `lost` answers are lost on the way. `statuses`: of every answer that the service gave. */
export function watched(lost = 0): { readonly fetch: typeof fetch; readonly statuses: number[] } {
  const statuses: number[] = [];
  const send = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const response = await fetch(url, init);
    statuses.push(response.status);
    if (statuses.length > lost) return response;
    await response.text();
    throw new TypeError("the connection was lost");
  };
  return { fetch: Object.assign(send, { preconnect: fetch.preconnect }), statuses };
}

/** What a promise was rejected with. */
export const thrownBy = (promise: PromiseLike<unknown>): Promise<Json> =>
  Promise.resolve(promise).then(
    () => Promise.reject(new Error("nothing was thrown")),
    (error: unknown) => error,
  );

export const sum = (pairs: readonly (readonly number[])[]): readonly number[] =>
  pairs.reduce((total, pair) => total.map((figure, i) => figure + pair[i]!), [0, 0]);
