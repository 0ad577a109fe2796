// What is the same for every way to reach a provider, tried for each: only plain paths, only pinned addresses, no redirect,
// no proxy, no secret in what is said, and what each failure becomes.

import { afterAll, describe, expect, test } from "bun:test";
import { realClock } from "../../src/base/clock.ts";
import { createFetchTransport } from "../../src/upstream/fetch-transport.ts";
import { Http1Transport } from "../../src/upstream/http1/http1-transport.ts";
import { isPlainPath } from "../../src/upstream/provider-adapter.ts";
import type { ProviderType, UpstreamRequest } from "../../src/upstream/upstream.ts";
import { attemptWith, type Echo, echoOf, keyAt, PEM, SECRET, startRig, TOKEN, textOf } from "./rig.ts";

describe("a path is sent only when it means the same to everybody", () => {
  const PATHS: readonly (readonly [string, boolean])[] = [
    ["/v1/chat/completions", true],
    ["/v1/responses/resp_1?include=a%2Fb", true],
    ["/v1/responses/a%20b", true],
    ["/v1/responses/../files", false],
    ["/v1/responses/%2e%2e/files", false],
    ["/v1/responses/%2E./files", false],
    ["/v1/responses/..%2ffiles", false],
    ["/v1/responses/a\\b", false],
    ["/v1/responses/a#b", false],
    ["/v1/responses/a%zz", false],
    ["/v1//files", false],
    ["/v1/responses/", false],
    ["/v2/files", false],
  ];
  for (const [path, ok] of PATHS)
    test(`${path} ${ok ? "is" : "is not"}`, () => expect(isPlainPath(path)).toBe(ok));
});

const TYPES: readonly ProviderType[] = ["standard", "cloud_a", "cloud_b"];
const real = realClock();
const TRANSPORTS = [
  ["sockets", () => new Http1Transport(real)],
  ["fetch", createFetchTransport],
] as const;

