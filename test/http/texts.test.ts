// Texts of people over HTTP: which e-mail addresses, names, aliases and news are taken, as tables (contract section 2).

import { describe, expect, test } from "bun:test";
import { fresh } from "../e2e/harness.ts";
import { prepared, useBench } from "../e2e/use-bench.ts";
import { userBody } from "./bodies.ts";
import { properError, type Seen } from "./proper.ts";

const bench = useBench();
const owner = prepared(() => bench.owner({ credit: 10_000 }));
const user = prepared(() => bench.subaccount(owner));

type Send = (text: string) => Promise<Seen>;

const create = (more: object): Promise<Seen> => bench.call(owner.key, "POST", "/x-users", userBody(more));
const change = (more: object): Promise<Seen> => bench.call(owner.key, "PUT", `/x-users/${user.id}`, more);
const publish = (more: object): Promise<Seen> =>
  bench.call(owner.key, "POST", "/x-news", { title: "title", content: "content", ...more });
const keyName: Send = (Name) =>
  bench.call(owner.key, "PUT", `/x-keys/${owner.keys[0]!.id}`, { Name, Status: true });

const EMAILS: Readonly<Record<string, Send>> = {
  "Email of POST /x-users": (Email) => create({ Email }),
  "BillingEmail of POST /x-users": (BillingEmail) => create({ BillingEmail }),
  "BillingEmail of PUT /x-users": (BillingEmail) => change({ BillingEmail }),
  SERVICE_MAIL: (SERVICE_MAIL) => bench.call(owner.key, "PUT", "/x-config", { SERVICE_MAIL }),
};

describe.each(Object.entries(EMAILS))("%s", (field, send) => {
  test.each([
    "a@b.example",
    "a.b+c@d-e.example",
    "x@localhost",
    "!#$%&'*+/=?^_`{|}~-.@b.example",
    "a@xn--bcher-kva.example",
    `a@${"b".repeat(63)}.example`,
  ])("takes %j", async (email) => {
    expect((await send(email)).status).toBe(200);
  });

  test.each([
    "nobody",
    "@b.example",
    "a@",
    "a b@c.example",
    "a@b..example",
    "a@-b.example",
    "a@b-.example",
    `a@${"b".repeat(64)}.example`,
    "a@b.example\n",
    "a@b.example\r\nBcc: c@d.example",
    "a\u0000@b.example",
    "a\u200b@b.example",
    "\u202ea@b.example",
    "a@b.exam\u200dple",
    "\ufeffa@b.example",
    "j\u00f6rg@b.example",
    "jo\u0308rg@b.example",
    "a@b\u00fccher.example",
    "a@b.example,c@d.example",
    "Team <a@b.example>",
    '"a"@b.example',
  ])("refuses %j", async (email) => {
    const answer = await send(email);
    properError(answer, 400, "invalid_parameter");
    expect(answer.body.error.message).toContain(field.split(" ")[0]!);
  });
});

test("client_email of a provider key obeys the same rule", async () => {
  const { body } = await bench.call(owner.key, "POST", "/x-keys", {
    Level: 5,
    Provider: "https://aiplatform.googleapis.com/v1/projects/p/locations/global",
    SecretKey: `sk-a-secret-of-${fresh()}-0123456789`,
    Config: { provider_type: "cloud_b", client_email: "robot\u200b@p.example", private_key: "x" },
  });
  expect(body.error.message).toContain("client_email");
});

const HIDDEN: readonly (readonly [what: string, text: string])[] = [
  ["NUL", "a\u0000b"],
  ["a tab", "a\tb"],
  ["an escape", "a\u001b[31mb"],
  ["DEL", "a\u007fb"],
  ["a C1 control", "a\u0085b"],
  ["a line separator", "a\u2028b"],
  ["a soft hyphen", "a\u00adb"],
  ["a zero-width space", "a\u200bb"],
  ["a zero-width non-joiner", "a\u200cb"],
  ["a zero-width joiner between letters", "a\u200db"],
  ["a joiner behind an emoji", "\u{1f680}\u200d"],
  ["a joiner between an emoji and a letter", "\u{1f680}\u200da"],
  ["a word joiner", "a\u2060b"],
  ["a byte order mark", "\ufeffab"],
  ["a left-to-right mark", "a\u200eb"],
  ["an Arabic letter mark", "a\u061cb"],
  ["an override", "a\u202eb"],
  ["an isolate", "a\u2066b\u2069"],
  ["a Hangul filler", "a\u3164b"],
  ["a grapheme joiner", "a\u034fb"],
  ["tags without a flag", "a\u{e0061}\u{e0062}b"],
  ["two selectors in a row", "a\ufe0f\ufe0fb"],
  ["a selector of nothing", "\ufe0fab"],
];

const VISIBLE: readonly (readonly [what: string, text: string])[] = [
  ["letters with marks", "a\u0301 \u00e9 \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627"],
  ["a heart with its selector", "\u2764\ufe0f"],
  ["an ideograph with its selector", "\u845b\u{e0100}"],
  ["a family", "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}"],
  ["a profession with a tone of skin", "\u{1f469}\u{1f3fd}\u200d\u{1f4bb}"],
  ["a flag of two", "\u{1f3f3}\ufe0f\u200d\u{1f308}"],
  ["a flag of tags", "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}"],
  ["a flag of letters", "\u{1f1e8}\u{1f1ed}"],
  ["mathematics and signs", "\u2260 \u{1d49c} <b>&"],
];

const TEXTS: Readonly<Record<string, Send>> = {
  "Alias of POST /x-users": (Alias) => create({ Alias }),
  "Alias of PUT /x-users": (Alias) => change({ Alias }),
  "title of news": (title) => publish({ title }),
  "content of news": (content) => publish({ content }),
  "Name of a provider key": keyName,
};

describe.each(Object.entries(TEXTS))("%s", (field, send) => {
  test.each(HIDDEN)("refuses %s", async (_, text) => {
    const answer = await send(text);
    properError(answer, 400, "invalid_parameter");
    expect(answer.body.error.message).toContain(field.split(" ")[0]!);
    expect(answer.body.error.message).toContain("zero-width");
  });

  test.each(VISIBLE)("takes %s", async (_, text) => {
    expect((await send(text)).status).toBe(200);
  });
});

describe("line breaks", () => {
  test("stand in the content of news, each as one line feed", async () => {
    const { status, body } = await publish({ content: "one\ntwo\r\n\r\nthree" });
    expect([status, body.news.content]).toEqual([200, "one\ntwo\n\nthree"]);
  });

  test.each([
    ["a carriage return alone", () => publish({ content: "one\rtwo" })],
    ["in a title", () => publish({ title: "one\ntwo" })],
    ["in an alias", () => change({ Alias: "one\ntwo" })],
    ["in a key's name", () => keyName("one\ntwo")],
  ])("%s is refused", async (_, send) => {
    properError(await send());
  });
});
