// How the console is served: the page at every address below /console, its headers and nonce, the files with their codings, and
// what the public listener keeps back where administration has its own.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { acceptedCoding } from "../../../src/http/console/file-answer.ts";
import { type Bench, startBench } from "../../e2e/harness.ts";
import { raw, requestText } from "../raw.ts";
import { SAMPLE_ADMINISTRATION_FILE, SAMPLE_FILES, SAMPLE_MANIFEST } from "./sample-console.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await startBench({ settings: { ADMIN_PORT: "0" } });
});
afterAll(() => bench.close());

const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  raw(
    bench.url,
    requestText(
      `${method} ${path}`,
      Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ),
  );

const policyWith = (style: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self'${style}; img-src 'self' data:; connect-src 'self'; ` +
  "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const securityOf = (headers: Headers) => ({
  policy: headers.get("content-security-policy"),
  sniffing: headers.get("x-content-type-options"),
  referrer: headers.get("referrer-policy"),
  opener: headers.get("cross-origin-opener-policy"),
});

const securityWith = (style: string) => ({
  policy: policyWith(style),
  sniffing: "nosniff",
  referrer: "no-referrer",
  opener: "same-origin",
});

const administrationIn = (html: string) => /<meta name="administration" content="(\w+)">/.exec(html)![1]!;
const nonceIn = (html: string): string => /<meta name="csp-nonce" content="([^"]+)">/.exec(html)![1]!;

