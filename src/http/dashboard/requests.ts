// The last requests of an account: `/dashboard/requests` for its own, `/x-requests` for those of a descendant. They come from the
// memory of the node that owns the account, so the list says since when it is complete, and what it left out.

import type { Static } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { type AccountId, type ApiKeyId, MAIN_API_KEY } from "../../../actors/ids.ts";
import { actorRef } from "../../../actors/index.ts";
import { toUsd } from "../../../actors/money.ts";
import type { EndedRequest } from "../../gateway/request-history/recent-requests.ts";
import type { RequestHistory } from "../../gateway/request-history/request-history.ts";
import { type AccountLookupParts, descendant } from "../accounts/account-lookup.ts";
import { type ManagementParts, management } from "../management.ts";
import { operation } from "../operation.ts";
import { positivePageOf } from "../schemas.ts";
import {
  DescendantRequestListQuerySchema,
  RequestListQuerySchema,
  RequestListSchema,
} from "./request-schemas.ts";

/** What the lists of requests need. */
export interface RequestListParts extends ManagementParts, AccountLookupParts {
  readonly requestHistory: Pick<RequestHistory, "recent">;
}

const READS = { role: "any", scope: "read", audit: null, hasEtag: true } as const;

/** `/dashboard/requests` and `/x-requests`. Source: contract section 8. */
export const requestLists = (parts: RequestListParts) =>
  new Elysia({ normalize: false })
    .use(management(parts))
    .get(
      "/dashboard/requests",
      ({ call: { caller }, query }) => requestsOf(parts, caller.profile.id, query),
      { access: READS, query: RequestListQuerySchema, response: RequestListSchema, detail: REQUESTS_DETAIL },
    )
    .get(
      "/x-requests",
      async ({ call: { caller }, query }) => {
        const { profile } = await descendant(parts, caller, query.user);
        return requestsOf(parts, profile.id, query);
      },
      {
        access: READS,
        query: DescendantRequestListQuerySchema,
        response: RequestListSchema,
        detail: DESCENDANT_REQUESTS_DETAIL,
      },
    );

/** Returns one page of an account's last requests, the newest first. */
async function requestsOf(
  { requestHistory, system }: RequestListParts,
  account: AccountId,
  query: Static<typeof RequestListQuerySchema>,
): Promise<Static<typeof RequestListSchema>> {
  const { page, size } = positivePageOf(query, { size: 100, most: 1_000 });
  const { requests, sinceMs, skipped } = await requestHistory.recent(account);
  const total = requests.length;
  const shown = requests.slice((page - 1) * size, page * size);
  const byHash = shown.some(({ apiKey }) => apiKey === null) ? await keysByHash(system, account) : NO_KEYS;
  return {
    requests: shown.map((ended) => requestShape(ended, byHash)),
    ...{ total, page, size, has_more: page * size < total },
    ...{ volatile: true, since: new Date(sinceMs).toISOString(), skipped },
  };
}

type KeysByHash = ReadonlyMap<string, ApiKeyId>;
const NO_KEYS: KeysByHash = new Map();

/** Returns the API keys of an account by the beginning of the hash of their newest secret. */
async function keysByHash(system: RequestListParts["system"], account: AccountId): Promise<KeysByHash> {
  const { main, keys } = await system.ask(actorRef.account(account), "apiKeys", {});
  const rows = [{ id: MAIN_API_KEY, hash: main.hash }, ...keys];
  return new Map(rows.map(({ id, hash }) => [hash.slice(0, 16), id]));
}

const requestShape = (
  ended: EndedRequest,
  byHash: KeysByHash,
): Static<typeof RequestListSchema>["requests"][number] => ({
  id: ended.id,
  at: new Date(ended.at).toISOString(),
  request_id: ended.request,
  path: ended.path,
  model: ended.model,
  status: ended.status,
  code: ended.code,
  ms: ended.ms,
  cost: toUsd(ended.cost),
  attempts: ended.attempts,
  api_key: ended.apiKey ?? byHash.get(ended.keyHash ?? "") ?? null,
});

const ABOUT =
  "Refused and failed ones are among them: at most 200 of an account, the newest first, in the memory of the node that owns the " +
  "account. They are gone when that node ends. Of requests without a charge at most 100 a second are shown; `skipped` counts the others.";

const REQUESTS_EXAMPLE = {
  requests: [
    {
      id: "01JDB6Q6Z2M8C4T1V9X3K5N7PA",
      at: "2026-01-01T00:00:01.250Z",
      request_id: "01JDB6Q6Z2M8C4T1V9X3K5N7PA",
      path: "/v1/chat/completions",
      model: "gpt-4o-mini",
      status: 200,
      code: null,
      ms: 812,
      cost: 0.0000024,
      attempts: 1,
      api_key: 0,
    },
    {
      id: "01JDB6Q5S4R2D8W6Y0Z1B3C5EF",
      at: "2026-01-01T00:00:00.000Z",
      request_id: "my-request-7",
      path: "/v1/chat/completions",
      model: "gpt-4o-mini",
      status: 429,
      code: "rpm_exceeded",
      ms: 1,
      cost: 0,
      attempts: 0,
      api_key: 0,
    },
  ],
  ...{ total: 2, page: 1, size: 100, has_more: false },
  ...{ volatile: true, since: "2025-12-31T20:00:00.000Z", skipped: 0 },
};

const REQUESTS_DETAIL = operation({
  operationId: "listRequests",
  tag: "Dashboard",
  summary: "List the caller's last requests",
  description: ABOUT,
  errors: ["service_unavailable"],
  answerExample: REQUESTS_EXAMPLE,
});

const DESCENDANT_REQUESTS_DETAIL = operation({
  operationId: "listDescendantRequests",
  tag: "Accounts",
  summary: "List a descendant's last requests",
  description: ABOUT,
  errors: ["ambiguous_identifier", "user_not_found", "service_unavailable"],
});
