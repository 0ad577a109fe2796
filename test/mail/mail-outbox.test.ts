// The outbox: a mail is sent once, tried again until it is, known by its Message-ID when a crash repeats it, and given up
// a week after its month.

import { beforeEach, describe, expect, test } from "bun:test";
import type { ProfileChange } from "../../actors/account/state.ts";
import { ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { deleteAccount } from "../../src/admin/delete-account.ts";
import { moveAccount } from "../../src/admin/move-account.ts";
import { realClock } from "../../src/base/clock.ts";
import type { Log } from "../../src/base/log.ts";
import { createMailOutbox, type MailLine, type MailOutboxParts } from "../../src/mail/mail-outbox.ts";
import type { Sender } from "../../src/mail/senders.ts";
import type { DocumentBody } from "../../src/store/tables.ts";
import { factsOf, NOON, usd } from "../actors/account-samples.ts";
import { type Born, startTree, type Tree } from "../admin/tree.ts";
import { until } from "../e2e/harness.ts";
import { memoryStore } from "../store/memory/memory.ts";
import { type MemoryMailer, memoryMailer } from "./memory-mailer.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const SENDER: Sender = {
  server: { host: "mail.example", port: 587, security: "offered", login: null },
  from: "service@owner.example",
};

let tree: Tree;
let owner: Born;
let team: Born;
let mailer: MemoryMailer;
let offsetMs = 0;
let logged: string[];
let lines: MailLine[];
beforeEach(async () => {
  // Noon of a 15th, wherever the machine's clock is.
  offsetMs = NOON - Date.now();
  const clock = realClock(() => offsetMs);
  tree = await startTree(memoryStore({ clock }), clock);
  owner = await tree.born(ROOT, "acme", 100);
  team = await tree.born(owner.id, "team <blue>", 20);
  mailer = memoryMailer();
  logged = [];
  lines = [];
});

const log: Log = (_level, event) => void logged.push(event);
const start = (over: Partial<MailOutboxParts> = {}) =>
  createMailOutbox({
    ...{ system: tree.system, store: tree.store, clock: tree.clock, log, mailer },
    senderFor: async () => SENDER,
    write: async (line) => void lines.push(line),
    ...over,
  });

/** A table that says the same for ever. */
const tableOf = (stale: DocumentBody): MailOutboxParts["store"] => ({
  async *scan() {
    yield stale;
  },
});

const documents = () => tree.store.find({ table: "outbox", where: [], order: "id" });

const change = (account: Born, change: ProfileChange) =>
  tree.system.ask(actorRef.account(account.id), "update", { by: owner.id, parent: null, change });

/** The team spends its SoftLimit of 1 USD; resolves when the table has the mail. */
async function reachLimit(account = team): Promise<void> {
  await change(account, { softLimit: usd(1) });
  const id = `r${account.id}`;
  await tree.system.ask(actorRef.account(account.id), "charge", factsOf({ id, cost: usd(1.5) }), { id });
  // A change is in the table at once, and the mail with it.
  await change(account, { billingEmail: `${account.id}@billing.example` });
  await until("the mail is due", async () => (await documents()).some((one) => one.account === account.id));
}

/** Business time goes on. */
const pass = (ms: number) => {
  offsetMs += ms;
};

const states = async () => (await documents()).map(({ state }) => state);

