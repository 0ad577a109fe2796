// News: for all accounts below the publisher, for one account, or for the accounts below a place in the tree. Root's system
// news reach every account, an Owner's its own tree. Publishers are above their audience; an item may be deleted by its
// publisher and by accounts above the publisher. An expired item is never shown.

import type { Static } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { type AccountId, ancestorsOf, dnaBelow, ownerOf, ROOT } from "../../../actors/ids.ts";
import { DAY_MS } from "../../../actors/time.ts";
import { RefusedError } from "../../base/errors.ts";
import type { Store, Where } from "../../store/store.ts";
import {
  type ManagementCall,
  type ManagementCaller,
  type ManagementParts,
  management,
} from "../management.ts";
import { operation } from "../operation.ts";
import { NoQuerySchema, optionalBody } from "../schemas.ts";
import { withLineFeeds } from "../text-rules.ts";
import { type Audience, audienceOf, auditTargetOf } from "./audience.ts";
import {
  AddedNewsSchema,
  DeletedNewsSchema,
  DeleteNewsSchema,
  NewNewsSchema,
  NewsListSchema,
  TargetParams,
} from "./schemas.ts";

/** What news endpoints need. */
export interface NewsParts extends ManagementParts {
  readonly store: Store;
  /** Returns the id of a new item, unique on all nodes. */
  readonly nextNewsId: () => Promise<number>;
}

const SYSTEM_DAYS = 7;
const TARGETED_DAYS = 32;
/** News items of one kind in an answer; the newest are shown. */
const SHOWN_MAX = 1_000;

const NEWS = { title: "Maintenance", content: "On Sunday at noon, for an hour." };
const ITEM = {
  id: 1,
  ...NEWS,
  created_at: "2026-01-01T00:00:00.000Z",
  expires_at: "2026-01-08T00:00:00.000Z",
};

const ADDED_EXAMPLE = { success: true, Action: "add", news: ITEM };
const DELETED_EXAMPLE = { success: true, Action: "delete", deleted: 1 };

/** `/x-news` for publishers, `/dashboard/news` for readers. Source: specification, "News". */
export const news = (parts: NewsParts) =>
  new Elysia({ normalize: false })
    .use(management(parts))
    .post("/x-news", ({ body, call }) => publish(parts, call, { kind: "system" }, body, SYSTEM_DAYS), {
      access: { role: "owner", scope: "admin", audit: "add_news" },
      query: NoQuerySchema,
      body: NewNewsSchema,
      response: AddedNewsSchema,
      detail: operation({
        tag: "Administration",
        operationId: "publishNews",
        summary: "Publish news to everybody: Root's to all accounts, an Owner's to its tree",
        requestExample: NEWS,
        answerExample: ADDED_EXAMPLE,
      }),
    })
    .delete("/x-news", ({ body, call }) => deleteSystemNews(parts, call, body.id), {
      access: { role: "owner", scope: "admin", audit: "delete_news" },
      query: NoQuerySchema,
      body: optionalBody(DeleteNewsSchema),
      response: DeletedNewsSchema,
      detail: operation({
        tag: "Administration",
        operationId: "deleteNews",
        summary: "Delete all news to everybody that are the caller's, or one item",
        description: 'The body `{"id"}` names the item; without a body all go.',
        errors: ["missing_parameter", "not_found"],
        requestExample: { id: 1 },
        answerExample: DELETED_EXAMPLE,
      }),
    })
    .post(
      "/x-news/:target",
      async ({ params, body, call }) => {
        const audience = await audienceOf(parts, call.caller, params.target);
        return publish(parts, call, audience, body, TARGETED_DAYS);
      },
      {
        access: { role: "any", scope: "manage", audit: "add_news" },
        params: TargetParams,
        query: NoQuerySchema,
        body: NewNewsSchema,
        response: AddedNewsSchema,
        detail: operation({
          tag: "Administration",
          operationId: "publishTargetedNews",
          summary: "Publish news to one account, or to a branch of the tree",
          errors: ["user_not_found", "ambiguous_identifier", "not_ancestor"],
          requestExample: { ...NEWS, days: 14 },
          answerExample: ADDED_EXAMPLE,
        }),
      },
    )
    .delete("/x-news/:target", ({ params, call }) => deleteTargetedNews(parts, call, params.target), {
      access: { role: "any", scope: "manage", audit: "delete_news" },
      params: TargetParams,
      query: NoQuerySchema,
      response: DeletedNewsSchema,
      detail: operation({
        tag: "Administration",
        operationId: "deleteTargetedNews",
        summary: "Delete all news for a target",
        errors: ["user_not_found", "ambiguous_identifier", "not_ancestor"],
        answerExample: DELETED_EXAMPLE,
      }),
    })
    .get("/dashboard/news", ({ call }) => newsOf(parts, call.caller), reading("listNews"))
    .get("/dashboard/x-user-news", ({ call }) => newsOf(parts, call.caller), reading("listUserNews"));

/** The declaration of both paths of the list. */
const reading = (operationId: string) =>
  ({
    access: { role: "any", scope: "read", audit: null },
    query: NoQuerySchema,
    response: NewsListSchema,
    detail: operation({
      tag: "Dashboard",
      operationId,
      summary: "List the news for the caller that have not expired",
    }),
  }) as const;

