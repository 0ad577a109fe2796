// What each of several processes gets of the settings, and what is refused.

import { describe, expect, test } from "bun:test";
import { BadSetting, readSettings } from "../../src/settings/settings.ts";
import { assertCanShare, readPortShare, settingsOfShare } from "../../src/supervisor/port-share.ts";

const CLUSTER = {
  ...{ STORE_URL: "mongodb://db.example/arborgate", NATS_URL: "nats://nats.example:4222" },
  ...{ PROCESSES: "3", SPOOL_DIR: "/spool" },
};
const read = (env: Record<string, string> = {}) => readSettings({ ...CLUSTER, ...env }, false);
const SHARE = { process: 2, node: "gw-1", port: 8080, adminPort: 9090 };
const shared = (env: Record<string, string> = {}, share: object = {}) =>
  settingsOfShare(read(env), { ...SHARE, ...share });

describe("a process on shared ports", () => {
  test("has a name and a spool of its own", () => {
    const { nodeName, spoolDir, port } = shared();
    expect([nodeName, spoolDir, port]).toEqual(["gw-1-2", "/spool/process-2", 8080]);
  });
  test("that is the first has the spool of a process alone", () => {
    expect(shared({}, { process: 1 }).spoolDir).toBe("/spool");
  });
  test("answers for itself at the port after ADMIN_PORT by its number", () => {
    expect(shared({ ADMIN_PORT: "9090" }).share).toEqual({ process: 2, ownPort: 9092 });
  });
  test("has such a port only with ADMIN_PORT, and any with 0", () => {
    expect(shared().share?.ownPort).toBeNull();
    expect(shared({ ADMIN_PORT: "0" }).share?.ownPort).toBe(0);
  });
  test("with a name that becomes too long is refused", () => {
    expect(() => shared({}, { node: "n".repeat(62) })).toThrow(/^NODE_NAME/);
  });
  test.each(["", "2", "{}", '{"process":0,"node":"a","port":1,"adminPort":null}'])("is not %p", (text) => {
    expect(() => readPortShare(text)).toThrow(BadSetting);
  });
  test("reads what its parent wrote", () => {
    expect(readPortShare(JSON.stringify(SHARE))).toEqual(SHARE);
  });
});

describe("several processes", () => {
  test("share ports on Linux alone", () => {
    expect(() => assertCanShare(read(), "linux")).not.toThrow();
    expect(() => assertCanShare(read(), "darwin")).toThrow(/^PROCESSES over 1 needs Linux/);
    expect(() => assertCanShare(read({ PROCESSES: "1" }), "darwin")).not.toThrow();
  });
  test.each([
    ["PORT among the processes' own", { ADMIN_PORT: "8078" }, /^PORT/],
    ["PORT at ADMIN_PORT", { ADMIN_PORT: "8080" }, /^PORT/],
    ["no port after ADMIN_PORT", { ADMIN_PORT: "65533" }, /^ADMIN_PORT/],
  ])("are refused with %s", (_, env, says) => {
    expect(() => assertCanShare(read(env), "linux")).toThrow(says);
  });
  test("with PORT next to theirs are not", () => {
    expect(() => assertCanShare(read({ ADMIN_PORT: "8076" }), "linux")).not.toThrow();
    expect(() => assertCanShare(read({ ADMIN_PORT: "8081" }), "linux")).not.toThrow();
  });
});
