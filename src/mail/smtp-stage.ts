// How far a dialogue with a mail server has come, and what the server answered last, as codes. It reads the log that nodemailer
// offers while it sends, and keeps one word of it: a server's text may repeat what was sent to it.

/** A step of a dialogue, in their order. */
export type SmtpStage =
  /** The name or address of the server was judged. */
  "address" | "connect" | "greeting" | "tls" | "login" | "sender" | "recipient" | "content" | "accepted";

/** Where a dialogue has ended. `accepted` is the only end that is none of a failure. */
export interface SmtpReport {
  readonly stage: SmtpStage;
  /** The server's last answer, such as 250 or 535; null when it gave none. */
  readonly code: number | null;
  /** The enhanced status of that answer, such as 5.7.8 (RFC 3463); null when it has none. */
  readonly enhanced: string | null;
}

/** The step that begins with a command of the client. */
const BEGINS: Readonly<Record<string, SmtpStage>> = {
  EHLO: "greeting",
  HELO: "greeting",
  STARTTLS: "tls",
  AUTH: "login",
  MAIL: "sender",
  RCPT: "recipient",
  DATA: "content",
};

const TLS_CODE = /TLS|SSL|CERT|SIGNED|ALTNAME/;

/** Follows one dialogue. Its `logger` is given to nodemailer. */
export class SmtpStageWatch {
  #stage: SmtpStage = "connect";

  readonly logger = {
    level: () => {},
    trace: () => {},
    debug: (entry: unknown, text: unknown) => this.#noted(entry, text),
    info: (entry: unknown, text: unknown) => this.#noted(entry, text),
    warn: () => {},
    error: () => {},
    fatal: () => {},
  };

  get stage(): SmtpStage {
    return this.#stage;
  }

  #noted(entry: unknown, text: unknown): void {
    if (typeof entry !== "object" || entry === null || !("tnx" in entry)) return;
    if (entry.tnx === "network" && this.#stage === "connect") this.#stage = "greeting";
    if (entry.tnx !== "client" || typeof text !== "string") return;
    const command = /^[A-Za-z]+/.exec(text)?.[0].toUpperCase() ?? "";
    if (Object.hasOwn(BEGINS, command)) this.#stage = BEGINS[command]!;
  }

  /** Reports a dialogue that the server ended with this answer to the letter. */
  accepted(response: unknown): SmtpReport {
    return { stage: "accepted", ...answerOf(response) };
  }

  /** Reports a dialogue that failed with this error, or was given up. */
  failed(error: unknown): SmtpReport {
    const codes = [textOf(error, "code"), textOf(error, "originalCode")];
    const isTls = this.#stage !== "content" && codes.some((code) => TLS_CODE.test(code));
    return { stage: isTls ? "tls" : this.#stage, ...answerOf(textOf(error, "response")) };
  }
}

/** Reads `535 5.7.8 …`; nothing of the words is kept. */
function answerOf(response: unknown): Pick<SmtpReport, "code" | "enhanced"> {
  const [, code, enhanced] =
    /^([2-5]\d\d)(?:[ -]([245]\.\d{1,3}\.\d{1,3})\b)?/.exec(String(response ?? "")) ?? [];
  return { code: code === undefined ? null : Number(code), enhanced: enhanced ?? null };
}

function textOf(error: unknown, name: string): string {
  if (typeof error !== "object" || error === null || !(name in error)) return "";
  return String((error as Readonly<Record<string, unknown>>)[name] ?? "");
}
