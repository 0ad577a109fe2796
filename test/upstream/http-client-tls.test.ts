// TLS to a pinned address: the certificate must be for the name that was asked for, on a connection that is kept open too.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CERTIFICATE, CERTIFICATE_KEY } from "../mail/certificate.ts";

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

/** What comes of calls to names, one after another, by a process that trusts our authority, or none but the usual ones. */
async function called(client: string, names: readonly string[], trusts: boolean): Promise<unknown[]> {
  const addresses = names.map((name) => `https://${name}:${server.port}/`);
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const command = [process.execPath, join(import.meta.dir, "tls-client.ts"), client, ...addresses];
  const child = Bun.spawn(command, {
    env: trusts ? { ...env, NODE_EXTRA_CA_CERTS: authority } : env,
    stderr: "inherit",
  });
  const lines = (await new Response(child.stdout).text()).trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

describe.each(["sockets", "fetch"])("%s", (client) => {
  test("a certificate for the name is taken, for another name it is not, whatever is still open", async () => {
    const host = `${NAME}:${server.port}`;
    const wrong = "ERR_TLS_CERT_ALTNAME_INVALID";
    expect(await called(client, [NAME, NAME, "other.example", NAME, "other.example"], true)).toEqual([
      host,
      host,
      wrong,
      host,
      wrong,
    ]);
  });

  test("a certificate by an authority that nobody trusts is not taken", async () => {
    const [said] = await called(client, [NAME], false);
    expect(said).toBe("DEPTH_ZERO_SELF_SIGNED_CERT");
  });
});
