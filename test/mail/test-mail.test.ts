// POST /x-config/test-mail: over the Owner's own mail server only, to where its mail comes from; what it answers of each way to end,
// and never the server's words; one a minute and ten a day, on whichever node.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import type { AccountId } from "../../actors/ids.ts";
import { RefusedError } from "../../src/base/errors.ts";
import type { SmtpReport } from "../../src/mail/smtp-stage.ts";
import { createTestMails } from "../../src/mail/test-mail.ts";
import type { Json, Owner } from "../e2e/harness.ts";
import { expectError, useBench } from "../e2e/use-bench.ts";
import { properError } from "../http/proper.ts";
import { manualClock } from "../runtime/manual-clock.ts";
import { memoryStore } from "../store/memory/memory.ts";
import { headerOf, type PostOffice, startPostOffice } from "./post-office.ts";

const LOGIN = { user: "mailer@owner.example", pass: "Very-Secret_Password-4711" };
const WORDS = "these are the words of the server";

const bench = useBench();
let office: PostOffice;
const servers: { close(): unknown }[] = [];
beforeAll(async () => {
  office = await startPostOffice({ login: LOGIN });
});
afterAll(async () => {
  await office.shut();
  for (const one of servers) one.close();
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

const ownerWith = (over: object = {}): Promise<Owner> => bench.owner({ config: mail(over) });
const ask = ({ key }: { readonly key: string }, body?: object) =>
  bench.call(key, "POST", "/x-config/test-mail", body);

/** A mail server with given answers to some commands, and 250 to all others. */
async function scripted(answers: Readonly<Record<string, string>>): Promise<number> {
  const serve = (socket: Socket) => {
    socket.on("error", () => {});
    const say = (command: string, otherwise: string) => {
      const said = answers[command] ?? otherwise;
      if (said === "hang up") socket.destroy();
      else if (said !== "") socket.write(`${said}\r\n`);
    };
    say("connect", `220 ${WORDS}`);
    let isContent = false;
    socket.on("data", (bytes: Buffer) => {
      for (const line of bytes.toString("utf8").split("\r\n").slice(0, -1)) {
        if (isContent && line !== ".") continue;
        const command = isContent ? "." : line.split(" ")[0]!.toUpperCase();
        isContent = command === "DATA" && (answers.DATA ?? "354").startsWith("354");
        say(command, command === "DATA" ? `354 ${WORDS}` : `250 ${WORDS}`);
      }
    });
  };
  const server = createServer(serve).listen(0, "127.0.0.1");
  servers.push(server);
  await new Promise((resolve) => server.once("listening", resolve));
  return (server.address() as { port: number }).port;
}

describe("an answer", () => {
  test("of a server that takes the mail, which goes to where mail comes from", async () => {
    const owner = await ownerWith();
    const answer = await ask(owner);
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, stage: "accepted", code: 250, enhanced_status: null },
    ]);
    const letter = office.letters.at(-1)!;
    expect([letter.from, letter.to, letter.user]).toEqual([
      ...["service@owner.example", ["service@owner.example"], LOGIN.user],
    ]);
    expect(headerOf(letter, "Subject")).toBe("Test mail");
    expect(letter.raw).not.toContain(owner.name);
  });

  test("of a login that is refused has codes alone; the password is in no answer and no log", async () => {
    const wrong = "Another-Secret_Password-0815";
    const { text, body } = await ask(await ownerWith({ EMAIL_PASS: wrong }));
    expect(body).toMatchObject({ success: false, stage: "login", code: 535 });
    for (const secret of [wrong, Buffer.from(wrong).toString("base64")]) {
      expect(text + JSON.stringify(bench.log)).not.toContain(secret);
    }
  });

  /** What the server says to which command, and what is answered. */
  const ENDS: readonly (readonly [string, string, Partial<Json>])[] = [
    ["connect", `554 5.7.1 ${WORDS}`, { stage: "greeting", code: 554, enhanced_status: "5.7.1" }],
    ["connect", WORDS, { stage: "greeting", code: null, enhanced_status: null }],
    ["connect", "hang up", { stage: "greeting", code: null, enhanced_status: null }],
    ["MAIL", `550 5.1.8 ${WORDS}`, { stage: "sender", code: 550, enhanced_status: "5.1.8" }],
    ["MAIL", `451 4.3.0 ${WORDS}`, { stage: "sender", code: 451, enhanced_status: "4.3.0" }],
    ["RCPT", `550 ${WORDS} 5.9.9`, { stage: "recipient", code: 550, enhanced_status: null }],
    ["RCPT", "hang up", { stage: "recipient", code: null, enhanced_status: null }],
    ["DATA", `554 5.5.1 ${WORDS}`, { stage: "content", code: 554, enhanced_status: "5.5.1" }],
    [".", `552 5.2.2 ${WORDS}`, { stage: "content", code: 552, enhanced_status: "5.2.2" }],
    [".", `250 2.0.0 ${WORDS}`, { stage: "accepted", code: 250, enhanced_status: "2.0.0", success: true }],
  ];
  test.each(ENDS)("to %s: %s", async (command, said, expected) => {
    const port = await scripted({ [command]: said });
    const owner = await ownerWith({ EMAIL_PORT: String(port), EMAIL_AUTH: "" });
    const { status, body, text } = await ask(owner);
    expect([status, body]).toEqual([200, { success: false, ...expected }]);
    expect(text).not.toContain("words");
  });

  test("of a server that is not there, or without TLS where it is required", async () => {
    const closed = await scripted({});
    servers.pop()!.close();
    expect((await ask(await ownerWith({ EMAIL_PORT: String(closed) }))).body).toEqual({
      ...{ success: false, stage: "connect", code: null, enhanced_status: null },
    });
    const plain = await ownerWith({ EMAIL_TLS: "true" });
    expect((await ask(plain)).body).toMatchObject({ success: false, stage: "tls", code: null });
  });

  test("of an address inside is that it was not asked", async () => {
    const owner = await ownerWith({ EMAIL_SMTP: "10.0.0.1" });
    const { body } = await ask(owner);
    expect(body).toEqual({ success: false, stage: "address", code: null, enhanced_status: null });
  });
});

