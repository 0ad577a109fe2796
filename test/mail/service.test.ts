// Mail through the whole service: an account spends its SoftLimit and its BillingEmail hears of it once, a Level goes
// down and SERVICE_MAIL hears of it; over TLS with a login, and no log holds the password.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type Bench, startBench, until } from "../e2e/harness.ts";
import { headerOf, type PostOffice, startPostOffice } from "./post-office.ts";

const LOGIN = { user: "mailer@owner.example", pass: "Very-Secret_Password-4711" };

let bench: Bench;
let office: PostOffice;
beforeAll(async () => {
  office = await startPostOffice({ login: LOGIN });
  bench = await startBench();
});
afterAll(async () => {
  await bench.close();
  await office.shut();
});

const mail = (over: object = {}) => ({
  EMAIL_SMTP: "127.0.0.1",
  EMAIL_PORT: String(office.port),
  EMAIL_AUTH: LOGIN.user,
  EMAIL_PASS: LOGIN.pass,
  EMAIL_TLS: "false",
  SERVICE_MAIL: "service@owner.example",
  ...over,
});

const to = (address: string) => office.letters.filter((letter) => letter.to.includes(address));

/** Everything that was logged, and everything that lies in the database in clear. */
function traces(): string {
  const database = new Database(join(bench.directory, "bench.db"), { readonly: true });
  const tables = database.query("SELECT name FROM sqlite_master WHERE type = 'table'").all() as {
    name: string;
  }[];
  const rows = tables.flatMap(({ name }) => database.query(`SELECT * FROM "${name}"`).values());
  database.close();
  const cells = rows
    .flat()
    .map((cell) => (cell instanceof Uint8Array ? Buffer.from(cell).toString("latin1") : String(cell)));
  return JSON.stringify(bench.log) + cells.join("\n");
}

test("SoftLimit reached: one mail a month, however much is spent", async () => {
  const owner = await bench.owner({ config: mail() });
  const user = await bench.subaccount(owner, { SoftLimit: 0.5, BillingEmail: "pays@team.example" });
  const spend = () => bench.chat(user.key, "go [[output=200000]]", { max_tokens: 200_000 });
  expect((await spend()).status).toBe(200);
  await Bun.sleep(100);
  expect(to("pays@team.example")).toEqual([]);
  for (let i = 0; i < 3; i++) expect((await spend()).status).toBe(200);
  await until("the mail has come", () => to("pays@team.example").length > 0, 40_000);
  const [letter] = to("pays@team.example");
  expect([letter!.from, letter!.user]).toEqual(["service@owner.example", LOGIN.user]);
  expect(headerOf(letter!, "Subject")).toBe(`SoftLimit of ${user.name} reached`);
  expect((await spend()).status).toBe(200);
  // A sweep or two later.
  await Bun.sleep(5_000);
  expect(to("pays@team.example")).toHaveLength(1);
}, 90_000);

test("an Owner without a mail server: Root's serves, in Root's name", async () => {
  const { status } = await bench.call(
    bench.rootKey,
    "PUT",
    "/x-config",
    mail({ SERVICE_MAIL: "root@root.example" }),
  );
  expect(status).toBe(200);
  const owner = await bench.owner();
  const user = await bench.subaccount(owner, { SoftLimit: 0.1, BillingEmail: "other@team.example" });
  await bench.chat(user.key, "go [[output=200000]]", { max_tokens: 200_000 });
  await until("the mail has come", () => to("other@team.example").length > 0, 40_000);
  expect(to("other@team.example")[0]!.from).toBe("root@root.example");
}, 90_000);

test("a Level whose only key falls asleep: SERVICE_MAIL hears of it, once", async () => {
  const owner = await bench.owner({ config: mail({ SERVICE_MAIL: "ops@owner.example" }) });
  for (let i = 0; i < 4; i++) await bench.chat(owner.key, "go [[fault=500]]");
  await until("the notice has come", () => to("ops@owner.example").length > 0);
  expect(headerOf(to("ops@owner.example")[0]!, "Subject")).toBe("Level 1 has no usable key");
  await bench.call(owner.key, "POST", "/x-conf", { DelKeys: true });
  for (let i = 0; i < 4; i++) await bench.chat(owner.key, "go [[fault=500]]");
  await Bun.sleep(300);
  expect(to("ops@owner.example")).toHaveLength(1);
}, 60_000);

test("a password that the server refuses is in no log and in no table", async () => {
  const wrong = "Another-Secret_Password-0815";
  const owner = await bench.owner({ config: mail({ EMAIL_PASS: wrong }) });
  const user = await bench.subaccount(owner, { SoftLimit: 0.1, BillingEmail: "third@team.example" });
  await bench.chat(user.key, "go [[output=200000]]", { max_tokens: 200_000 });
  await until("it failed", () => bench.log.some(({ event }) => event === "mail_failed"), 15_000);
  expect(bench.log.find(({ event }) => event === "mail_failed")?.fields.why).toBe("EAUTH 535");
  const found = traces();
  expect(found).toContain("third@team.example");
  for (const secret of [wrong, LOGIN.pass]) {
    expect(found).not.toContain(secret);
    expect(found).not.toContain(Buffer.from(secret).toString("base64"));
  }
}, 90_000);
