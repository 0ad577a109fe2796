// Composes the letters as plain text and HTML, with deterministic Message-IDs, by which mail servers detect
// repeats. It has no side effects.

import type { AccountId } from "../../actors/ids.ts";
import { formatUsd, type Nano } from "../../actors/money.ts";
import type { Letter } from "./mail.ts";

/** An account's monthly spending reached SoftLimit. */
export interface SoftLimitReached {
  readonly account: AccountId;
  readonly name: string;
  /** The month as `YYYY-MM`, UTC. */
  readonly month: string;
  readonly limit: Nano;
  readonly spent: Nano;
}

/** Composes the letter for an account that reached SoftLimit. Its Message-ID is the same on every call. */
export function softLimitLetter(reached: SoftLimitReached, from: string, recipient: string): Letter {
  const { account, name, month, limit, spent } = reached;
  return letter({
    from,
    to: recipient,
    subject: `SoftLimit of ${name} reached`,
    paragraphs: [
      `The account ${name} (ID ${account}) has reached its monthly SoftLimit of ${formatUsd(limit)} USD: ` +
        `${formatUsd(spent)} USD were spent in ${month} (UTC).`,
      "Its requests go on: a SoftLimit only tells. There is no further mail about it this month.",
    ],
    // The amount distinguishes this account from one with the same id in another deployment.
    id: `soft-limit.${account}.${month}.${spent}`,
  });
}

/** None of a Level's keys can take a request. */
export interface LevelDown {
  readonly owner: AccountId;
  readonly level: number;
  readonly sleeping: number;
  readonly disabled: number;
  /** Wall-clock milliseconds at which the first key wakes; null when none wakes by itself. */
  readonly wakesAt: number | null;
  /** Wall-clock milliseconds of the notice. */
  readonly at: number;
}

/** Composes the letter about a Level without a usable key. */
export function levelLetter(down: LevelDown, from: string, recipient: string): Letter {
  const { owner, level, sleeping, disabled, wakesAt, at } = down;
  const wake =
    wakesAt === null
      ? "None of them wakes by itself: enable one with PUT /x-keys."
      : `The first one wakes at ${new Date(wakesAt).toISOString()}; POST /x-conf with DelKeys wakes all of them now.`;
  return letter({
    from,
    to: recipient,
    subject: `Level ${level} has no usable key`,
    paragraphs: [
      `No provider key of Level ${level} (Owner ${owner}) can take requests: ${sleeping} asleep, ${disabled} disabled.`,
      wake,
      "GET /x-conf lists them with the reason. There is at most one mail an hour about a Level.",
    ],
    id: `level.${owner}.${level}.${at}`,
  });
}

/** Composes the letter by which an Owner tests its mail server, to the address that its mail comes from. */
export const testLetter = (owner: AccountId, at: number, from: string): Letter =>
  letter({
    from,
    to: from,
    subject: "Test mail",
    paragraphs: [
      "This mail was asked for with POST /x-config/test-mail. The mail server of the configuration takes mail.",
      "Nothing else follows from it.",
    ],
    id: `test.${owner}.${at}`,
  });

function letter(given: {
  from: string;
  to: string;
  subject: string;
  paragraphs: readonly string[];
  /** Left side of the Message-ID. */
  id: string;
}): Letter {
  const { from, to, subject, paragraphs, id } = given;
  const domain = from.slice(from.lastIndexOf("@") + 1);
  return {
    from,
    to,
    subject,
    text: `${paragraphs.join("\n\n")}\n`,
    html: `<!doctype html><html><body>${paragraphs.map((one) => `<p>${escaped(one)}</p>`).join("")}</body></html>\n`,
    messageId: `<${id}@${domain}>`,
  };
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const escaped = (text: string): string => text.replace(/[&<>"]/g, (one) => ENTITIES[one]!);