describe("a mail", () => {
  test("goes to BillingEmail, says what was spent, and is over when it was sent", async () => {
    await reachLimit();
    const outbox = start();
    expect(await outbox.sweep()).toBe(1);
    await until("the table knows", async () => (await states())[0] === "sent");
    expect(await outbox.sweep()).toBe(0);
    const [{ letter, server }] = mailer.letters as [MemoryMailer["letters"][number]];
    expect(server).toEqual(SENDER.server);
    expect(letter).toMatchObject({ from: SENDER.from, to: `${team.id}@billing.example` });
    expect(letter.text).toContain(`team <blue> (ID ${team.id})`);
    expect(letter.text).toContain("SoftLimit of 1 USD: 1.5 USD were spent in 2026-01");
    expect(letter.html).toContain("team &lt;blue&gt;");
    expect(mailer.letters).toHaveLength(1);
  });

  test("goes where BillingEmail is by now", async () => {
    await reachLimit();
    await change(team, { billingEmail: "new@billing.example" });
    await start().sweep();
    expect(mailer.letters[0]!.letter.to).toBe("new@billing.example");
  });

  test("goes through the Owner in whose tree the account is by now", async () => {
    await reachLimit();
    const another = await tree.born(ROOT, "beta", 10);
    const mint = { id: tree.random.id(), bornAt: tree.clock.wall() };
    await moveAccount(tree, { ...mint, account: team.id, parent: another.id, dna: null, by: ROOT });
    const owners: number[] = [];
    const senderFor = async (id: number) => {
      owners.push(id);
      return SENDER;
    };
    expect(await start({ senderFor }).sweep()).toBe(1);
    expect(owners).toEqual([another.id]);
  });

  test("is not sent again while the table lags behind", async () => {
    await reachLimit();
    const [stale] = await documents();
    const outbox = start({ store: tableOf(stale!) });
    await outbox.sweep();
    await outbox.sweep();
    expect(mailer.letters).toHaveLength(1);
  });

  test("is sent by the node that serves its account, however many others are due", async () => {
    const other = await tree.born(owner.id, "team-red", 20);
    await reachLimit();
    await reachLimit(other);
    const serving = (here: Born) => ({
      ...tree.system,
      owns: ({ id }: { id: string }) => id === String(here.id),
    });
    expect(await start({ system: serving(other) }).sweep()).toBe(1);
    expect(mailer.letters.map(({ letter }) => letter.to)).toEqual([`${other.id}@billing.example`]);
    await until("the table knows", async () => (await states()).includes("sent"));
    expect(await start({ system: serving(other) }).sweep()).toBe(0);
    expect(await start({ system: serving(team) }).sweep()).toBe(1);
  });

  test("of an account that is deleted since is sent all the same, and is over", async () => {
    await reachLimit();
    await deleteAccount(tree, { account: team.id, by: owner.id, recursive: false });
    expect(await start().sweep()).toBe(1);
    await until("the table knows", async () => (await states())[0] === "sent");
  });
});

describe("a crash between sending and the mark", () => {
  test("sends the mail again with the same Message-ID", async () => {
    await reachLimit();
    const ask = ((...given: Parameters<typeof tree.system.ask>) =>
      String(given[1]) === "mailSent"
        ? Promise.reject(new Error("died"))
        : tree.system.ask(...given)) as typeof tree.system.ask;
    await start({ system: { ...tree.system, ask } }).sweep();
    expect(logged).toContain("mail_untold");
    await start().sweep();
    const ids = mailer.letters.map(({ letter }) => letter.messageId);
    expect(ids).toHaveLength(2);
    expect(ids[0]).toBe(ids[1]!);
    expect(ids[0]).toMatch(new RegExp(`^<soft-limit\\.${team.id}\\.2026-01\\.\\d+@owner\\.example>$`));
  });

  test("without a crash the account learns of it by the next sweep, and nothing is sent again", async () => {
    await reachLimit();
    let dead = true;
    const ask = ((...given: Parameters<typeof tree.system.ask>) =>
      dead && String(given[1]) === "mailSent"
        ? Promise.reject(new Error("away"))
        : tree.system.ask(...given)) as typeof tree.system.ask;
    const outbox = start({ system: { ...tree.system, ask } });
    await outbox.sweep();
    dead = false;
    await outbox.sweep();
    await until("the table knows", async () => (await states())[0] === "sent");
    expect(mailer.letters).toHaveLength(1);
  });
});

