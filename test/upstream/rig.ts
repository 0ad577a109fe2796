// A small provider on loopback for one attempt at a time, and an upstream of every type that reaches it under several
// names. The first part of a path says how the provider behaves; without one it answers what it was sent. Asserts nothing.

import { exportPKCS8, generateKeyPair } from "jose";
import { type Clock, realClock } from "../../src/base/clock.ts";
import { DEFAULT_API_VERSIONS } from "../../src/upstream/cloud-a.ts";
import { Http1Transport } from "../../src/upstream/http1/http1-transport.ts";
import { createSsrfGuard, type SsrfGuard } from "../../src/upstream/ssrf-guard.ts";
import type { HostFacts } from "../../src/upstream/standard.ts";
import type { Transport } from "../../src/upstream/transport.ts";
import type { ProviderType, Upstream, UpstreamKey, UpstreamRequest } from "../../src/upstream/upstream.ts";
import { createUpstreams } from "../../src/upstream/upstream-by-type.ts";
import type { UpstreamBody } from "../../src/upstream/upstream-response.ts";

export const SECRET = "sk-test-0123456789abcdef";
export const TOKEN = "ya29.token-0123456789abcdef";
export const CHAT = "/v1/chat/completions";
/** The private key of a service account; one is enough for all tests of a process. */
export const PEM = await exportPKCS8((await generateKeyPair("RS256", { extractable: true })).privateKey);

export const FACTS: Record<string, HostFacts> = {
  "keyed.test": { auth: "x-api-key" },
  "chatty.test": { auth: "bearer" },
  "both.test": { auth: "bearer", messages_base: "https://both.test/anthropic" },
};

const NAMES: Record<string, readonly string[]> = {
  "provider.test": ["127.0.0.1"],
  "keyed.test": ["127.0.0.1"],
  "chatty.test": ["127.0.0.1"],
  "both.test": ["127.0.0.1"],
  "two.test": ["127.0.0.77", "127.0.0.1"],
  "inner.test": ["127.0.0.1", "10.0.0.1"],
};

export interface Rig {
  readonly upstream: Upstream;
  readonly guard: SsrfGuard;
  readonly clock: Clock;
  readonly port: number;
  /** Requests that came, tokens aside. */
  readonly paths: string[];
  /** Where a host's name leads from now on. */
  rename(host: string, addresses: readonly string[]): void;
  at(path: string, host?: string): string;
  close(): void;
}

/** `clock`: the upstream's. */
export function startRig(clock: Clock = realClock(), transport: Transport = new Http1Transport(clock)): Rig {
  const paths: string[] = [];
  const names = { ...NAMES };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 30,
    fetch: (r) => answer(r, paths),
  });
  const at = (path: string, host = "127.0.0.1") => `http://${host}:${server.port}${path}`;
  const guard = createSsrfGuard({
    allowCidrs: ["127.0.0.0/8"],
    clock,
    resolve: async (host) => {
      if (host === "hanging.test") return new Promise<never>(() => {});
      const found = names[host];
      if (found === undefined) throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
      return found;
    },
  });
  const upstream = createUpstreams({
    guard,
    transport,
    clock,
    hostFacts: (name) => FACTS[name],
    cloudAApiVersions: DEFAULT_API_VERSIONS,
    cloudBTokenUrl: at("/token"),
  });
  return {
    ...{ upstream, guard, clock, paths, at },
    port: server.port!,
    rename(host, addresses) {
      names[host] = addresses;
    },
    close() {
      transport.close();
      void server.stop(true);
    },
  };
}

/** A key of a type whose provider lies at an address. */
export function keyAt(type: ProviderType, address: string, secret = SECRET): UpstreamKey {
  const key = { id: 1, level: 1, provider: address, secret, privateKey: null, config: {} };
  switch (type) {
    case "standard":
      return key;
    case "cloud_a":
      return { ...key, config: { provider_type: type } };
    case "cloud_b": {
      const base_url = `${address}/projects/p-1/locations/l-1`;
      const config = { provider_type: type, base_url, client_email: "robot@p-1.example" };
      return { ...key, provider: "https://nowhere.test", privateKey: PEM, config };
    }
  }
}

export const attemptWith = (key: UpstreamKey, change: Partial<UpstreamRequest> = {}): UpstreamRequest => ({
  key,
  path: CHAT,
  model: "m",
  method: "POST",
  headers: {},
  body: '{"model":"m"}',
  stream: false,
  signal: new AbortController().signal,
  requestId: "r",
  ...change,
});

/** What the provider was sent, as its answer has it. */
export interface Echo {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

export async function echoOf(upstream: Upstream, attempt: UpstreamRequest): Promise<Echo> {
  const result = await upstream.send(attempt);
  if (!result.ok) throw new Error(`${result.signal.name} ${result.signal.note}`);
  return JSON.parse(await textOf(result.body)) as Echo;
}

/** Reads a body to its end. */
export async function textOf(body: UpstreamBody): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (let piece = await body.read(); piece !== null; piece = await body.read()) pieces.push(piece.bytes());
  return Buffer.concat(pieces).toString();
}

async function answer(request: Request, paths: string[]): Promise<Response> {
  const url = new URL(request.url);
  if (url.pathname === "/token") return Response.json({ access_token: TOKEN, expires_in: 3_599 });
  paths.push(url.pathname);
  const { headers } = request;
  switch (url.pathname.split("/")[1]) {
    case "answer":
      // As the request says itself.
      return new Response(await request.text(), { status: Number(headers.get("x-status")) });
    case "moved":
      return new Response("elsewhere", { status: 307, headers: { location: `${url.origin}/v1/echo` } });
    case "limited":
      return Response.json(
        { error: { type: "rate_limit_error", message: "slow" } },
        { status: 429, headers: { "retry-after": "2" } },
      );
    case "denied": {
      const said = headers.get("api-key") ?? headers.get("authorization");
      return Response.json({ error: { message: `Incorrect API key provided: ${said}` } }, { status: 401 });
    }
    case "huge":
      return new Response(dripping("x".repeat(5_000), 0), { status: 500 });
    case "drip":
      return new Response(dripping(" ", 200), { status: 500 });
    case "endless":
      return new Response(dripping(": still here\n\n", 20));
    case "slow":
      await Bun.sleep(5_000);
      return new Response("late");
    case "zipped":
      return new Response(Bun.gzipSync('{"zipped":true}'), { headers: { "content-encoding": "gzip" } });
    case "form": {
      const file = (await request.formData()).get("file") as File;
      return Response.json({ name: file.name, type: headers.get("content-type") });
    }
    default:
      return Response.json({
        method: request.method,
        path: url.pathname + url.search,
        headers: Object.fromEntries(headers),
        body: await request.text(),
      });
  }
}

const dripping = (text: string, everyMs: number): ReadableStream<Uint8Array> =>
  new ReadableStream({
    pull: async (controller) => {
      await Bun.sleep(everyMs);
      controller.enqueue(new TextEncoder().encode(text));
    },
  });
