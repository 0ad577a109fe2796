// Late charges on disk: whole or absent, kept until they are forgotten, readable by nobody else.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AccountId } from "../../../actors/ids.ts";
import { createFileSpool, type SpooledCharge } from "../../../src/gateway/admission/charge-spool.ts";
import { factsOf } from "../../actors/account-samples.ts";

const late = (id: string): SpooledCharge => ({ account: 7 as AccountId, bornAt: 5, facts: factsOf({ id }) });
const byId = (a: SpooledCharge, b: SpooledCharge) => (a.facts.id < b.facts.id ? -1 : 1);

describe("the spool", () => {
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "spool-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  test("keeps each charge until it is forgotten, for a later process as well", async () => {
    const spool = createFileSpool(directory);
    await Promise.all(["a", "b", "c"].map((id) => spool.keep(late(id))));
    await spool.forget("b");
    expect((await createFileSpool(directory).all()).sort(byId)).toEqual([late("a"), late("c")]);
  });

  test("makes its directory, for its owner alone, when the first charge is late", async () => {
    const inner = join(directory, "deep", "spool");
    const spool = createFileSpool(inner);
    expect(await spool.all()).toEqual([]);
    await spool.keep(late("a"));
    expect(statSync(inner).mode & 0o777).toBe(0o700);
    expect(statSync(join(inner, "a.json")).mode & 0o777).toBe(0o600);
  });

  test("ignores a file that a crash left half-written", async () => {
    const spool = createFileSpool(directory);
    await spool.keep(late("a"));
    writeFileSync(join(directory, "b.json.part"), '{"account":7,"bo');
    expect(await spool.all()).toEqual([late("a")]);
    await spool.keep(late("b"));
    expect((await spool.all()).sort(byId)).toEqual([late("a"), late("b")]);
    expect(readdirSync(directory).sort()).toEqual(["a.json", "b.json"]);
  });

  test("kept twice is one charge; what is not there can be forgotten", async () => {
    const spool = createFileSpool(directory);
    await spool.keep(late("a"));
    await spool.keep(late("a"));
    expect(await spool.all()).toHaveLength(1);
    await spool.forget("a");
    await spool.forget("a");
    expect(await spool.all()).toEqual([]);
  });

  test("is read all the same when another process removes one of its charges meanwhile", async () => {
    const spool = createFileSpool(directory);
    await spool.keep(late("a"));
    // Listed, and not there any more when it is read.
    symlinkSync(join(directory, "gone"), join(directory, "b.json"));
    expect(await spool.all()).toEqual([late("a")]);
  });

  test("that cannot write says so: a charge that is nowhere must not pass for a durable one", async () => {
    const blocked = join(directory, "a-file");
    writeFileSync(blocked, "");
    const kept = await createFileSpool(blocked)
      .keep(late("a"))
      .then(() => "kept")
      .catch(() => "refused");
    expect(kept).toBe("refused");
  });
});
