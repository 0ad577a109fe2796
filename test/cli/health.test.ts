// The question of a container's health check: which address is asked for which setting, and what counts as well.

import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { askHealth } from "../../src/cli/health.ts";
import { guarded } from "../children.ts";

let status = 200;
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request) => new Response(`${new URL(request.url).pathname} is here\n`, { status }),
});
const port = server.port!;
afterAll(() => server.stop(true));

test.each(["127.0.0.1", "0.0.0.0"])(
  "the service at %s is asked on loopback, and is well with 200",
  async (host) => {
    status = 200;
    expect(await askHealth({ host, port }, "/healthz")).toEqual({
      isWell: true,
      line: `http://127.0.0.1:${port}/healthz: 200 /healthz is here`,
    });
  },
);

test("any other answer is not well", async () => {
  status = 503;
  expect(await askHealth({ host: "127.0.0.1", port }, "/healthz")).toMatchObject({ isWell: false });
});

test("neither is none, also where the service listens on IPv6", async () => {
  const { isWell, line } = await askHealth({ host: "::", port: 1 }, "/healthz");
  expect([isWell, line]).toEqual([false, expect.stringContaining("http://[::1]:1/healthz: ")]);
});

/** The proxy of a machine's requests to elsewhere, which nothing answers. */
const PROXY = { HTTP_PROXY: "http://127.0.0.1:1", http_proxy: "http://127.0.0.1:1" };

test.each([
  [[], "/healthz", 200, 0, {}],
  [["--ready"], "/readyz", 200, 0, {}],
  [["--ready"], "/readyz", 503, 1, {}],
  [[], "/healthz", 200, 0, PROXY],
] as const)(
  "health %p asks %s, and %i is exit code %i, with %p",
  async (args, path, answered, code, proxy) => {
    status = answered;
    const child = guarded(
      Bun.spawn([process.execPath, "src/main.ts", "health", ...args], {
        ...{ cwd: join(import.meta.dirname, "../.."), stdin: "ignore", stdout: "pipe", stderr: "pipe" },
        env: { PATH: process.env.PATH!, PORT: String(port), ...proxy },
      }),
    );
    expect(await new Response(child.stdout).text()).toBe(
      `http://127.0.0.1:${port}${path}: ${answered} ${path} is here\n`,
    );
    expect(await child.exited).toBe(code);
  },
);