describe.each(TRANSPORTS.flatMap(([name, create]) => TYPES.map((type) => [type, name, create] as const)))(
  "%s over %s",
  (type, _, create) => {
    const rig = startRig(real, create());
    const { upstream, port, at } = rig;
    afterAll(rig.close);
    const attempt = (address: string, change: Partial<UpstreamRequest> = {}): UpstreamRequest =>
      attemptWith(keyAt(type, address), change);
    const echo = (address: string, change: Partial<UpstreamRequest> = {}): Promise<Echo> =>
      echoOf(upstream, attempt(address, change));

    async function failure(address: string, change: Partial<UpstreamRequest> = {}) {
      const result = await upstream.send(attempt(address, change));
      if (result.ok) throw new Error("it succeeded");
      const said = JSON.stringify(result.signal);
      for (const secret of [SECRET, TOKEN, PEM.slice(40, 80)]) expect(said).not.toContain(secret);
      return result.signal;
    }

    test("sends to the address that it names", async () => {
      const { key, ...to } = attempt(at("/v1"));
      const address = upstream.address({ ...to, provider: key.provider, config: key.config });
      expect(new URL((await echo(at("/v1"))).path, at("/")).href).toBe(String(address));
    });
    test("sends nothing on a path that is not plain", async () => {
      const before = rig.paths.length;
      expect((await failure(at("/v1"), { path: "/v1/../admin" })).name).toBe("rejected");
      expect(rig.paths.length).toBe(before);
    });
    test("lets no header of the client stand in place of ours", async () => {
      const headers = {
        "X-Extra": "1",
        Authorization: "Bearer client",
        "X-Api-Key": "client",
        "Api-Key": "client",
        Host: "evil",
        "accept-encoding": "br",
      };
      const seen = await echo(at("/v1"), { headers });
      expect(seen.headers).toMatchObject({ "x-extra": "1", host: `127.0.0.1:${port}` });
      expect(JSON.stringify(seen)).not.toContain("client");
    });
    test("sends the key in one header alone", async () => {
      const { headers } = await echo(at("/v1"));
      const proofs = ["authorization", "x-api-key", "api-key"].filter((name) => name in headers);
      expect(proofs.map((name) => headers[name])).toEqual([PROOFS[type]]);
    });
    test("asks for no compression of a stream", async () => {
      expect((await echo(at("/v1"), { stream: true })).headers["accept-encoding"]).toBe("identity");
    });

    describe("the connection", () => {
      test("goes to the pinned address, under the name's Host header", async () => {
        expect((await echo(at("/v1", "provider.test"))).headers.host).toBe(`provider.test:${port}`);
      });
      test("tries the name's next address when one takes no connection", async () => {
        expect((await echo(at("/v1", "two.test"))).headers.host).toBe(`two.test:${port}`);
      });
      test("follows a name no further once it leads to an address that is not allowed", async () => {
        let shiftMs = 0;
        const own = startRig({ ...real, mono: () => real.mono() + shiftMs });
        const send = () => own.upstream.send(attemptWith(keyAt(type, own.at("/v1", "provider.test"))));
        try {
          expect((await send()).ok).toBe(true);
          own.rename("provider.test", ["10.0.0.1"]);
          // What was checked is what is connected to, as long as the check is fresh.
          expect((await send()).ok).toBe(true);
          shiftMs = 60_000;
          expect(await send()).toMatchObject({ ok: false, signal: { name: "unreachable" } });
        } finally {
          own.close();
        }
      });
      test("uses no proxy of the environment", async () => {
        const before = process.env.HTTP_PROXY;
        process.env.HTTP_PROXY = "http://127.0.0.1:1";
        try {
          expect((await echo(at("/v1"))).method).toBe("POST");
        } finally {
          if (before === undefined) delete process.env.HTTP_PROXY;
          else process.env.HTTP_PROXY = before;
        }
      });
      test("undoes a compression, and the headers no longer name it", async () => {
        const result = await upstream.send(attempt(at("/zipped")));
        if (!result.ok) throw new Error(result.signal.name);
        expect(result.headers.has("content-encoding")).toBe(false);
        expect(result.headers.has("content-length")).toBe(false);
        expect(JSON.parse(await textOf(result.body))).toEqual({ zipped: true });
      });
    });

    describe("a failure is", () => {
      test("a redirect, which is not followed", async () =>
        expect(await failure(at("/moved"))).toMatchObject({ name: "redirect", status: 307 }));
      test("a redirect, which reaches nothing else", async () => {
        const before = rig.paths.length;
        await failure(at("/moved"));
        expect(rig.paths.slice(before).filter((path) => !path.startsWith("/moved/"))).toEqual([]);
      });
      test("a limit, with its wait", async () =>
        expect(await failure(at("/limited"))).toMatchObject({ name: "rate_limited", retryAfterMs: 2_000 }));
      test("an invalid key, whose secret is not repeated", async () =>
        expect((await failure(at("/denied"))).name).toBe("invalid_key"));
      test("an error body without end, read in part", async () => {
        // What ends the reading is its size alone.
        const patient = startRig({
          ...real,
          after: (ms, fn) => (ms === 5_000 ? () => {} : real.after(ms, fn)),
        });
        expect(await patient.upstream.send(attempt(patient.at("/huge")))).toMatchObject({
          ok: false,
          signal: { name: "server_error" },
        });
        patient.close();
      });
      test("an error body that drips without end, read for 5 s at most", async () => {
        // The clock's timers run out at once here; waiting the real 5 s would say no more.
        const set: number[] = [];
        const hasty = startRig({
          ...real,
          after(ms, fn) {
            set.push(ms);
            return real.after(ms === 5_000 ? 300 : ms, fn);
          },
        });
        expect(await hasty.upstream.send(attempt(at("/drip")))).toMatchObject({
          ok: false,
          signal: { name: "server_error" },
        });
        expect(set).toContain(5_000);
        hasty.close();
      });
      test("a head that does not come in time", async () =>
        expect((await failure(at("/slow"), { signal: AbortSignal.timeout(50) })).name).toBe("timeout"));
      test("a name that takes too long to resolve", async () => {
        expect((await failure("http://hanging.test/v1", { signal: AbortSignal.timeout(50) })).name).toBe(
          "timeout",
        );
      });
      test("the client's going, before and during", async () => {
        expect((await failure(at("/slow"), { signal: AbortSignal.abort() })).name).toBe("client_gone");
        const client = new AbortController();
        setTimeout(() => client.abort(), 30);
        expect((await failure(at("/slow"), { signal: client.signal })).name).toBe("client_gone");
      });
      test("nobody listening", async () =>
        expect((await failure("http://127.0.0.1:1/v1")).name).toBe("unreachable"));
      test("a name that does not resolve", async () =>
        expect((await failure("http://nowhere.test/v1")).name).toBe("unreachable"));
      test("an address that is not allowed, alone or among others", async () => {
        expect(await failure("http://10.0.0.1/v1")).toMatchObject({
          name: "unreachable",
          note: expect.stringContaining("private"),
        });
        expect((await failure(at("/v1", "inner.test"))).name).toBe("unreachable");
      });
    });

    test("the client's going stops a body that is still being read", async () => {
      const client = new AbortController();
      const result = await upstream.send(attempt(at("/endless"), { signal: client.signal }));
      expect(result.ok).toBe(true);
      if (!result.ok) return;
      client.abort();
      await expect(textOf(result.body)).rejects.toThrow();
    });
  },
);

/** How often a key is tried that the provider refuses: a token may only have ended before its time. */
const TRIES: readonly (readonly [type: ProviderType, tries: number])[] = [
  ["standard", 1],
  ["cloud_a", 1],
  ["cloud_b", 2],
];
const rig = startRig();
const { upstream, at } = rig;
afterAll(rig.close);

test.each(TRIES)("%s: a refused key is tried %i times", async (type, tries) => {
  const before = rig.paths.length;
  const result = await upstream.send(attemptWith(keyAt(type, at("/denied"))));
  expect(result).toMatchObject({ ok: false, signal: { name: "invalid_key" } });
  expect(rig.paths.length - before).toBe(tries);
});

/** What proves a key of each type. */
const PROOFS: Readonly<Record<ProviderType, string>> = {
  standard: `Bearer ${SECRET}`,
  cloud_a: SECRET,
  cloud_b: `Bearer ${TOKEN}`,
};

test.each(["standard", "cloud_a"] as const)(
  "%s: a secret that cannot stand in a header is an invalid key",
  async (type) => {
    const result = await upstream.send(attemptWith(keyAt(type, at("/v1"), "sk-line\nbreak")));
    expect(result).toMatchObject({ ok: false, signal: { name: "invalid_key" } });
  },
);
