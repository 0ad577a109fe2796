// Letters by SMTP against a real server: with and without TLS, with and without a login, refused, cut off; and never to an
// address inside.

import { afterEach, describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { realClock } from "../../src/base/clock.ts";
import type { Letter, MailServer } from "../../src/mail/mail.ts";
import { type SmtpParts, smtpMailer } from "../../src/mail/smtp.ts";
import { createSsrfGuard } from "../../src/upstream/ssrf-guard.ts";
import { CERTIFICATE } from "./certificate.ts";
import { headerOf, type PostOffice, type PostOfficeOptions, startPostOffice } from "./post-office.ts";

const LETTER: Letter = {
  ...{ from: "service@owner.example", to: "billing@team.example", subject: "SoftLimit reached – 5 €" },
  ...{ text: "Ten dollars <were> spent.\n", html: "<p>Ten dollars &lt;were&gt; spent.</p>\n" },
  ...{ messageId: "<soft-limit.7@owner.example>" },
};
const LOGIN = { user: "mailer", pass: "very-secret-password" };

const offices: PostOffice[] = [];
afterEach(async () => {
  await Promise.all(offices.splice(0).map((one) => one.shut()));
});

async function office(options: PostOfficeOptions = {}): Promise<PostOffice> {
  const one = await startPostOffice(options);
  offices.push(one);
  return one;
}

const clock = realClock();
/** Every name is at 127.0.0.1. */
const guardOf = (allowCidrs: string[]) =>
  createSsrfGuard({ allowCidrs, clock, resolve: async () => ["127.0.0.1"] });
const mailer = (over: Partial<SmtpParts> = {}) =>
  smtpMailer({ judge: guardOf(["127.0.0.0/8"]).check, clock, ca: CERTIFICATE, ...over });

const at = (port: number, over: Partial<MailServer> = {}): MailServer => ({
  host: "mail.example",
  port,
  security: "offered",
  login: null,
  ...over,
});

describe("a letter", () => {
  test("arrives with its Message-ID, as plain text and as HTML", async () => {
    const { port, letters } = await office();
    expect(await mailer().send(at(port), LETTER)).toEqual({ ok: true });
    const [letter] = letters;
    expect([letter!.from, letter!.to]).toEqual([LETTER.from, [LETTER.to]]);
    expect(headerOf(letter!, "Message-ID")).toBe(LETTER.messageId);
    expect(headerOf(letter!, "Auto-Submitted")).toBe("auto-generated");
    expect(letter!.raw).toContain("Content-Type: text/plain");
    expect(letter!.raw).toContain("Content-Type: text/html");
    expect(letter!.raw).toContain("Ten dollars <were> spent.");
    expect(letter!.raw).toContain("<p>Ten dollars &lt;were&gt; spent.</p>");
  });

  test("has one recipient, whatever his address looks like", async () => {
    const { port, letters } = await office();
    await mailer().send(at(port), { ...LETTER, to: "one@team.example,two@team.example" });
    expect(letters.flatMap(({ to }) => to)).not.toContain("two@team.example");
  });
});

describe("security", () => {
  test.each([
    ["plain, where nothing else is there", "none", "offered", false],
    ["STARTTLS, where it is offered", "starttls", "offered", true],
    ["STARTTLS, where it is required", "starttls", "required", true],
    ["TLS from the first byte", "implicit", "implicit", true],
  ] as const)("%s", async (_what, tls, security, encrypted) => {
    const { port, letters } = await office({ tls });
    expect(await mailer().send(at(port, { security }), LETTER)).toEqual({ ok: true });
    expect(letters.map((one) => one.encrypted)).toEqual([encrypted]);
  });

  test("that is required and not there sends nothing, not even the password", async () => {
    const { port, letters, logins } = await office({ login: LOGIN });
    const sent = await mailer().send(at(port, { security: "required", login: LOGIN }), LETTER);
    expect([sent.ok, letters, logins]).toEqual([false, [], []]);
  });

  test.each(["implicit", "required"] as const)(
    "%s: a certificate that nobody vouches for",
    async (security) => {
      const { port, letters } = await office({ tls: security === "implicit" ? "implicit" : "starttls" });
      const { ca: _, ...strict } = { ca: "", judge: guardOf(["127.0.0.0/8"]).check, clock };
      expect((await smtpMailer(strict).send(at(port, { security }), LETTER)).ok).toBe(false);
      expect(letters).toEqual([]);
    },
  );

  test.each(["implicit", "required"] as const)("%s: another host's certificate", async (security) => {
    const { port, letters } = await office({ tls: security === "implicit" ? "implicit" : "starttls" });
    const sent = await mailer().send(at(port, { security, host: "other.example" }), LETTER);
    expect([sent.ok, letters]).toEqual([false, []]);
  });
});

describe("a login", () => {
  test("that is right", async () => {
    const { port, letters } = await office({ tls: "starttls", login: LOGIN });
    expect(await mailer().send(at(port, { login: LOGIN }), LETTER)).toEqual({ ok: true });
    expect(letters[0]!.user).toBe(LOGIN.user);
  });

  test("that is wrong is reported by its codes, without the server's words", async () => {
    const { port, letters } = await office({ tls: "starttls", login: LOGIN });
    const wrong = { user: LOGIN.user, pass: "another-secret-password" };
    const sent = await mailer().send(at(port, { login: wrong }), LETTER);
    expect(sent).toEqual({ ok: false, why: "EAUTH 535" });
    expect(letters).toEqual([]);
  });
});

describe("what goes wrong is reported by codes", () => {
  test("a recipient that the server does not know", async () => {
    const { port, letters } = await office({ unknown: [LETTER.to] });
    expect(await mailer().send(at(port), LETTER)).toEqual({ ok: false, why: "EENVELOPE 550" });
    expect(letters).toEqual([]);
  });

  test("a server that is down, until it is up again", async () => {
    const one = await office();
    await one.shut();
    const sent = await mailer().send(at(one.port), LETTER);
    expect(sent).toMatchObject({ ok: false, why: expect.stringMatching(/^ESOCKET( ECONNREFUSED)?$/) });
    await one.open();
    expect(await mailer().send(at(one.port), LETTER)).toEqual({ ok: true });
  });

  test("a server that never answers", async () => {
    const deaf = createServer(() => {}).listen(0, "127.0.0.1");
    await new Promise((resolve) => deaf.once("listening", resolve));
    const { port } = deaf.address() as { port: number };
    const sent = await mailer({ deadlineMs: 150 }).send(at(port), LETTER);
    expect(sent).toEqual({ ok: false, why: "timeout" });
    deaf.close();
  });

  test("a server that takes the letter and never says so", async () => {
    const { port, letters } = await office({ silent: true });
    const sent = await mailer({ deadlineMs: 400 }).send(at(port), LETTER);
    expect([sent, letters.length]).toEqual([{ ok: false, why: "timeout" }, 1]);
  });
});

describe("an address inside", () => {
  test.each(["127.0.0.1", "[::1]", "::1", "localhost", "mail.example", "169.254.169.254", "0x7f000001"])(
    "%s is not connected to unless it is allowed",
    async (host) => {
      const { port, letters } = await office();
      const sent = await mailer({ judge: guardOf([]).check }).send(at(port, { host }), LETTER);
      expect(sent).toEqual({ ok: false, why: "forbidden or unknown host: address" });
      expect(letters).toEqual([]);
    },
  );

  test.each(["mail.example/x", "user@mail.example", "mail.example?", "a b", "mail.example#", ""])(
    "%p is no host at all",
    async (host) => {
      const sent = await mailer().send(at(25, { host }), LETTER);
      expect(sent).toEqual({ ok: false, why: "EMAIL_SMTP is not a host name" });
    },
  );

  test("is what is connected to, not what the name leads to later", async () => {
    const { port, letters } = await office();
    let asked = 0;
    const resolve = async () => [asked++ === 0 ? "127.0.0.1" : "127.0.0.9"];
    const { check } = createSsrfGuard({ allowCidrs: ["127.0.0.1/32"], clock, resolve });
    expect(await mailer({ judge: check }).send(at(port), LETTER)).toEqual({ ok: true });
    expect([letters.length, asked]).toEqual([1, 1]);
  });

  test("of several the next is tried when one cannot be reached", async () => {
    const { port } = await office();
    const { check } = createSsrfGuard({
      allowCidrs: ["127.0.0.0/8"],
      clock,
      resolve: async () => ["127.0.0.9", "127.0.0.1"],
    });
    expect(await mailer({ judge: check }).send(at(port), LETTER)).toEqual({ ok: true });
  });
});
