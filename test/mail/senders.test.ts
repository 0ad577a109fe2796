// Through which server an Owner's mail goes, and in whose name.

import { describe, expect, test } from "bun:test";
import { type AccountId, ROOT } from "../../actors/ids.ts";
import type { Protocol } from "../../actors/index.ts";
import { type OwnerConfig, owner } from "../../actors/owner/owner.ts";
import { senderOf, senders } from "../../src/mail/senders.ts";
import type { ActorSystem } from "../../src/runtime/system.ts";

const OWNER = 2 as AccountId;
const NOTHING = owner.empty("2").config;
const open = ({ box }: { box: string }) => `opened ${box}`;
const of = (over: Partial<OwnerConfig>) =>
  senderOf({ ...NOTHING, emailSmtp: "mail.example", serviceMail: "service@owner.example", ...over }, open);

describe("port and TLS", () => {
  test.each([
    [null, false, 587, "offered"],
    [null, true, 465, "implicit"],
    [465, false, 465, "implicit"],
    [465, true, 465, "implicit"],
    [587, true, 587, "required"],
    [25, true, 25, "required"],
    [2525, true, 2525, "required"],
    [25, false, 25, "offered"],
    [10025, true, 10025, "implicit"],
    [10025, false, 10025, "offered"],
  ] as const)("EMAIL_PORT %p and EMAIL_TLS %p: port %p, TLS %s", (emailPort, emailTls, port, security) => {
    expect(of({ emailPort, emailTls })?.server).toMatchObject({ port, security });
  });
});

describe("a configuration", () => {
  test("without a server sends nothing", () => expect(of({ emailSmtp: "" })).toBeNull());

  test("writes in the name of SERVICE_MAIL", () =>
    expect(of({ emailAuth: "login@owner.example" })?.from).toBe("service@owner.example"));

  test("without SERVICE_MAIL writes in the name of the login, where that is an address", () =>
    expect(of({ serviceMail: "", emailAuth: "login@owner.example" })?.from).toBe("login@owner.example"));

  test("that names nobody sends nothing", () =>
    expect(of({ serviceMail: "", emailAuth: "login" })).toBeNull());

  test("opens the password for its login", () =>
    expect(of({ emailAuth: "login", emailPass: { keyId: "k", box: "secret" } })?.server.login).toEqual({
      user: "login",
      pass: "opened secret",
    }));

  test("without a login asks for no password", () =>
    expect(of({ emailPass: { keyId: "k", box: "secret" } })?.server.login).toBeNull());
});

describe("an Owner", () => {
  const configs = new Map<string, OwnerConfig>();
  const system = {
    ask: async ({ id }: { id: string }) => configs.get(id) ?? NOTHING,
  } as unknown as ActorSystem<Protocol>;
  const senderFor = senders({ system, open });
  const configured = (host: string): OwnerConfig => ({
    ...NOTHING,
    emailSmtp: host,
    serviceMail: `service@${host}`,
  });

  test.each([
    ["with a server of its own uses that", { "2": "own.example", "1": "root.example" }, OWNER, "own.example"],
    ["without one uses Root's", { "1": "root.example" }, OWNER, "root.example"],
    ["has none where Root has none either", {}, OWNER, null],
    ["is Root itself", { "1": "root.example" }, ROOT, "root.example"],
    ["is Root, and nobody else's serves it", { "2": "own.example" }, ROOT, null],
  ] as const)("%s", async (_what, hosts, account, expected) => {
    configs.clear();
    for (const [id, host] of Object.entries(hosts)) configs.set(id, configured(host));
    const sender = await senderFor(account);
    expect([sender?.server.host ?? null, sender?.from ?? null]).toEqual([
      expected,
      expected && `service@${expected}`,
    ]);
  });
});
