// Names of accounts: which are fit, as a table (contract section 3), and that each is taken once, without regard to case.

import { describe, expect, test } from "bun:test";
import { fresh } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { userBody } from "../bodies.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = prepared(() => bench.owner({ credit: 10_000 }));

const create = (Name: string, more: object = {}) =>
  bench.call(owner.key, "POST", "/x-users", userBody({ Name, ...more }));

describe("fit", () => {
  test.each([
    ["4 characters", "abcd"],
    ["63 characters", "n".repeat(63)],
    ["spaces and signs inside", "Team Blue & Co. (#7)"],
    ["a letter among digits", "123a"],
    ["letters of other scripts", "Bj\u00f6rk \u65e5\u672c \u043f\u0440\u0438\u0432\u0435\u0442"],
    ["an emoji beside letters", "team \u{1f680}"],
    ["like a filter, but longer", "L2 team"],
    ["a filter's letter and other letters", "Lima"],
    ["G with text behind", "G1x2"],
    ["a lower-case filter", "l234"],
    ["a dot inside", "a.b.c"],
    ["a property of objects", "constructor"],
    ["another one", "__proto__"],
    ["letters that look alike but differ", "p\u0430ypal"],
  ])("%s: %j", async (_, name) => {
    const { status, body } = await create(name);
    expect(status).toBe(200);
    expect(body.User.Updates.Name).toBe(name);
    const found = await bench.call(owner.key, "GET", `/x-users/${encodeURIComponent(name)}`);
    expect(found.body).toMatchObject([{ ID: body.User.ID, Name: name, Alias: name }]);
  });
});

describe("unfit", () => {
  test.each([
    ["3 characters", "abc"],
    ["64 characters", "n".repeat(64)],
    ["nothing", ""],
    ["spaces only", "    "],
    ["digits only", "12345"],
    ["no letter", "1-2-3"],
    ["emojis only", "\u{1f680}\u{1f680}\u{1f680}\u{1f680}"],
    ["an @", "user@home"],
    ["a slash", "team/blue"],
    ["a leading dot", ".team"],
    ["a Level filter", "L234"],
    ["a Gear filter", "G123"],
    ["a Role filter", "R123"],
    ["a Tier filter", "T123"],
    ["a fractional Factor filter", "F1.5"],
    ["a filter with dots", "L1..2"],
    ["a line feed", "team\nblue"],
    ["a carriage return", "team\rblue"],
    ["a tab", "team\tblue"],
    ["NUL", "team\u0000"],
    ["DEL", "team\u007f"],
    ["a C1 control", "team\u0085blue"],
    ["a line separator", "team\u2028blue"],
    ["a paragraph separator", "team\u2029blue"],
    ["a right-to-left override", "team\u202eeulb"],
    ["a zero-width space", "team\u200bblue"],
    ["a zero-width joiner", "team\u200dblue"],
    ["a byte order mark", "\ufeffteam"],
    ["a selector that changes no letter", "team\ufe0f"],
    ["a grapheme joiner", "te\u034fam"],
    ["a Hangul filler", "team\u3164"],
    ["emoji that are joined", "team \u{1f469}\u200d\u{1f4bb}"],
    ["three characters, one beyond the first plane", "ab\u{1f680}"],
    ["three characters once they are composed", "a\u0301bc"],
    ["a lone surrogate", "team\ud800"],
    ["a private character", "team\ue000"],
    ["a code point that is none", "team\uffff"],
    ["a leading space", " team"],
    ["a trailing space", "team "],
    ["a no-break space at the end", "team\u00a0"],
  ])("%s: %j", async (_, name) => {
    const before = await bench.balance(owner.key);
    const answer = await create(name);
    properError(answer, 400, "invalid_parameter");
    expect(answer.body.error.message).toContain("Name");
    expect(await bench.balance(owner.key)).toBe(before);
  });
});

describe("in another encoding", () => {
  const composed = (name: string) => name.normalize("NFC");
  const decomposed = (name: string) => name.normalize("NFD");

  test.each([
    ["composed", composed, decomposed],
    ["decomposed", decomposed, composed],
  ])("a name sent %s is kept in NFC, found either way, and taken either way", async (_, sent, other) => {
    const name = `J\u00f6rg \u1ebf ${fresh()}`;
    const { status, body } = await create(sent(name));
    expect([status, body.User.Updates.Name]).toEqual([200, name]);
    for (const spelling of [sent(name), other(name), other(name).toUpperCase()]) {
      const found = await bench.call(owner.key, "GET", `/x-users/${encodeURIComponent(spelling)}`);
      expect(found.body).toMatchObject([{ ID: body.User.ID }]);
      const filtered = await bench.call(owner.key, "GET", `/x-users?name=${encodeURIComponent(spelling)}`);
      expect(filtered.body).toMatchObject([{ ID: body.User.ID }]);
      const bill = await bench.call(owner.key, "GET", `/x-bill?user=${encodeURIComponent(spelling)}`);
      expect(bill.status).toBe(200);
      expect((await create(spelling)).body.error?.code).toBe("duplicate_name");
    }
  });

  test("of 20 that want it at once exactly one gets it", async () => {
    const name = `\u00c5se ${fresh()}`;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => create(i % 2 === 0 ? composed(name) : decomposed(name))),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe("taken once", () => {
  test.each([
    ["the same", (name: string) => name],
    ["in capitals", (name: string) => name.toUpperCase()],
    ["in other capitals", (name: string) => name[0]!.toUpperCase() + name.slice(1)],
  ])("%s: 400 duplicate_name, and the credit stays", async (_, change) => {
    const name = `taken-${fresh()}`;
    expect((await create(name)).status).toBe(200);
    const before = await bench.balance(owner.key);
    properError(await create(change(name)), 400, "duplicate_name");
    expect(await bench.balance(owner.key)).toBe(before);
  });

  test("over all accounts, of other Owners and Root's too", async () => {
    const other = await bench.owner();
    const name = `shared-${fresh()}`;
    expect((await create(name)).status).toBe(200);
    for (const [key, taken] of [
      [other.key, name.toUpperCase()],
      [bench.rootKey, name],
      [other.key, "root"],
      [other.key, "ROOT"],
    ] as const) {
      const answer = await bench.call(key, "POST", "/x-users", userBody({ Name: taken }));
      expect(answer.body.error?.code).toBe("duplicate_name");
    }
  });

  test("of 30 that want it at once exactly one gets it, and one is paid for", async () => {
    const name = `race-${fresh()}`;
    const before = await bench.balance(owner.key);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => create(i % 2 === 0 ? name : name.toUpperCase())),
    );
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    for (const answer of answers.filter((one) => one.status !== 200)) {
      expect(answer.body.error.code).toBe("duplicate_name");
    }
    expect(await bench.balance(owner.key)).toBe(before - 2);
  });

  test.each([
    ["the credit is not there", { CreditGranted: 1_000_000 }, "insufficient_parent_balance"],
    ["the rate is too low", { Rates: 0.5 }, "rate_below_parent"],
    ["a field is wrong", { RPM: -1 }, "invalid_parameter"],
  ])("a name is free again when %s", async (_, more, code) => {
    const name = `free-${fresh()}`;
    expect((await create(name, more)).body.error.code).toBe(code);
    expect((await create(name)).status).toBe(200);
  });
});
