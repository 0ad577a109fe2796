// Which provider addresses are refused, that every address of a name counts, and that a cached check is cheap.

import { describe, expect, spyOn, test } from "bun:test";
import type { Clock } from "../../src/base/clock.ts";
import { createSsrfGuard } from "../../src/upstream/ssrf-guard.ts";
import { workOf } from "../work-counter/work-counter.ts";

const FORBIDDEN: readonly (readonly [rule: string, url: string, reason: RegExp])[] = [
  ["loopback", "http://127.0.0.1:8080/v1", /loopback/],
  ["any loopback", "http://127.9.9.9", /loopback/],
  ["IPv6 loopback", "http://[::1]/v1", /loopback/],
  ["private 10/8", "https://10.1.2.3", /private/],
  ["private 172.16/12", "https://172.31.255.255", /private/],
  ["private 192.168/16", "https://192.168.0.1", /private/],
  ["link-local, where clouds keep their metadata", "http://169.254.169.254/latest", /link-local/],
  ["IPv6 link-local", "http://[fe80::1]", /link-local/],
  ["unique-local", "http://[fd00:ec2::254]", /unique-local/],
  ["carrier-grade NAT", "http://100.64.0.1", /carrier/],
  ["carrier-grade NAT, a cloud's metadata", "http://100.100.100.200", /carrier/],
  ["a metadata service at a public address", "http://168.63.129.16", /metadata/],
  ["multicast", "http://224.0.0.1", /multicast/],
  ["IPv6 multicast", "http://[ff02::1]", /multicast/],
  ["unspecified", "http://0.0.0.0", /unspecified/],
  ["this network", "http://0.1.2.3", /unspecified/],
  ["IPv6 unspecified", "http://[::]", /unspecified/],
  ["broadcast", "http://255.255.255.255", /broadcast|reserved/],
  ["reserved for tests", "http://198.18.0.1", /reserved/],
  ["reserved for documentation", "http://203.0.113.5", /reserved/],
  ["reserved 240/4", "http://240.0.0.1", /reserved/],
  ["IPv4-mapped IPv6", "http://[::ffff:127.0.0.1]", /loopback/],
  ["IPv4-mapped IPv6 in hex", "http://[::ffff:a9fe:a9fe]", /link-local/],
  ["IPv4-compatible IPv6", "http://[::127.0.0.1]", /reserved/],
  ["NAT64 of a private address", "http://[64:ff9b::10.0.0.1]", /private/],
  ["local-use NAT64", "http://[64:ff9b:1::10.0.0.1]", /reserved/],
  ["6to4", "http://[2002:7f00:1::]", /reserved/],
  ["Teredo", "http://[2001::1]", /reserved/],
  ["decimal spelling", "http://2130706433", /loopback/],
  ["octal spelling", "http://0177.0.0.1", /loopback/],
  ["hex spelling", "http://0x7f.1", /loopback/],
  ["short spelling", "http://127.1", /loopback/],
  ["full-width digits", "http://１２７.0.0.1", /loopback/],
  ["percent-encoded digits", "http://%31%32%37.0.0.1", /loopback/],
  ["another scheme", "ftp://example.com", /http/],
  ["a file", "file:///etc/passwd", /http/],
  ["a user name", "https://user@example.com", /user name/],
  ["a password", "https://u:p@example.com", /password/],
  ["no URL at all", "api.example.com", /no URL such as/],
];

