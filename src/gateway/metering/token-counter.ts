// Token figures when nobody gives them: a cheap estimate for holds, and a counter for usage that a provider did not send.
// The counter yields every few milliseconds, whatever the text; its tokenizer (100 MB once loaded, and loading blocks) is
// loaded at its first use, which is why the service counts in a thread apart (token-worker-pool.ts).

import { type Clock, sleep } from "../../base/clock.ts";

/** What a request weighs, as the dialects report it. */
export interface PromptWeight {
  /** UTF-8 bytes of text. */
  readonly bytes: number;
  readonly images?: number;
  readonly files?: number;
}

const BYTES_PER_TOKEN = 3;
/** Upper sums that cover what the large providers charge for one image, and for a document of some pages. */
const IMAGE_TOKENS = 1_600;
const FILE_TOKENS = 10_000;

/** Tokens for a hold, rather too many than too few. */
export function estimateTokens({ bytes, images = 0, files = 0 }: PromptWeight): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN) + images * IMAGE_TOKENS + files * FILE_TOKENS;
}

export interface TokenCounter {
  /** Tokens of all texts together. Texts beyond the bound are sampled. */
  count(texts: readonly string[]): Promise<number>;
}

export interface TokenCounterOptions {
  readonly clock: Clock;
  /** Lets others run; by default a timer of the clock. */
  readonly pause?: () => Promise<void>;
  readonly load?: () => Promise<(slice: string) => number>;
}

/** Counted at most; of more, slices spread evenly over the whole stand for the rest. */
const COUNTED_MAX_CHARS = 2_000_000;
/** One slice. Byte-pair merging is quadratic in a run without spaces: 1,000 letters of some scripts take 15 ms, 250 one. */
const SLICE_CHARS = 250;
const SLICE_WITH_SPACES_CHARS = 1_000;
const BUSY_MS = 2;
/** Counts waiting for their turn; beyond, the answer is an estimate at once. */
const WAITING_MAX = 200;
/** Merged pieces that the tokenizer remembers: each up to a slice long. */
const MERGES_KEPT = 10_000;

/** A counter for one process: counts run one after another, so that many of them take no more of the loop than one. */
export function createCounter(options: TokenCounterOptions): TokenCounter {
  const { clock, pause = () => sleep(clock, 0), load = loadTokenizer } = options;
  let loading: Promise<(slice: string) => number> | null = null;
  let tail: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  function tokenizer(): Promise<(slice: string) => number> {
    loading ??= load();
    return loading;
  }

  async function count(texts: readonly string[]): Promise<number> {
    if (charsOf(texts) === 0) return 0;
    if (waiting >= WAITING_MAX) return estimateAll(texts);
    waiting++;
    const turn = tail.then(() => countNow(texts));
    tail = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      waiting--;
    }
  }

  async function countNow(texts: readonly string[]): Promise<number> {
    const tokensOf = await tokenizer();
    const different = timesOf(texts);
    const chars = charsOf([...different.keys()]);
    const share = Math.min(1, COUNTED_MAX_CHARS / chars);
    let seen = 0;
    let counted = 0;
    let countedEachTime = 0;
    let tokens = 0;
    let sinceMs = clock.mono();
    for (const [text, times] of different) {
      for (let from = 0; from < text.length; ) {
        const to = sliceEnd(text, from);
        seen += to - from;
        if (counted < seen * share) {
          tokens += times * tokensOf(text.slice(from, to));
          counted += to - from;
          countedEachTime += times * (to - from);
        }
        from = to;
        if (clock.mono() - sinceMs >= BUSY_MS) {
          await pause();
          sinceMs = clock.mono();
        }
      }
    }
    return counted === chars ? tokens : Math.round((tokens * charsOf(texts)) / countedEachTime);
  }

  return { count };
}

const charsOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0);

/** Each text once, with how often it stands there: a query counts once more with every document that is ranked by it. */
function timesOf(texts: readonly string[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const text of texts) times.set(text, (times.get(text) ?? 0) + 1);
  return times;
}

const estimateAll = (texts: readonly string[]): number =>
  estimateTokens({ bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) });

/** Where to cut: before a space, as late in a thousand characters as no run before it is long; else in the run itself. */
function sliceEnd(text: string, from: number): number {
  if (text.length - from <= SLICE_CHARS) return text.length;
  // Searched within a window: in a text without spaces each search would otherwise go through all the rest.
  const window = text.slice(from, from + SLICE_WITH_SPACES_CHARS);
  let to = 0;
  for (;;) {
    const space = window.indexOf(" ", to + 1);
    if (space === -1 || space - to > SLICE_CHARS) break;
    to = space;
  }
  if (to > 0) return from + to;
  const cut = from + SLICE_CHARS;
  // Not between the two halves of a character.
  const half = text.charCodeAt(cut - 1);
  return half >= 0xd800 && half <= 0xdbff ? cut + 1 : cut;
}

async function loadTokenizer(): Promise<(slice: string) => number> {
  const { countTokens, setMergeCacheSize } = await import("gpt-tokenizer/encoding/o200k_base");
  setMergeCacheSize(MERGES_KEPT);
  // Without this a text that merely mentions a special token throws.
  const asText = { disallowedSpecial: new Set<string>() };
  return (slice) => countTokens(slice, asText);
}
