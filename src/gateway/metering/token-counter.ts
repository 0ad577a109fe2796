// Token figures that no provider reports: a cheap estimate for holds, and a counter for usage that is
// missing. The counter yields to the event loop every few milliseconds. Its tokenizer takes 100 MB and blocks
// while it loads, so it is loaded on first use and the service counts in a worker thread
// (token-worker-pool.ts).

import { type Clock, sleep } from "../../base/clock.ts";

/** The size of a prompt as the dialects report it. */
export interface PromptWeight {
  /** UTF-8 bytes of text. */
  readonly bytes: number;
  readonly images?: number;
  readonly files?: number;
}

const BYTES_PER_TOKEN = 3;
/** Upper bounds of what the large providers charge for one image. */
const IMAGE_TOKENS = 1_600;
/** Upper bound of what the large providers charge for a document of some pages. */
const FILE_TOKENS = 10_000;

/** Returns an estimate of tokens for a hold, which errs on the high side. */
export function estimateTokens({ bytes, images = 0, files = 0 }: PromptWeight): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN) + images * IMAGE_TOKENS + files * FILE_TOKENS;
}

/** Counts tokens. */
export interface TokenCounter {
  /** Returns the tokens of all texts together. Beyond a limit the texts are sampled. */
  count(texts: readonly string[]): Promise<number>;
}

/** Clock, and replacements for the pause and the tokenizer. */
export interface TokenCounterOptions {
  readonly clock: Clock;
  /** Yields to the event loop; a timer of the clock by default. */
  readonly pause?: () => Promise<void>;
  readonly load?: () => Promise<(slice: string) => number>;
}

/**
 * Characters that are counted at most. Of longer texts, slices spread evenly over the whole represent the
 * rest.
 */
const COUNTED_MAX_CHARS = 2_000_000;
/**
 * Characters of one slice. Byte-pair merging is quadratic in a run without spaces: 1,000 letters of some
 * scripts take 15 ms, 250 take one.
 */
const SLICE_CHARS = 250;
const SLICE_WITH_SPACES_CHARS = 1_000;
const BUSY_MS = 2;
/** The number of waiting counts; beyond it, `count` returns an estimate at once. */
const WAITING_MAX = 200;
/** The number of merged pieces that the tokenizer caches; each is at most one slice long. */
const MERGES_KEPT = 10_000;

/**
 * Creates a counter for one process. Counts run one after another, so that many take no more of the event
 * loop than one.
 */
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

/**
 * Returns each text once with its number of occurrences: a query is counted again with every document it
 * ranks.
 */
function timesOf(texts: readonly string[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const text of texts) times.set(text, (times.get(text) ?? 0) + 1);
  return times;
}

const estimateAll = (texts: readonly string[]): number =>
  estimateTokens({ bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) });

/**
 * Returns where a slice ends: before a space, as late within `SLICE_WITH_SPACES_CHARS` as no run before it is
 * long; otherwise inside the run.
 */
function sliceEnd(text: string, from: number): number {
  if (text.length - from <= SLICE_CHARS) return text.length;
  // The search is limited to a window: in a text without spaces each search would otherwise scan the whole
  // rest.
  const window = text.slice(from, from + SLICE_WITH_SPACES_CHARS);
  let to = 0;
  for (;;) {
    const space = window.indexOf(" ", to + 1);
    if (space === -1 || space - to > SLICE_CHARS) break;
    to = space;
  }
  if (to > 0) return from + to;
  const cut = from + SLICE_CHARS;
  // The cut must not separate a surrogate pair.
  const half = text.charCodeAt(cut - 1);
  return half >= 0xd800 && half <= 0xdbff ? cut + 1 : cut;
}

async function loadTokenizer(): Promise<(slice: string) => number> {
  const { countTokens, setMergeCacheSize } = await import("gpt-tokenizer/encoding/o200k_base");
  setMergeCacheSize(MERGES_KEPT);
  // Without this a text that contains the name of a special token throws.
  const asText = { disallowedSpecial: new Set<string>() };
  return (slice) => countTokens(slice, asText);
}