describe("the page", () => {
  test.each([
    ..."/console /console/ /console?user=3 /console/usage /console/accounts/3/keys /console/filesystem".split(
      " ",
    ),
    ..."/console/a.js /console/administrator /console/%E0%A4%A /console/..%2fx /console/main-aaaaaaaa.js".split(
      " ",
    ),
  ])("is what is at %s", async (path) => {
    const { status, headers, text } = await ask(path);
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(securityOf(headers)).toEqual(securityWith(` 'nonce-${nonceIn(text)}'`));
    expect(text).toContain('<div id="root"></div>');
  });

  test("has another nonce each time, of letters and digits that nobody can guess", async () => {
    const texts = await Promise.all(Array.from({ length: 50 }, async () => (await ask("/console")).text));
    const nonces = texts.map(nonceIn);
    expect(new Set(nonces).size).toBe(50);
    for (const nonce of nonces) expect(nonce).toMatch(/^[0-9A-Z]{32}$/);
    // The time of the request is no part of it.
    for (let i = 0; i < 16; i++) expect(new Set(nonces.map((nonce) => nonce[i])).size).toBeGreaterThan(5);
  });

  test("has no script or style of its own, and names no other host", async () => {
    const { text } = await ask("/console");
    expect(text).not.toMatch(/<script>|<style|\son\w+=|\sstyle=|https?:|"\/\//);
    expect(securityOf((await ask("/console")).headers).policy).not.toMatch(/unsafe|\*|http/);
  });

  test("names style sheet, colour scheme, icon and module, each of which is there", async () => {
    const { text } = await ask("/console");
    const named = [...text.matchAll(/<(link|script)([^>]*)(?:src|href)="([^"]+)"/g)].map(
      ([, tag, before, address]) => `${tag}${before!.trimEnd()} ${address}`,
    );
    const { icon, style, colorScheme, script } = SAMPLE_MANIFEST;
    expect(named).toEqual([
      `link rel="icon" type="image/svg+xml" /console/files/${icon}`,
      `link rel="stylesheet" /console/files/${style}`,
      `script /console/files/${colorScheme}`,
      `script type="module" /console/files/${script}`,
    ]);
    for (const address of text.match(/\/console\/files\/[^"]+/g)!)
      expect((await ask(address)).status).toBe(200);
  });

  test("answers HEAD as GET, without a body", async () => {
    const { status, headers, text } = await ask("/console/usage", {}, "HEAD");
    expect([status, text]).toEqual([200, ""]);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("is what / leads to", async () => {
    const answer = await ask("/");
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "/console"]);
  });
});

describe("a file", () => {
  const script = SAMPLE_MANIFEST.script;

  test.each(SAMPLE_MANIFEST.files.filter(({ isAdministration }) => !isAdministration))(
    "$name is served with its type and kept for ever",
    async ({ name, type }) => {
      const { status, headers, text } = await ask(`/console/files/${name}`);
      expect([status, headers.get("content-type"), text]).toEqual([200, type, SAMPLE_FILES[name]!]);
      expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(headers.get("vary")).toBe("accept-encoding");
      expect(headers.get("content-encoding")).toBeNull();
      expect(securityOf(headers)).toEqual(securityWith(""));
    },
  );

  test.each([
    ["br", brotliDecompressSync],
    ["gzip", gunzipSync],
  ])("comes as %s to whom that is all", async (coding, unpack) => {
    const answer = await fetch(`${bench.url}/console/files/${script}`, {
      headers: { "accept-encoding": coding },
      decompress: false,
    });
    expect([answer.status, answer.headers.get("content-encoding")]).toEqual([200, coding]);
    expect(answer.headers.get("vary")).toBe("accept-encoding");
    const bytes = await answer.bytes();
    expect(answer.headers.get("content-length")).toBe(String(bytes.length));
    expect(unpack(bytes).toString()).toBe(SAMPLE_FILES[script]!);
  });

  test("answers HEAD with the headers of GET", async () => {
    const [got, head] = [
      await ask(`/console/files/${script}`),
      await ask(`/console/files/${script}`, {}, "HEAD"),
    ];
    expect([head.status, head.text]).toEqual([200, ""]);
    for (const name of ["content-type", "content-length", "cache-control", "vary", "content-security-policy"])
      expect([name, head.headers.get(name)]).toEqual([name, got.headers.get(name)]);
  });

  test.each([
    ..."/console/files /console/files/ /console/files/none.js /console/files/manifest.json".split(" "),
    ..."/console/files/main-aaaaaaaa.js.br /console/files/main-aaaaaaaa.js/x /console/files/..%2fmanifest.json".split(
      " ",
    ),
    ..."/console/files/%2e%2e%2fbench.db /console/files/%00 /console/files/__proto__ /console/files/%E0%A4%A".split(
      " ",
    ),
    ..."/console/FILES/none.js /console%2ffiles%2fnone.js /console/%66iles/none.js".split(" "),
  ])("there is none at %s", async (path) => {
    const answer = await ask(path);
    expect([answer.status, answer.body.error.code]).toEqual([404, "not_found"]);
    expect(answer.headers.get("cache-control") ?? "").not.toContain("immutable");
  });

  test("that is not there has the headers of the others, and is never kept", async () => {
    const { headers } = await ask("/console/files/none.js");
    expect(securityOf(headers)).toEqual(securityWith(""));
    expect(headers.get("cache-control")).toBe("no-store");
  });
});

describe("where administration has a listener of its own", () => {
  const administration = () => bench.service.adminUrl;
  const ADMINISTRATION = [
    ..."/console/admin /console/admin/ /console/admin/pool /console/admin?x=1 /console/ADMIN/pool".split(" "),
    ..."/console/%61dmin/pool /console/admin%2fpool".split(" "),
    `/console/files/${SAMPLE_ADMINISTRATION_FILE}`,
  ];

  test.each(ADMINISTRATION)("%s is 404 on the public one", async (path) => {
    const answer = await ask(path);
    expect([answer.status, answer.body.error.code]).toEqual([404, "not_found"]);
    expect(securityOf(answer.headers)).toEqual(securityWith(""));
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test.each(ADMINISTRATION)("%s is there on that one", async (path) => {
    expect((await fetch(administration() + path)).status).toBe(200);
  });

  test.each(["/console", "/console/usage", `/console/files/${SAMPLE_MANIFEST.script}`])(
    "%s is on both",
    async (path) => {
      expect([(await ask(path)).status, (await fetch(administration() + path)).status]).toEqual([200, 200]);
    },
  );

  test("the page says where it is", async () => {
    expect(administrationIn((await ask("/console")).text)).toBe("elsewhere");
    const there = await fetch(`${administration()}/console`);
    expect(administrationIn(await there.text())).toBe("here");
  });
});

test("without a listener of its own, administration is served with the rest", async () => {
  const alone = await startBench();
  try {
    for (const path of ["/console/admin/pool", `/console/files/${SAMPLE_ADMINISTRATION_FILE}`]) {
      expect((await fetch(alone.url + path)).status).toBe(200);
    }
  } finally {
    await alone.close();
  }
});

test.each<[string | null, string | null]>([
  [null, null],
  ["", null],
  ["identity", null],
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["br", "br"],
  ["gzip, deflate, br, zstd", "br"],
  ["GZIP , BR", "br"],
  ["gzip;q=1.0, br;q=0.1", "br"],
  ["br;q=0, gzip", "gzip"],
  ["br; q=0.0, gzip; q=0", null],
  ["*", "br"],
  ["*;q=0", null],
  ["br;q=0, *", "gzip"],
  ["gzip;q=0, *;q=0.5", "br"],
  ["br;q=much", null],
  ["deflate, zstd", null],
  [",,;q=1", null],
])("Accept-Encoding %j is answered with %j", (accepted, coding) => {
  expect(acceptedCoding(accepted)).toBe(coding as ReturnType<typeof acceptedCoding>);
});
