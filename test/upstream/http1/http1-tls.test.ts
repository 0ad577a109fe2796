// TLS of our own connections to a pinned address: the certificate must be for the name that was asked for and by a
// trusted authority, and a connection is used again for its own name only.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CERTIFICATE, CERTIFICATE_KEY } from "../../mail/certificate.ts";

const NAME = "mail.example";
const directory = mkdtempSync(join(tmpdir(), "tls-"));
const authority = join(directory, "authority.pem");
let server: ReturnType<typeof Bun.serve>;
beforeAll(() => {
  writeFileSync(authority, CERTIFICATE);
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert: CERTIFICATE, key: CERTIFICATE_KEY },
    fetch: (request) => new Response(request.headers.get("host")),
  });
});
afterAll(async () => {
  await server.stop(true);
  rmSync(directory, { recursive: true });
});

async function called(names: readonly string[], trusts: boolean): Promise<unknown[]> {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const command = [process.execPath, join(import.meta.dir, "tls-client.ts"), String(server.port), ...names];
  const client = Bun.spawn(command, {
    env: trusts ? { ...env, NODE_EXTRA_CA_CERTS: authority } : env,
    stderr: "inherit",
  });
  const lines = (await new Response(client.stdout).text()).trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

test("a certificate for the name is taken and its connection kept; for another name it is not", async () => {
  const wrong = "ERR_TLS_CERT_ALTNAME_INVALID";
  expect(await called([NAME, NAME, "other.example", NAME, "other.example"], true)).toEqual([
    [NAME, 1],
    [NAME, 1],
    [wrong, 1],
    [NAME, 1],
    [wrong, 1],
  ]);
});

test("a certificate by an authority that is not trusted is refused", async () => {
  expect(await called([NAME], false)).toEqual([["DEPTH_ZERO_SELF_SIGNED_CERT", 0]]);
});
