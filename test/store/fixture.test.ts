// A store that the first version wrote: every later one opens it, finds what was in it, and goes on.
// The fixture is made by test/fixtures/store-v1/make.ts.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock } from "../../src/base/clock.ts";
import { silent } from "../../src/base/log.ts";
import { type Service, startService } from "../../src/node/service.ts";
import { unaccounted } from "../../src/report/verify/conservation.ts";
import { verify } from "../../src/report/verify/verify.ts";
import { openAudit, openStore } from "../../src/store/open.ts";
import { settingsFor } from "../cli/workload.ts";
import { type Expected, expectedOf } from "../fixtures/store-v1/expected.ts";

const FIXTURE = join(import.meta.dirname, "../fixtures/store-v1");
const expected: Expected & { madeAt: number; keys: Record<string, string> } = await Bun.file(
  join(FIXTURE, "expected.json"),
).json();

const home = mkdtempSync(join(tmpdir(), "arborgate-fixture-"));
const path = join(home, "arborgate.db");
let service: Service;

beforeAll(async () => {
  copyFileSync(join(FIXTURE, "arborgate.db"), path);
  const SECRETS_KEY = readFileSync(join(FIXTURE, "secrets.key"), "utf8").trim();
  const settings = settingsFor(path, { SECRETS_KEY, ROOT_KEY: "another-root-key-which-is-ignored-0" });
  // The business clock stands where the fixture was made, or its credit would expire one day.
  service = await startService({ ...settings, clockOffsetMs: expected.madeAt - Date.now() }, silent);
});
afterAll(async () => {
  await service.stop();
  rmSync(home, { recursive: true });
});

async function get(key: string, path: string) {
  const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${key}` } });
  expect(response.status).toBe(200);
  return response.json();
}

test("its keys are still known, and each account has its balance", async () => {
  expect(service.rootKey).toBeNull();
  const ids = { owner: 2, blue: 3, green: 4, lender: 5 };
  for (const [name, id] of Object.entries(ids)) {
    const status = await get(expected.keys[name]!, "/dashboard/status");
    expect(Math.round(status.balance * 1e9)).toBe(expected.accounts[`account/${id}`]!.balance);
  }
  await get(expected.keys.root!, "/dashboard/status");
});

test("its ledger has the same lines and sums", async () => {
  const { accounts, lines, minted } = expected;
  expect(await expectedOf(`sqlite:${path}`)).toEqual({ accounts, lines, minted });
});

test("it holds whole, streamed and partial charges, transfers and an expiry", async () => {
  expect(Object.keys(expected.lines).sort()).toEqual([
    "charge",
    "expire",
    "grant",
    "transfer_in",
    "transfer_out",
  ]);
  const { lines } = await get(expected.keys.green!, "/dashboard/ledger");
  const bases = lines.map((line: { basis?: string }) => line.basis).filter(Boolean);
  expect(bases).toContain("partial");
  expect(lines.map((line: { request_id?: string }) => line.request_id)).toContain("ticket-4711");
});

test("verify finds everything right, also where nobody has come by since", async () => {
  const untouched = join(home, "untouched.db");
  copyFileSync(join(FIXTURE, "arborgate.db"), untouched);
  await (await openStore(`sqlite:${untouched}`, { clock: realClock() })).close();
  const audit = await openAudit(`sqlite:${untouched}`);
  const { findings } = await verify(audit);
  await audit.close();
  expect(findings).toEqual([]);
});

test("verify finds everything right, beside the running service", async () => {
  const audit = await openAudit(`sqlite:${path}`);
  const { findings, totals } = await verify(audit);
  await audit.close();
  expect(findings).toEqual([]);
  expect(totals.minted).toBe(BigInt(expected.minted));
  expect(unaccounted(totals)).toBe(0n);
});