describe("a mail that the server does not take", () => {
  test("is tried again after 1, 2, 4 … 60 minutes", async () => {
    await reachLimit();
    const outbox = start();
    const pauses: number[] = [];
    mailer.faults.push(...Array.from({ length: 8 }, () => "EENVELOPE 550"));
    let waited = 0;
    for (let minute = 0; mailer.letters.length === 0 && minute < 400; minute++) {
      const before = mailer.faults.length;
      await outbox.sweep();
      if (mailer.faults.length < before || mailer.letters.length > 0) {
        pauses.push(waited);
        waited = 0;
      }
      pass(MINUTE);
      waited++;
    }
    expect(pauses).toEqual([0, 1, 2, 4, 8, 16, 32, 60, 60]);
  });

  test("is postponed in the table too, for the process that starts next", async () => {
    await reachLimit();
    mailer.faults.push("ESOCKET ECONNREFUSED");
    await start().sweep();
    await until("the table knows", async () => Number((await documents())[0]!.dueAt) > tree.clock.wall());
    expect(await start().sweep()).toBe(0);
    pass(MINUTE);
    expect(await start().sweep()).toBe(1);
  });

  test("is not tried sooner while the table lags behind", async () => {
    await reachLimit();
    const [stale] = await documents();
    const outbox = start({ store: tableOf(stale!) });
    mailer.faults.push("EENVELOPE 550", "EENVELOPE 550");
    await outbox.sweep();
    await outbox.sweep();
    expect(mailer.faults).toHaveLength(1);
  });

  test("keeps nobody else's back", async () => {
    const other = await tree.born(owner.id, "team-red", 20);
    await reachLimit();
    await reachLimit(other);
    mailer.faults.push("EENVELOPE 550");
    expect(await start().sweep()).toBe(1);
  });

  test.each([
    ["is still tried a week after its month", 7 * DAY - HOUR, 1, []],
    ["is given up after that, which both logs say", 7 * DAY + HOUR, 0, ["mail_given_up"]],
  ] as const)("%s", async (_what, afterMonthMs, sent, events) => {
    await reachLimit();
    pass(Date.UTC(2026, 1) - NOON + afterMonthMs);
    const outbox = start();
    expect(await outbox.sweep()).toBe(sent);
    expect(await outbox.sweep()).toBe(0);
    expect(logged.filter((event) => event === "mail_given_up")).toEqual([...events]);
    expect(lines.map(({ details }) => details)).toEqual(
      events.map(() => "The mail of 2026-01 could not be sent in time."),
    );
  });
});

test("an account that did not learn that its mail is given up learns it by the next sweep", async () => {
  await reachLimit();
  pass(Date.UTC(2026, 1) - NOON + 8 * DAY);
  let reached = false;
  const ask = ((...given: Parameters<Tree["system"]["ask"]>) =>
    reached ? tree.system.ask(...given) : Promise.reject(new Error("not reached"))) as Tree["system"]["ask"];
  const outbox = start({ system: { ...tree.system, ask } });
  await outbox.sweep();
  reached = true;
  await outbox.sweep();
  await until("the table knows", async () => Number((await documents())[0]!.dueAt) > tree.clock.wall());
  expect(lines).toHaveLength(1);
});

describe("without any mail server", () => {
  test("both logs say so once, and the mail goes when there is one", async () => {
    await reachLimit();
    let sender: Sender | null = null;
    const outbox = start({ senderFor: async () => sender });
    for (let i = 0; i < 3; i++) {
      await outbox.sweep();
      pass(HOUR);
    }
    expect(logged.filter((event) => event === "mail_without_server")).toHaveLength(1);
    expect(lines).toEqual([
      {
        action: "soft_limit_mail",
        operator: team.id,
        subject: { type: "user", id: team.id, dna: `.1.${owner.id}.` },
        details: "No mail server: see EMAIL_SMTP.",
        ip: "",
        status: "failed",
      },
    ]);
    sender = SENDER;
    expect(await outbox.sweep()).toBe(1);
  });

  test("a password that cannot be opened is a failure like any other", async () => {
    await reachLimit();
    const outbox = start({ senderFor: () => Promise.reject(new Error("sealed with another key")) });
    expect(await outbox.sweep()).toBe(0);
    pass(MINUTE);
    expect(await start().sweep()).toBe(1);
  });
});
