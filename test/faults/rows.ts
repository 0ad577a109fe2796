// The words in which the tables of this bench say what a client sees and what becomes of the key, and how a row opens
// into cases: both styles, whole and streamed, alone and with a second good key, each style at a key of the other one, and
// clients of the responses style at keys of both; rows of foreign reasoning at keys that have the path of that style. It
// judges nothing and asks nobody.

export const STYLES = ["chat", "messages"] as const;
export type StyleName = (typeof STYLES)[number];
export const CLIENT_STYLES = [...STYLES, "responses"] as const;
export type ClientStyle = (typeof CLIENT_STYLES)[number];
export const HOWS = ["whole", "streamed"] as const;
export type How = (typeof HOWS)[number];

/** Kinds of token that the provider reported separately from plain text, and that have a price of their own. */
export type Apart = "cached" | "written" | "reasoning";

export interface Answered {
  readonly kind: "answer";
  readonly basis: "provider" | "estimate";
  /** What the usage reported separately; all else is plain input or output. */
  readonly reported: readonly Apart[];
  /** What a usage has in no total, and is charged all the same. */
  readonly beside?: { readonly prompt: number; readonly completion: number };
}

/** Content came, then an error event and no closing one. */
export interface Cut {
  readonly kind: "cut";
  readonly words: number;
  readonly code: string;
}

/** An error answer instead. */
export interface Refused {
  readonly kind: "refusal";
  readonly status: number;
  readonly code: string;
  /** Another key is tried where there is one. */
  readonly over: boolean;
  /** Seconds of retry-after, give or take one; not checked when omitted. */
  readonly retryAfterS?: number;
  /** `x-should-retry: false` is sent. */
  readonly final: boolean;
  /** The provider's own words are sent. */
  readonly words: boolean;
}

/** One expectation, written by hand. */
export interface Expected {
  readonly client: Answered | Cut | Refused;
  /** What the first key became; see `become.ts` for the words. `~` before a number: give or take one. */
  readonly key: string;
  /** Attempts that the response reports. */
  readonly attempts: number;
}

/**
 * One expectation for all modes, or several: the most exact name wins, both before one, how before style, then `else`. The
 * style is the provider's; `to chat` is a client of another style at a provider of the chat style, where that differs.
 */
export type Sheet =
  | Expected
  | {
      readonly [Mode in
        | `${"" | "to "}${StyleName} ${How}`
        | How
        | `${"" | "to "}${StyleName}`
        | "else"]?: Expected;
    };

export interface Row {
  /** What the printed table calls it. */
  readonly name: string;
  /** How the first key behaves, in the grammar of the stand-in. */
  readonly script: string;
  readonly sheet: Sheet;
  /** Requests carry encrypted reasoning of another organization; absent: none. */
  readonly isForeign?: true;
}

export interface Case {
  readonly name: string;
  readonly script: string;
  /** The client's. */
  readonly style: ClientStyle;
  /** The first key's; `responses` for one whose provider has that path, which gets encrypted reasoning to read. */
  readonly speaks: ClientStyle;
  readonly how: How;
  /** The second one is good, and of the client's style. */
  readonly keys: 1 | 2;
  readonly expected: Expected;
}

export const WELL = "well";
export const FAILURE = "1 failure";
/** A signal of which waiting cannot help. */
export const SLEEPS = "sleeps 30 min";
/** Limited, for no stated time: counts once, and rests a second. */
export const LIMITED_ONCE = "1 failure, rests 1 s";
export const PASSED_OVER = "passed over 10 min";

type Code = readonly [status: number, code: string];
export const FAILED: Code = [502, "upstream_failed"];
export const TIMEOUT: Code = [504, "upstream_timeout"];
export const NO_KEY: Code = [503, "no_available_key"];
export const LIMITED: Code = [429, "upstream_rate_limited"];
export const NO_MODEL: Code = [404, "model_not_found"];

const EVERYTHING: readonly Apart[] = ["cached", "written", "reasoning"];

/** A good answer, charged by the provider's own figures. */
export const answered = (
  reported: readonly Apart[] = EVERYTHING,
  beside?: NonNullable<Answered["beside"]>,
): Expected => ({
  client: { kind: "answer", basis: "provider", reported, ...(beside && { beside }) },
  key: WELL,
  attempts: 1,
});

/** A good answer whose figures are missing, or make no sense: counted. */
export const counted = (): Expected => ({
  client: { kind: "answer", basis: "estimate", reported: [] },
  key: WELL,
  attempts: 1,
});

