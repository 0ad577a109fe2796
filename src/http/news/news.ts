// News: for everybody below the publisher, for one account, or for the accounts below a place in the tree.
// Root's system news reaches everybody, an Owner's its own tree. Whoever publishes for others stands above them; an item
// may be taken back by its publisher and by those above the publisher. What has expired is not there.

import { type Static, Type } from "@sinclair/typebox";
import { type AccountId, ancestorsOf, dnaBelow, ownerOf, ROOT } from "../../../actors/ids.ts";
import { DAY_MS } from "../../../actors/time.ts";
import { RefusedError } from "../../base/errors.ts";
import type { Store, Where } from "../../store/store.ts";
import { answer, endpoint, type ManagementCaller, type ManagementParts } from "../management.ts";
import { NoQuery } from "../shapes.ts";
import { withLineFeeds, words } from "../text-rules.ts";
import { type Audience, audienceOf, auditTargetOf } from "./audience.ts";

export interface NewsParts extends ManagementParts {
  readonly store: Store;
  readonly nextNewsId: () => Promise<number>;
}

const SYSTEM_DAYS = 7;
const TARGETED_DAYS = 32;
/** News items of one kind in an answer; the newest are shown. */
const SHOWN_MAX = 1_000;

const NewItem = Type.Object(
  {
    title: words(100, "one line"),
    content: words(1_000, "lines"),
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 36_500, description: "must be an integer from 1 to 36500" }),
    ),
  },
  { additionalProperties: false },
);

/** spec: POST /x-news. */
export const postNews = (parts: NewsParts) =>
  endpoint(parts, { who: "owner", body: NewItem, action: "add_news" }, async ({ caller, body, journal }) => {
    const item = await publish(parts, caller, { kind: "system" }, body, SYSTEM_DAYS);
    journal.about({ type: "news", id: item.id });
    journal.changed({ title: body.title, to: "everybody", expires_at: item.expires_at });
    return answer({ success: true, Action: "add", news: item });
  });

/** spec: POST /x-news/{target}. */
export const postTargetedNews = (parts: NewsParts) =>
  endpoint(
    parts,
    { who: "any", body: NewItem, action: "add_news" },
    async ({ caller, body, params, journal }) => {
      const audience = await audienceOf(parts, caller, params.target ?? "");
      const item = await publish(parts, caller, audience, body, TARGETED_DAYS);
      journal.about({ type: "news", id: item.id });
      journal.changed({ title: body.title, to: auditTargetOf(audience), expires_at: item.expires_at });
      return answer({ success: true, Action: "add", news: item });
    },
  );

async function publish(
  { store, clock, nextNewsId }: NewsParts,
  caller: ManagementCaller,
  audience: Audience,
  { title, content, days }: Static<typeof NewItem>,
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
  return itemShape(body);
}

const OneItem = Type.Object(
  {
    id: Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "must be the number of a news item",
    }),
  },
  { additionalProperties: false },
);

/** spec: DELETE /x-news. With a body the item that it names, without one all of the caller's system news. */
export const deleteNews = (parts: NewsParts) =>
  endpoint(
    parts,
    { who: "owner", body: OneItem, bodyMayLack: true, query: NoQuery, action: "delete_news" },
    async ({ caller, body, journal }) => {
      const id: number | undefined = body.id;
      if (id === undefined) {
        const own = [is("kind", "system"), is("publisher", caller.profile.id)];
        const deleted = await removeAll(parts, own, undefined);
        journal.changed({ deleted, of: "everybody" });
        return answer({ success: true, Action: "delete", deleted });
      }
      journal.about({ type: "news", id });
      const [item] = await parts.store.find({
        ...{ table: "news", where: [is("id", id)], order: "id", limit: 1 },
        anyOf: withdrawable(caller),
      });
      if (item === undefined) {
        throw new RefusedError({ code: "not_found", message: `There is no news item ${id} of yours.` });
      }
      await parts.store.removeRecords("news", [String(id)]);
      const news = itemShape(item as unknown as Kept);
      journal.changed({ title: news.title });
      return answer({ success: true, Action: "delete", news, deleted: 1 });
    },
  );

/** spec: DELETE /x-news/{target}. Whatever the caller, or an account below it, published for that target. */
export const deleteTargetedNews = (parts: NewsParts) =>
  endpoint(
    parts,
    { who: "any", writes: true, query: NoQuery, action: "delete_news" },
    async ({ caller, params, journal }) => {
      const audience = await audienceOf(parts, caller, params.target ?? "");
      const meant = Object.entries(audience).map(([field, value]) => is(field as keyof Audience, value));
      const deleted = await removeAll(parts, meant, withdrawable(caller));
      journal.changed({ deleted, of: auditTargetOf(audience) });
      return answer({ success: true, Action: "delete", deleted });
    },
  );

type Condition = Where<"news">;

const is = (field: Condition["field"], value: string | number): Condition => ({ field, is: "=", value });

/** What the caller published, and what the accounts below it did. */
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

/** spec: GET /dashboard/news: what reaches the caller, the newest first. */
export const getNews = (parts: NewsParts) =>
  endpoint(parts, { who: "any", query: NoQuery }, async ({ caller }) => {
    const { id, dna } = caller.profile;
    const list = async (...where: Condition[]) => {
      const current: Condition = { field: "until", is: ">=", value: parts.clock.wall() + 1 };
      const found = await parts.store.find({
        ...{ table: "news", where: [...where, current], order: "at", descending: true, limit: SHOWN_MAX },
      });
      return (found as unknown as Kept[]).map(itemShape);
    };
    const [system_news, user_news, dna_news] = await Promise.all([
      list(is("kind", "system"), { field: "publisher", is: "in", value: [ROOT, ownerOf(caller.profile)] }),
      list(is("kind", "user"), is("target", id)),
      list(is("kind", "dna"), { field: "dna", is: "in", value: beginningsOf(dna) }),
    ]);
    return answer({ success: true, system_news, user_news, dna_news });
  });

/** Every DNA that this one starts with, from that of Root's children on. */
function beginningsOf(dna: string): string[] {
  let place = ".";
  return ancestorsOf(dna).map((one: AccountId) => {
    place = dnaBelow(place, one);
    return place;
  });
}

interface Kept {
  readonly id: number;
  readonly title: string;
  readonly content: string;
  readonly at: number;
  readonly until: number;
}

const itemShape = ({ id, title, content, at, until }: Kept) => ({
  id,
  title,
  content,
  created_at: new Date(at).toISOString(),
  expires_at: new Date(until).toISOString(),
});
