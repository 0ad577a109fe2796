// News as pages prepare them: in one list, within the lengths of the contract, and what of the published ones is still shown.

import { describe, expect, test } from "bun:test";
import type { LogLine } from "../../../console/api/log-details.ts";
import {
  allNews,
  areDays,
  codePointsOf,
  type NewsDraft,
  newsBody,
  publishedNews,
} from "../../../console/api/news.ts";

const NOW = Date.UTC(2027, 2, 18);

let lines = 0;
const line = (more: Partial<LogLine>): LogLine => ({
  ...{ id: ++lines, action: "add_news", operator_id: 4, target_id: null, target_type: "news" },
  ...{ details: "", ip_address: "", created_at: "2027-03-01 10:00:00", status: "success" },
  ...more,
});
const added = (id: number, to: string | number, more: Partial<LogLine> = {}) =>
  line({
    target_id: id,
    details: `title: "标题 ${id}"; to: ${JSON.stringify(to)}; expires_at: "2027-04-01T10:00:00.000Z"`,
    ...more,
  });
const idsOf = (one: readonly LogLine[], other: readonly LogLine[], now = NOW) =>
  publishedNews(one, other, now).map(({ id }) => id);

test("all news stand in one list, the newest first", () => {
  const item = (id: number, day: string) => ({
    ...{ id, title: "t", content: "c" },
    ...{ created_at: `2027-03-${day}T00:00:00.000Z`, expires_at: "2027-04-01T00:00:00.000Z" },
  });
  const found = allNews({
    success: true,
    system_news: [item(1, "02"), item(2, "01")],
    user_news: [item(3, "04")],
    dna_news: [item(4, "03")],
  });
  expect(found.map(({ id, kind }) => [id, kind])).toEqual([
    [3, "user"],
    [4, "group"],
    [1, "system"],
    [2, "system"],
  ]);
});

describe("an item is sent as it was typed", () => {
  const draft = { title: "🌸".repeat(100), content: "设".repeat(1_000), days: "" };

  test("when it is as long as it may be, in code points", () => {
    expect(codePointsOf(draft.title)).toBe(100);
    expect(newsBody(draft)).toEqual({ title: draft.title, content: draft.content });
    expect(newsBody({ ...draft, days: "36500" })).toMatchObject({ days: 36_500 });
  });

  test.each<NewsDraft>([
    { ...draft, title: `${draft.title}a` },
    { ...draft, content: `${draft.content}a` },
    { ...draft, title: "  " },
    { ...draft, content: "\n" },
    { ...draft, days: "0" },
    { ...draft, days: "36501" },
    { ...draft, days: "1.5" },
  ])("and not when it is %#", (wrong) => expect(newsBody(wrong)).toBeNull());

  test("days may be left to the service", () => expect([areDays(" "), areDays("7")]).toEqual([true, true]));
});

describe("what was published is listed", () => {
  test("with its target, whether an account, a group or everybody", () => {
    const found = publishedNews([added(1, 7), added(2, ".1.4."), added(3, "everybody")], [], NOW);
    expect(found.map(({ to, title }) => [to, title])).toEqual([
      ["7", "标题 1"],
      [".1.4.", "标题 2"],
      ["everybody", "标题 3"],
    ]);
  });

  test("until it expires", () => expect(idsOf([added(1, 7)], [], Date.UTC(2027, 3, 2))).toEqual([]));

  test("until it is withdrawn by its number", () => {
    expect(idsOf([added(1, 7), added(2, 7)], [line({ action: "delete_news", target_id: 2 })])).toEqual([1]);
  });

  test("until all for its target are withdrawn, and again when it was published later", () => {
    const first = added(1, ".1.4.");
    const all = line({ action: "delete_news", details: 'deleted: 1; of: ".1.4."' });
    const second = added(2, ".1.4.");
    const other = added(3, 7, { created_at: "2027-02-01 10:00:00" });
    expect(idsOf([second, first, other], [all])).toEqual([2, 3]);
  });
});
