// The unit file: it starts what `npm start` starts, sets settings, waits as long as the service may need to end, and is caged.

import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json";
import { readSettings } from "../../src/settings/settings.ts";
import { DECLARED_SETTINGS } from "../declared-settings.ts";
import { HOME } from "./build-image.ts";
import { endMs, read } from "./operator-files.ts";

const UNIT = "deploy/systemd/arborgate.service";
/** Each line as its section, name and value. */
const LINES = read(UNIT)
  .split(/^(?=\[)/m)
  .slice(1)
  .flatMap((part) => {
    const section = /^\[(\w+)\]/.exec(part)![1]!;
    return [...part.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [section, name!, value!] as const);
  });
const values = (name: string): string[] => LINES.filter((one) => one[1] === name).map((one) => one[2]);

describe("the unit", () => {
  test("has its three sections, and no line twice but the environment", () => {
    expect([...new Set(LINES.map(([section]) => section))]).toEqual(["Unit", "Service", "Install"]);
    const names = LINES.map(([, name]) => name).filter((name) => name !== "Environment");
    expect(new Set(names).size).toBe(names.length);
  });

  test("starts what npm start starts, from the folder that it works in", () => {
    const [home] = values("WorkingDirectory");
    const [command] = values("ExecStart");
    // npm runs a script in a shell, which the program replaces; the unit needs no shell.
    const started = packageJson.scripts.start.replace(/^exec /, "");
    expect(command!.replace("/bin/sh", "sh").replace(`${home}/`, "")).toBe(started);
    expect(existsSync(join(HOME, started.split(" ")[1]!))).toBe(true);
  });

  test("sets settings, all of whose data lies in the one folder that it may write", () => {
    const pairs = values("Environment").map((pair) => pair.split(/=(.*)/s).slice(0, 2) as [string, string]);
    expect(pairs.filter(([name]) => !DECLARED_SETTINGS.has(name))).toEqual([]);
    const { storeUrl, spoolDir } = readSettings(Object.fromEntries(pairs), false);
    const folder = `/var/lib/${values("StateDirectory")[0]}/`;
    expect([storeUrl.replace("sqlite:", ""), spoolDir].filter((path) => !path.startsWith(folder))).toEqual(
      [],
    );
    expect([values("StateDirectoryMode"), values("UMask")]).toEqual([["0700"], ["0077"]]);
  });

  test("waits as long as the service may need to end", () => {
    expect(Number(values("TimeoutStopSec")[0]) * 1000).toBeGreaterThan(endMs(readSettings({}, false)));
  });

  test.each([
    "NoNewPrivileges",
    "PrivateTmp",
    "PrivateDevices",
    "ProtectHome",
    "ProtectKernelModules",
    "RestrictNamespaces",
  ])("is caged: %s", (name) => expect(values(name)).toEqual(["yes"]));

  test("opens sockets of the networks, of this machine, and of the kernel's list of its addresses alone", () => {
    expect(values("RestrictAddressFamilies")).toEqual(["AF_INET AF_INET6 AF_NETLINK AF_UNIX"]);
  });

  test("has no capability, another user than root, and a system that it cannot write", () => {
    expect([values("CapabilityBoundingSet"), values("User"), values("ProtectSystem")]).toEqual([
      [""],
      ["arborgate"],
      ["strict"],
    ]);
    // The compiler of the runtime writes code into memory.
    expect(values("MemoryDenyWriteExecute")).toEqual([]);
  });
});
