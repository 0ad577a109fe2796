// States that tests bring a page into: an answer that does not come, or comes after the work was done; no network; a key that ends
// while the page is open; a file of an older version. Each is about one tab, and nobody else sees it.

import type { Page, Request, Route } from "playwright-core";
import type { Account } from "../e2e/harness.ts";
import type { Visitor } from "./visit.ts";
import type { Role, World } from "./world.ts";

/** Calls of the page to the API. `path`: without query, or a pattern of it. */
export interface Calls {
  readonly method?: string;
  readonly path: string | RegExp;
  /** What the query must have, among others. */
  readonly query?: Readonly<Record<string, string>>;
  /** So many of them; 1 without it. */
  readonly times?: number;
}

const isMeant = ({ method, path, query = {} }: Calls, request: Request): boolean => {
  const { pathname, searchParams } = new URL(request.url());
  if (method !== undefined && request.method() !== method) return false;
  if (Object.entries(query).some(([name, value]) => searchParams.get(name) !== value)) return false;
  return typeof path === "string" ? pathname === path : path.test(pathname);
};

/** The calls that were met, in their order, with the body and the Idempotency-Key that the page sent. */
export interface Met {
  readonly calls: readonly { readonly body: string | null; readonly idempotencyKey: string | null }[];
}

/** Handles the next calls that are meant instead of the service; all others pass. */
async function meet(page: Page, calls: Calls, handle: (route: Route) => Promise<void>): Promise<Met> {
  const met: { body: string | null; idempotencyKey: string | null }[] = [];
  await page.route("**/*", async (route, request) => {
    if (met.length >= (calls.times ?? 1) || !isMeant(calls, request)) return route.fallback();
    met.push({
      body: request.postData(),
      idempotencyKey: (await request.headerValue("idempotency-key")) ?? null,
    });
    await handle(route);
  });
  return { calls: met };
}

const UNAVAILABLE = {
  error: {
    message: "The service cannot answer now. Try again in a few seconds.",
    type: "server_error",
    code: "service_unavailable",
  },
};

/** An error with which a call is answered. */
interface ErrorAnswer {
  readonly status: number;
  readonly body: object;
}

/** The next calls get an error and do nothing: 503 `service_unavailable`, or what `answer` says. */
export const failNext = (
  page: Page,
  calls: Calls,
  { status, body }: ErrorAnswer = { status: 503, body: UNAVAILABLE },
): Promise<Met> =>
  meet(page, calls, (route) =>
    route.fulfill({ status, json: body, headers: { "x-request-id": "00000000000000000000000000" } }),
  );

/** The next calls are done by the service, and the page gets 503 all the same: a repeat must not do them twice. */
export const failAfterDoing = (page: Page, calls: Calls): Promise<Met> =>
  meet(page, calls, async (route) => {
    await route.fetch();
    await route.fulfill({ status: 503, json: UNAVAILABLE });
  });

/** The next calls are done by the service, and their answers break off on the way. */
export const breakAfterDoing = (page: Page, calls: Calls): Promise<Met> =>
  meet(page, calls, async (route) => {
    await route.fetch();
    await route.fulfill({ status: 200, contentType: "application/json", body: '{"success":tr' });
  });

/** The next calls find no network. */
export const dropNext = (page: Page, calls: Calls): Promise<Met> =>
  meet(page, calls, (route) => route.abort("internetdisconnected"));

/** The next call is held until `release()`; `came` resolves when the page has sent it. */
export async function holdNext(
  page: Page,
  calls: Calls,
): Promise<{ readonly came: Promise<void>; readonly release: () => void }> {
  const [came, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await meet(page, { ...calls, times: 1 }, async (route) => {
    came.resolve();
    await released.promise;
    await route.fallback();
  });
  return { came: came.promise, release: released.resolve };
}

/** The next file of the console that is asked for is gone, as after a newer version was installed. */
export const loseNextFile = (page: Page, path = /^\/console\/files\/.*\.js$/): Promise<Met> =>
  meet(page, { path }, (route) => route.fulfill({ status: 404, body: "" }));

/** Takes the network away from the tab; `back()` gives it again. */
export async function goOffline({ context }: Visitor): Promise<{ back(): Promise<void> }> {
  await context.setOffline(true);
  return { back: () => context.setOffline(false) };
}

let accountsMade = 0;

/** Makes an account below a role's, for a test of its own. */
export async function makeAccount(
  { call, account }: World,
  role: Role,
  fields: object = {},
): Promise<Account> {
  const nth = ++accountsMade;
  const { status, text, body } = await call(account(role).key, "POST", "/x-users", {
    ...{ Name: `made-by-a-test-${nth}`, Email: `made-${nth}@arborgate.example`, CreditGranted: 5 },
    ...fields,
  });
  if (status !== 200) throw new Error(text);
  return { id: body.User.ID, key: body.User.SecretKey, name: body.User.Updates.Name };
}

/** A key of a role's account that a test can end while a page uses it. It has every scope that the account has. */
export interface EndingKey {
  readonly secret: string;
  /** From then on it is `invalid_api_key`. */
  end(): Promise<void>;
}

let keysMade = 0;

/** Makes a named key for the account of a role. */
export async function makeEndingKey({ call, account }: World, role: Role): Promise<EndingKey> {
  const { key } = account(role);
  const Scopes = ["invoke", "read", "manage", ...(role === "owner" || role === "root" ? ["admin"] : [])];
  const made = await call(key, "POST", "/dashboard/keys", { Name: `ending-${++keysMade}`, Scopes });
  if (made.status !== 200) throw new Error(made.text);
  return {
    secret: made.body.secret,
    async end() {
      const { status, text } = await call(key, "DELETE", `/dashboard/keys/${made.body.key.id}`);
      if (status !== 200) throw new Error(text);
    },
  };
}
