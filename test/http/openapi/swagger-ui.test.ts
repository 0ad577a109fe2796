// Swagger UI: all that the page needs comes from the service itself, under a policy that allows nothing else.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Bench, startBench } from "../../e2e/harness.ts";

let bench: Bench;
let page: Response;
let html: string;
beforeAll(async () => {
  bench = await startBench();
  page = await fetch(`${bench.url}/swagger`);
  html = await page.text();
});
afterAll(() => bench.close());

const needed = (): string[] => [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!);

test("the page asks for no key", () => {
  expect(page.status).toBe(200);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
});

test("its policy allows nothing but this service", () => {
  const policy = page.headers.get("content-security-policy")!;
  expect(policy).toStartWith("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|\*|http/);
});

test("it has no script or style of its own, which the policy would forbid", () => {
  expect(html).not.toMatch(/<script>|<style|\son\w+=|\sstyle=/);
});

test("it names no other host", () => {
  expect(html).not.toMatch(/https?:|\/\//);
  expect(needed().length).toBeGreaterThan(3);
});

test("everything it needs is there, of the right kind, and may be kept", async () => {
  const kinds: Record<string, string> = { js: "text/javascript", css: "text/css", png: "image/png" };
  for (const address of needed()) {
    const file = await fetch(new URL(address, `${bench.url}/swagger`));
    expect(file.status).toBe(200);
    expect(file.headers.get("content-type")).toStartWith(kinds[address.split(".").at(-1)!]!);
    expect(file.headers.get("x-content-type-options")).toBe("nosniff");
    expect(file.headers.get("cache-control")).toBeString();
    const etag = file.headers.get("etag")!;
    expect((await file.bytes()).length).toBeGreaterThan(50);
    const again = await fetch(new URL(address, `${bench.url}/swagger`), {
      headers: { "if-none-match": etag },
    });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  }
});

test("it keeps the key that was entered, and asks no validator elsewhere", async () => {
  const start = await (await fetch(`${bench.url}/swagger/start.js`)).text();
  expect(start).toContain("persistAuthorization: true");
  expect(start).toContain("validatorUrl: null");
  expect(start).toContain('url: "openapi.json"');
});

test.each([
  "package.json",
  "index.html",
  "..%2fpackage.json",
  "%2e%2e%2fpackage.json",
  "constructor",
  "__proto__",
])("there is no file %s", async (name) => {
  const answer = await bench.call(null, "GET", `/swagger/${name}`);
  expect(answer.status).toBe(404);
  expect(answer.body.error.code).toBe("not_found");
});