describe("refused", () => {
  test("without a mail server of one's own, although Root has one: 400, and it counts for nothing", async () => {
    await bench.call(bench.rootKey, "PUT", "/x-config", mail());
    const owner = await bench.owner();
    const letters = office.letters.length;
    for (let i = 0; i < 3; i++) properError(await ask(owner), 400, "invalid_parameter");
    await bench.call(owner.key, "PUT", "/x-config", mail({ EMAIL_AUTH: "", SERVICE_MAIL: "" }));
    properError(await ask(owner), 400, "invalid_parameter");
    expect(office.letters).toHaveLength(letters);
    expect((await ask({ key: bench.rootKey })).status).toBe(200);
  });

  test("to an account that is no Owner, is suspended, or adds a field", async () => {
    const owner = await ownerWith();
    const user = await bench.subaccount(owner);
    expectError(await ask(user), 403, "not_owner");
    properError(await ask(owner, { to: "anybody@x.example" }), 400, "unknown_field");
    await bench.call(bench.rootKey, "PUT", `/x-users/${owner.id}`, { Suspended: true });
    expectError(await ask(owner), 403, "account_suspended");
  });

  test("a second time within a minute, and an eleventh time on a day: 429 with the wait", async () => {
    const owner = await ownerWith();
    const noon = Math.ceil(bench.now() / 86_400_000) * 86_400_000 + 43_200_000;
    bench.moveClock(noon - bench.now());
    for (let i = 0; i < 10; i++) {
      expect((await ask(owner)).status).toBe(200);
      if (i === 9) break;
      const again = await ask(owner);
      expectError(again, 429, "rpm_exceeded");
      const wait = Number(again.headers.get("retry-after"));
      expect(wait).toBeGreaterThan(30);
      expect(wait).toBeLessThanOrEqual(60);
      expect(again.headers.get("x-should-retry")).toBe("false");
      bench.moveClock(61_000);
    }
    const last = await ask(owner);
    expectError(last, 429, "rpm_exceeded");
    expect(Number(last.headers.get("retry-after"))).toBeGreaterThan(11 * 3_600);
    bench.moveClock(86_400_000 / 2);
    expect((await ask(owner)).status).toBe(200);
    expect((await ask(await ownerWith())).status).toBe(200);
  });
});

describe("on several nodes", () => {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const config = {
    emailSmtp: "mail.example",
    emailAuth: "",
    emailPass: null,
    emailPort: null,
    emailTls: true,
  };
  const system = { ask: async () => ({ ...config, serviceMail: "a@b.example" }) };
  const node = (attempt: () => Promise<SmtpReport>) =>
    createTestMails({
      ...{ registry: store, clock, open: () => "" },
      system: system as unknown as Parameters<typeof createTestMails>[0]["system"],
      mailer: { attempt },
    });
  const accepted: SmtpReport = { stage: "accepted", code: 250, enhanced: null };

  test("one a minute is one on all of them, also when they are asked at once", async () => {
    let sent = 0;
    const nodes = Array.from({ length: 5 }, () =>
      node(async () => {
        sent++;
        return accepted;
      }),
    );
    const answers = await Promise.allSettled(nodes.map((one) => one(7 as AccountId)));
    expect([sent, answers.filter(({ status }) => status === "fulfilled").length]).toEqual([1, 1]);
    for (const answer of answers) {
      if (answer.status === "rejected") expect(answer.reason).toBeInstanceOf(RefusedError);
    }
  });

  test("a server that never answers is given up", async () => {
    const stuck = node(() => new Promise(() => {}))(8 as AccountId);
    await clock.advance(20_001);
    expect((await stuck).stage).toBe("connect");
  });
});