async function publish(
  { store, clock, nextNewsId }: NewsParts,
  { caller, audit }: ManagementCall,
  audience: Audience,
  { title, content, days }: Static<typeof NewNewsSchema>,
  defaultDays: number,
) {
  const id = await nextNewsId();
  const at = clock.wall();
  const body = {
    id,
    ...audience,
    publisher: caller.profile.id,
    publisherDna: caller.profile.dna,
    at,
    until: at + (days ?? defaultDays) * DAY_MS,
    title: title.toWellFormed(),
    content: withLineFeeds(content).toWellFormed(),
  };
  await store.putRecords([{ table: "news", id: String(id), body }]);
  const item = itemShape(body);
  audit.setTarget({ type: "news", id });
  audit.addChanges({ title, to: auditTargetOf(audience), expires_at: item.expires_at });
  return { success: true as const, Action: "add" as const, news: item };
}

/** Deletes the item, or without an id all of the caller's system news. */
async function deleteSystemNews(
  parts: NewsParts,
  { caller, audit, hasBody }: ManagementCall,
  id: number | undefined,
) {
  const done = { success: true, Action: "delete" } as const;
  if (id === undefined) {
    // An empty object names no item; only without a body all go.
    if (hasBody) {
      const message = 'The field "id" is missing in the body.';
      throw new RefusedError({ code: "missing_parameter", message });
    }
    const own = [is("kind", "system"), is("publisher", caller.profile.id)];
    const deleted = await removeAll(parts, own, undefined);
    audit.addChanges({ deleted, of: "everybody" });
    return { ...done, deleted };
  }
  audit.setTarget({ type: "news", id });
  const [item] = await parts.store.find({
    ...{ table: "news", where: [is("id", id)], order: "id", limit: 1 },
    anyOf: withdrawable(caller),
  });
  if (item === undefined) {
    throw new RefusedError({ code: "not_found", message: `There is no news item ${id} of yours.` });
  }
  await parts.store.removeRecords("news", [String(id)]);
  const shown = itemShape(item as unknown as StoredNews);
  audit.addChanges({ title: shown.title });
  return { ...done, news: shown, deleted: 1 };
}

/** Deletes what the caller, or an account below it, published for that target. */
async function deleteTargetedNews(parts: NewsParts, { caller, audit }: ManagementCall, target: string) {
  const audience = await audienceOf(parts, caller, target);
  const meant = Object.entries(audience).map(([field, value]) => is(field as keyof Audience, value));
  const deleted = await removeAll(parts, meant, withdrawable(caller));
  audit.addChanges({ deleted, of: auditTargetOf(audience) });
  return { success: true as const, Action: "delete" as const, deleted };
}

type Condition = Where<"news">;

const is = (field: Condition["field"], value: string | number): Condition => ({ field, is: "=", value });

/** Conditions for what the caller, or an account below it, published. */
const withdrawable = ({ profile: { id, dna } }: ManagementCaller): readonly (readonly Condition[])[] => [
  [is("publisher", id)],
  [{ field: "publisherDna", is: "starts", value: dnaBelow(dna, id) }],
];

async function removeAll(
  { store }: NewsParts,
  where: readonly Condition[],
  anyOf: readonly (readonly Condition[])[] | undefined,
): Promise<number> {
  const ids: string[] = [];
  for await (const { id } of store.scan({ table: "news", where, ...(anyOf && { anyOf }), order: "id" })) {
    ids.push(String(id));
  }
  if (ids.length > 0) await store.removeRecords("news", ids);
  return ids.length;
}

/** Returns what reaches the caller, the newest first. */
async function newsOf({ store, clock }: NewsParts, { profile }: ManagementCaller) {
  const { id, dna } = profile;
  const list = async (...where: Condition[]) => {
    const current: Condition = { field: "until", is: ">=", value: clock.wall() + 1 };
    const found = await store.find({
      ...{ table: "news", where: [...where, current], order: "at", descending: true, limit: SHOWN_MAX },
    });
    return (found as unknown as StoredNews[]).map(itemShape);
  };
  const [system_news, user_news, dna_news] = await Promise.all([
    list(is("kind", "system"), { field: "publisher", is: "in", value: [ROOT, ownerOf(profile)] }),
    list(is("kind", "user"), is("target", id)),
    list(is("kind", "dna"), { field: "dna", is: "in", value: beginningsOf(dna) }),
  ]);
  return { success: true as const, system_news, user_news, dna_news };
}

/** Returns every DNA that this one starts with, from that of Root's children on. */
function beginningsOf(dna: string): string[] {
  let place = ".";
  return ancestorsOf(dna).map((one: AccountId) => {
    place = dnaBelow(place, one);
    return place;
  });
}

/** What the store has of an item. */
interface StoredNews {
  readonly id: number;
  readonly title: string;
  readonly content: string;
  readonly at: number;
  readonly until: number;
}

const itemShape = ({ id, title, content, at, until }: StoredNews) => ({
  id,
  title,
  content,
  created_at: new Date(at).toISOString(),
  expires_at: new Date(until).toISOString(),
});
