// `/dashboard/live` and `/x-info`: an account with its use by model, its limits and what stands against it now, for pages that poll.

import { Elysia } from "elysia";
import { type AccountLookupParts, descendant, ofDescendant } from "../accounts/account-lookup.ts";
import { type ManagementParts, management } from "../management.ts";
import { operation } from "../operation.ts";
import { NoQuerySchema } from "../schemas.ts";
import { liveOf } from "./info.ts";
import { DescendantQuerySchema, LiveSchema } from "./schemas.ts";

/** What live figures need. */
export type LiveParts = ManagementParts & AccountLookupParts & Parameters<typeof liveOf>[0];

const TAGGED = { role: "any", scope: "read", audit: null, hasEtag: true } as const;

/** The live figures of an account. Source: contract section 8. */
export const live = (parts: LiveParts) =>
  new Elysia({ normalize: false })
    .use(management(parts))
    .get("/dashboard/live", ({ call: { caller } }) => liveOf(parts, caller, caller.keyHash), {
      access: TAGGED,
      query: NoQuerySchema,
      response: LiveSchema,
      detail: LIVE_DETAIL,
    })
    .get(
      "/x-info",
      async ({ call: { caller }, query }) => {
        const of = await descendant(parts, caller, query.user);
        return ofDescendant(query.user, liveOf(parts, of, of.profile.keyHash));
      },
      {
        access: TAGGED,
        query: DescendantQuerySchema,
        response: LiveSchema,
        detail: DESCENDANT_LIVE_DETAIL,
      },
    );

const LIVE_ABOUT =
  "`windows` has each limit that is set, of the account and of its models, with what counts against it now, requests under way " +
  "included. `blocked` is what any request would be refused with now, whatever its model and path.";

const LIVE_DETAIL = operation({
  operationId: "getLiveUsage",
  tag: "Dashboard",
  summary: "Get the account with its use by model and its limits, for polling",
  description: LIVE_ABOUT,
});

const DESCENDANT_LIVE_DETAIL = operation({
  operationId: "getDescendantLiveUsage",
  tag: "Accounts",
  summary: "Get a descendant with its use by model and its limits, for polling",
  description: LIVE_ABOUT,
  errors: ["ambiguous_identifier", "user_not_found"],
});