function fixture(names: Record<string, readonly string[]>, allowCidrs: readonly string[] = []) {
  let nowMs = 0;
  let lookups = 0;
  const clock: Clock = {
    wall: () => nowMs,
    mono: () => nowMs,
    after: () => () => {},
    endOfTurn: queueMicrotask,
  };
  const guard = createSsrfGuard({
    allowCidrs,
    clock,
    resolve: async (host) => {
      lookups++;
      const found = names[host];
      if (found === undefined) throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
      return found;
    },
  });
  return {
    guard,
    lookups: () => lookups,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

describe("a provider URL is refused when it is or leads to", () => {
  for (const [rule, url, reason] of FORBIDDEN) {
    test(rule, async () => {
      const { guard } = fixture({});
      const answer = await guard.check(url);
      expect(answer.ok).toBe(false);
      if (!answer.ok) expect(answer.reason).toMatch(reason);
    });
  }
});

test("public addresses pass, literal ones unpinned, IPv6 without brackets", async () => {
  const { guard } = fixture({});
  expect(await guard.check("https://1.1.1.1/v1")).toMatchObject({
    ok: true,
    pinned: { addresses: ["1.1.1.1"], name: null },
  });
  expect(await guard.check("https://[2606:4700::1]/v1")).toMatchObject({
    ok: true,
    addresses: ["2606:4700::1"],
  });
  expect(await guard.check("https://[64:ff9b::1.1.1.1]")).toMatchObject({ ok: true });
});

test("a name is pinned to its addresses, IPv4 first", async () => {
  const { guard } = fixture({ "api.example.com": ["2606:4700::1", "1.1.1.1"] });
  expect(guard.checked("https://api.example.com")).toBeUndefined();
  await guard.check("https://api.example.com");
  expect(guard.checked("https://api.example.com")).toEqual({
    addresses: ["1.1.1.1", "2606:4700::1"],
    name: "api.example.com",
  });
});

test("one forbidden address among several refuses the name, and the reason shows no address", async () => {
  const { guard } = fixture({ "api.example.com": ["1.1.1.1", "10.0.0.7"] });
  const answer = await guard.check("https://api.example.com/v1");
  expect(answer).toMatchObject({ ok: false, kind: "address" });
  expect(JSON.stringify(answer)).not.toContain("10.0.0.7");
  expect(guard.checked("https://api.example.com/v1")).toBeUndefined();
});

test("an allowed range lets its addresses through, in mapped form too, and no others", async () => {
  const { guard } = fixture({ "demo.test": ["127.0.0.1"] }, ["127.0.0.0/8", "fd00::/8", "10.0.0.9"]);
  expect((await guard.check("http://demo.test")).ok).toBe(true);
  expect((await guard.check("http://[::ffff:127.0.0.1]:99")).ok).toBe(true);
  expect((await guard.check("http://[fd12::1]")).ok).toBe(true);
  expect((await guard.check("http://10.0.0.9")).ok).toBe(true);
  expect((await guard.check("http://10.0.0.8")).ok).toBe(false);
  expect((await guard.check("http://[::1]")).ok).toBe(false);
});

test("an unreadable range is named at once", () => {
  expect(() => fixture({}, ["127.0.0.0/99"])).toThrow("127.0.0.0/99");
});

test("a name that does not resolve is distinguished from a forbidden one and is not remembered", async () => {
  const names: Record<string, readonly string[]> = {};
  const { guard } = fixture(names);
  expect(await guard.check("https://new.example.com")).toMatchObject({ ok: false, kind: "unresolved" });
  names["new.example.com"] = ["1.1.1.1"];
  expect((await guard.check("https://new.example.com")).ok).toBe(true);
});

test("an answer serves 30 s, is renewed in the background before, and concurrent checks share one lookup", async () => {
  const names = { "api.example.com": ["1.1.1.1"] as readonly string[] };
  const { guard, lookups, pass } = fixture(names);
  const url = "https://api.example.com";
  await Promise.all([guard.check(url), guard.check(url), guard.check(url)]);
  expect(lookups()).toBe(1);
  pass(19_000);
  expect(guard.checked(url)).toBeDefined();
  expect(lookups()).toBe(1);
  pass(2_000);
  expect(guard.checked(url)).toBeDefined();
  expect(guard.checked(url)).toBeDefined();
  await Bun.sleep(1);
  expect(lookups()).toBe(2);
  names["api.example.com"] = ["10.0.0.1"];
  pass(21_000);
  guard.checked(url);
  await Bun.sleep(1);
  expect(guard.checked(url)).toBeUndefined();
});

test("a resolver that fails while renewing leaves the answer to live out its 30 s", async () => {
  const names: Record<string, readonly string[]> = { "api.example.com": ["1.1.1.1"] };
  const { guard, pass } = fixture(names);
  await guard.check("https://api.example.com");
  delete names["api.example.com"];
  pass(25_000);
  guard.checked("https://api.example.com");
  await Bun.sleep(1);
  expect(guard.checked("https://api.example.com")).toBeDefined();
  pass(5_000);
  expect(guard.checked("https://api.example.com")).toBeUndefined();
});

test("an answer older than 30 s does not serve", async () => {
  const { guard, pass } = fixture({ "api.example.com": ["1.1.1.1"] });
  await guard.check("https://api.example.com");
  pass(30_000);
  expect(guard.checked("https://api.example.com")).toBeUndefined();
});

test("at most 1,000 answers are kept, the oldest going first", async () => {
  const { guard } = fixture({});
  for (let i = 0; i <= 1_000; i++) await guard.check(`https://1.1.1.1:${1_000 + i}`);
  expect(guard.checked("https://1.1.1.1:1000")).toBeUndefined();
  expect(guard.checked("https://1.1.1.1:2000")).toBeDefined();
});

test("a cached check looks into one table, parses no URL and resolves nothing", async () => {
  const { guard, lookups } = fixture({ "api.example.com": ["1.1.1.1"] });
  await guard.check("https://api.example.com");
  using parsed = spyOn(URL, "parse");
  const work = workOf(() => {
    for (let i = 0; i < 100; i++) guard.checked("https://api.example.com");
  });
  expect(work).toMatchObject({ lookups: 100, text: 0, bytes: 0, matching: 0 });
  expect([parsed.mock.calls.length, lookups()]).toEqual([0, 1]);
});
