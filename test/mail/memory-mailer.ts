// A mailer that keeps letters instead of sending them, and fails as a test sets it: the sibling of smtp.ts for tests of those
// who write letters.

import type { Letter, Mailer, MailServer, SendResult } from "../../src/mail/mail.ts";

export interface MemoryMailer extends Mailer {
  readonly letters: { readonly server: MailServer; readonly letter: Letter }[];
  /** What the next letters meet, one each; then all are taken. */
  readonly faults: string[];
  /** Letters wait until the answer is called. */
  hold(): () => void;
}

export function memoryMailer(): MemoryMailer {
  const letters: MemoryMailer["letters"] = [];
  const faults: string[] = [];
  let held: Promise<void> = Promise.resolve();
  return {
    letters,
    faults,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    async send(server, letter): Promise<SendResult> {
      await held;
      const why = faults.shift();
      if (why !== undefined) return { ok: false, why };
      letters.push({ server, letter });
      return { ok: true };
    },
  };
}