export const cut = (words: number, code: string = FAILED[1], key = FAILURE): Expected => ({
  client: { kind: "cut", words, code },
  key,
  attempts: 1,
});

interface RefusalDetails {
  readonly over?: boolean;
  readonly retryAfterS?: number;
  readonly final?: boolean;
  readonly words?: boolean;
  readonly attempts?: number;
}

/** The provider did not answer: an error of ours, and another key is tried. */
export const refused = ([status, code]: Code, key: string, more: RefusalDetails = {}): Expected => {
  const { over = true, final = false, words = false, attempts = 1, retryAfterS } = more;
  const wait = retryAfterS === undefined ? {} : { retryAfterS };
  return { client: { kind: "refusal", status, code, over, final, words, ...wait }, key, attempts };
};

/** The provider's own word about the request: the client's, and no fault of any key. */
export const passed = (status: number, code = "upstream_rejected"): Expected =>
  refused([status, code], WELL, { over: false, words: true });

/** Twelve words that are seen, and all else that a usage can tell apart. */
const TOLD_APART = "output=16 reasoning=4 cached=20 cache_write=10";
/** Where no usage is reported, what is hidden cannot be counted: twelve words and nothing else. */
const PLAIN = "output=12";
/** What a good key answers. */
export const GOOD = TOLD_APART;

/**
 * All modes of the rows: each alone, and whatever is not answered with a second key as well. Across styles the second key is
 * tried for whole answers: what is streamed goes over to it by the same steps.
 */
export const casesOf = (rows: readonly Row[]): Case[] =>
  rows.flatMap(({ name, script, sheet, isForeign }) =>
    (isForeign === true ? FOREIGN_WAYS : WAYS).flatMap(({ style, speaks }) =>
      HOWS.flatMap((how): Case[] => {
        const expected = expectedAt(sheet, { style, speaks, how });
        const one = { name, script: `${outputFor(expected)} ${script}`, style, speaks, how };
        const across = style !== speaks;
        if (expected.client.kind === "answer" || (across && how === "streamed"))
          return [{ ...one, keys: 1, expected }];
        return [
          { ...one, keys: 1, expected },
          { ...one, keys: 2, expected: withSecondKey(expected) },
        ];
      }),
    ),
  );

type Way = Pick<Case, "style" | "speaks">;

const WAYS: readonly Way[] = CLIENT_STYLES.flatMap((style) => STYLES.map((speaks) => ({ style, speaks })));
const FOREIGN_WAYS: readonly Way[] = [{ style: "responses", speaks: "responses" }];

/** Returns the styles of client and provider as one phrase. */
export const stylesOf = ({ style, speaks }: Pick<Case, "style" | "speaks">): string =>
  style === speaks ? style : `${style} to ${speaks}`;

/** The name of a case, as it is printed where one fails. */
export const titleOf = (one: Case): string =>
  `${one.name}, ${stylesOf(one)}, ${one.how}${one.keys === 1 ? "" : ", a second key"}`;

const outputFor = ({ client }: Expected): string =>
  client.kind === "answer" && client.basis === "provider" ? TOLD_APART : PLAIN;

function expectedAt(sheet: Sheet, { style, speaks, how }: Pick<Case, "style" | "speaks" | "how">): Expected {
  if ("client" in sheet) return sheet;
  if (speaks === "responses") throw new Error("a provider of this style has one expectation for all modes");
  const across = style === speaks ? undefined : (sheet[`to ${speaks} ${how}`] ?? sheet[`to ${speaks}`]);
  const found = across ?? sheet[`${speaks} ${how}`] ?? sheet[how] ?? sheet[speaks] ?? sheet.else;
  if (found === undefined) throw new Error(`nothing is expected of ${speaks}, ${how}`);
  return style === "responses" ? asResponse(found) : found;
}

/** A stream of this style that breaks ends with a failed response, which has few codes: none of ours is among them. */
const asResponse = (expected: Expected): Expected =>
  expected.client.kind === "cut"
    ? { ...expected, client: { ...expected.client, code: "server_error" } }
    : expected;

/** The second key answers what may be tried again; the first key fares as it does alone. */
const withSecondKey = (expected: Expected): Expected =>
  expected.client.kind === "refusal" && expected.client.over
    ? { ...answered(), key: expected.key, attempts: 2 }
    : expected;
