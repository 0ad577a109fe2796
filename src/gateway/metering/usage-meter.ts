// The usage of an answer and its cost: the provider's figures if they are plausible, otherwise what was
// measured, otherwise a token count. One function serves whole and streamed answers, so that the same answer
// is never priced in two ways.

import { findModel } from "../../../actors/catalog/catalog.ts";
import type { ChargeTerms } from "../../../actors/pricing/cost.ts";
import {
  type ChargeOfParts,
  costOfParts,
  type UsagePart,
  withParts,
} from "../../../actors/pricing/cost-parts.ts";
import type { Priced } from "../../../actors/pricing/price.ts";
import type { PriceTable } from "../../../actors/pricing/price-table.ts";
import { type ToolUses, toolParts } from "../../../actors/pricing/tool-prices.ts";
import {
  type Basis,
  completionTokens,
  NO_USAGE,
  promptTokens,
  type Usage,
} from "../../../actors/pricing/usage.ts";
import type { NonTokenUsage } from "../../dialect/dialect.ts";
import { iterationsBeside } from "../../dialect/extra-usage.ts";
import { readUsage, type UsageBounds, type UsageDialect } from "../../dialect/usage.ts";
import { otherPrice, partOf, toolCallsOf, usesOf } from "./extra-charges.ts";
import type { CandidatePrices, Multipliers } from "./hold-estimate.ts";
import {
  HEARD_TOKENS_PER_SECOND,
  imageTokens,
  isOfTokens,
  type MeterKind,
  SPOKEN_TOKENS_PER_MINUTE,
  type Unit,
  type UsageFallback,
  unitOf,
} from "./meter-kinds.ts";
import type { RequestSize } from "./request-size.ts";
import type { TokenCounter } from "./token-counter.ts";

/** What was read of an answer, whole or streamed, complete or not. */
export interface MeterInput {
  readonly dialect: UsageDialect;
  /** The provider's last usage object, unparsed; null when it sent none. */
  readonly usage: unknown;
  readonly serviceTier: string | null;
  /** The model that the answer names; null when it names none or the one that was sent. */
  readonly answeredModel: string | null;
  /** The generated texts, for counting; a sample of them if the stream is long. */
  readonly texts: readonly string[];
  /** The number of generated characters if `texts` may be a sample; omitted when `texts` is complete. */
  readonly chars?: number | undefined;
  /** Usage besides tokens that the request demands and its answer shows. */
  readonly measured: NonTokenUsage;
  /** The provider ended the answer normally. */
  readonly complete: boolean;
  /** Returns the prompt's texts, for counting, or the count of a prompt whose texts are on another thread. */
  readonly prompt: () => readonly string[] | Promise<number>;
  /** The number of prompt tokens if the client sent token ids; null when it sent texts. */
  readonly promptTokens: number | null;
  /** The tokens of what the prompt has beside its texts: images and files by the sums of the hold, and stored objects. */
  readonly promptBeside: number;
}

/** The prices and the size of the request that was answered. */
export interface MeteredRequest {
  readonly route: CandidatePrices & { readonly multipliers: Multipliers };
  readonly size: RequestSize;
}

/** The usage, its basis and the charge. */
export interface Metered {
  readonly usage: Usage;
  readonly basis: Basis;
  readonly charge: ChargeOfParts;
  /** The model that answered; null when it is the request's. */
  readonly answeredModel: string | null;
}

/**
 * Computes usage, basis and charge of an answer. If another model answered, the higher of both prices
 * applies, unless the Owner set the requested model's price. The result is there at once unless tokens must be counted.
 */
export function meterUsage(
  kind: MeterKind,
  request: MeteredRequest,
  reading: MeterInput,
  counter: TokenCounter,
): Metered | Promise<Metered> {
  const { route, size } = request;
  const bounds = boundsOf(kind, route.model, size, toolCallsOf(reading));
  const figures = readUsage(reading.dialect, reading.usage, bounds);
  const turns = figures && iterationsBeside(reading.dialect, reading.usage, figures, bounds);
  const stated = turns === null ? null : figures;
  const priced = stated !== null && hasTokens(stated) ? (route.pricedByTokens ?? route.priced) : route.priced;
  const unit = unitOf(kind, priced, route.model);
  const used = USED[unit](kind, { stated, reading, priced, counter });
  return used instanceof Promise
    ? used.then((found) => charged(kind, request, reading, { found, priced, turns }))
    : charged(kind, request, reading, { found: used, priced, turns });
}

/** What is charged, before its cost is computed. */
interface Chargeable {
  readonly found: Used;
  readonly priced: Priced;
  /** The usage of other models within the answer; null when it states none. */
  readonly turns: ReturnType<typeof iterationsBeside> | null;
}

/** Returns the charge of a usage and its parts. */
function charged(
  kind: MeterKind,
  { route, size }: MeteredRequest,
  reading: MeterInput,
  { found, priced, turns }: Chargeable,
): Metered {
  const { rates, factor } = route.multipliers;
  const terms: ChargeTerms = { rates, factor, tier: reading.serviceTier, image: reading.measured.image };
  const other = otherPrice(kind, route, reading.answeredModel);
  const beside =
    turns === null || turns.length === 0 ? NO_PARTS : turns.map((turn) => partOf(kind, route, priced, turn));
  const used = { usage: found.usage, terms, beside, uses: usesOf(size, reading), prices: route.prices };
  const requested = chargeAt(priced, used);
  const answered = other === null || priced.byOwner ? requested : chargeAt(other, used);
  const { parts, charge } = answered.charge.amount > requested.charge.amount ? answered : requested;
  return {
    usage: withParts(found.usage, parts),
    basis: reading.complete ? found.basis : "partial",
    charge,
    answeredModel: other === null ? null : reading.answeredModel,
  };
}

const NO_PARTS: readonly UsagePart[] = [];

/** All that a charge depends on besides the price of the model. */
interface ChargedUsage {
  readonly usage: Usage;
  readonly terms: ChargeTerms;
  /** Turns of other models. */
  readonly beside: readonly UsagePart[];
  readonly uses: ToolUses;
  readonly prices: PriceTable;
}

interface Charged {
  readonly parts: readonly UsagePart[];
  readonly charge: ChargeOfParts;
}

function chargeAt(price: Priced, { usage, terms, beside, uses, prices }: ChargedUsage): Charged {
  const tools = toolParts(price, prices, usage.webSearches, uses);
  const parts = beside.length === 0 ? tools : [...beside, ...tools];
  return { parts, charge: costOfParts(price, usage, terms, parts) };
}

/**
 * Returns whether nothing in the answer can change the charge, so that it is known before the answer has
 * ended.
 */
export function isChargeKnownUpfront(kind: MeterKind, { route }: Pick<MeteredRequest, "route">): boolean {
  const unit = unitOf(kind, route.priced, route.model);
  return kind.missing === "speech" && (unit === "character" || unit === "call");
}

function boundsOf(
  { missing }: MeterKind,
  name: string,
  { maxOutput, n, inputs, measured }: RequestSize,
  toolCalls: number,
): UsageBounds {
  const model = findModel(name);
  const drawn = missing === "images" ? (measured.calls ?? 1) * imageTokens(measured.image, true) : 0;
  return {
    contextWindow: (model?.context_window ?? 0) * inputs,
    outputLimit: Math.max(model?.max_output_tokens ?? 0, maxOutput ?? 0, drawn) * n,
    toolCalls,
  };
}

const hasTokens = (usage: Usage): boolean => promptTokens(usage) + completionTokens(usage) > 0;

interface Seen {
  /** The provider's usage; null when it is missing or implausible. */
  readonly stated: Usage | null;
  readonly reading: MeterInput;
  readonly priced: Priced;
  readonly counter: TokenCounter;
}

interface Used {
  readonly usage: Usage;
  readonly basis: "provider" | "estimate";
}

const provider = (usage: Usage): Used => ({ usage, basis: "provider" });
const estimate = (usage: Usage): Used => ({ usage, basis: "estimate" });
const only = (counts: Partial<Usage>): Usage => ({ ...NO_USAGE, ...counts });

/**
 * The usage by unit of the price. Other units are left out, so that nothing is charged in two units, except
 * the tokens of a path that is metered in tokens.
 */
const USED: Readonly<Record<Unit, (kind: MeterKind, seen: Seen) => Used | Promise<Used>>> = {
  token({ missing }, seen) {
    const used = TOKENS[missing](seen);
    return used instanceof Promise
      ? used.then((later) => withMeasured(later, seen))
      : withMeasured(used, seen);
  },
  // The characters that were sent, which is what a speech provider counts.
  character: (_, { reading }) => provider(only({ chars: reading.measured.chars ?? 0 })),
  second(_, { stated, reading }) {
    if (stated !== null && stated.seconds > 0) return provider(only({ seconds: stated.seconds }));
    const { seconds = 0, estimated } = reading.measured;
    return (estimated || seconds === 0 ? estimate : provider)(only({ seconds }));
  },
  image: (_, { reading }) => provider(only({ calls: reading.measured.calls ?? 0 })),
  async search(_, { stated, reading, priced, counter }) {
    const units = stated?.calls ?? 0;
    const tokens = stated === null ? 0 : promptTokens(stated);
    const { Input, Call } = priced.price;
    const isSaid = (Input === undefined || tokens > 0) && (Call === undefined || units > 0);
    const inText = tokens > 0 || Input === undefined ? tokens : await promptCount(reading, counter);
    const calls = units > 0 ? units : (reading.measured.calls ?? 1);
    return (isSaid ? provider : estimate)(only({ inText, calls }));
  },
  async call(kind, seen) {
    const calls = seen.stated?.calls || seen.reading.measured.calls || 1;
    if (!isOfTokens(kind)) return provider(only({ calls }));
    const { usage, basis } = await TOKENS[kind.missing](seen);
    return { usage: { ...usage, calls }, basis };
  },
};

/** Returns the usage with the searches and calls that were measured, where these are more. */
function withMeasured(used: Used, { reading }: Seen): Used {
  const { usage, basis } = used;
  const { webSearches = 0, calls = 0 } = reading.measured;
  if (webSearches <= usage.webSearches && calls <= usage.calls) return used;
  const most = {
    webSearches: Math.max(usage.webSearches, webSearches),
    calls: Math.max(usage.calls, calls),
  };
  return { usage: { ...usage, ...most }, basis };
}

/** Usage in tokens. A figure that is missing or zero is counted, or computed from what was measured. */
const TOKENS: Readonly<Record<UsageFallback, (seen: Seen) => Used | Promise<Used>>> = {
  texts: counted,
  async prompt({ stated, reading, counter }) {
    if (stated !== null && promptTokens(stated) > 0) return provider(stated);
    return estimate(only({ inText: await promptCount(reading, counter) }));
  },
  async images(seen) {
    if (seen.stated !== null && completionTokens(seen.stated) > 0) return provider(seen.stated);
    const { calls = 0, image } = seen.reading.measured;
    return estimate({ ...(await promptOf(seen)), outImage: calls * imageTokens(image) });
  },
  async speech(seen) {
    const { stated, reading } = seen;
    if (stated !== null && promptTokens(stated) > 0 && completionTokens(stated) > 0) return provider(stated);
    const { seconds = 0 } = reading.measured;
    const spoken = Math.ceil((seconds * SPOKEN_TOKENS_PER_MINUTE) / 60);
    const outAudio = Math.max(spoken, stated?.outAudio ?? 0);
    return estimate({ ...(await promptOf(seen)), outAudio });
  },
  async sound(seen) {
    const { stated, reading, counter } = seen;
    if (stated !== null && promptTokens(stated) > 0) return counted(seen);
    const seconds = stated?.seconds || (reading.measured.seconds ?? 0);
    const inAudio = Math.ceil(seconds * HEARD_TOKENS_PER_SECOND);
    const inText = await textCount(reading, counter);
    const outText = await outputCount(reading, counter);
    return estimate(only({ inText, inAudio, outText }));
  },
  searches: (seen) => TOKENS.prompt(seen),
  calls: (seen) => TOKENS.prompt(seen),
};

/** Returns the tokens of the whole prompt: an image that is sent costs tokens, and so does a stored conversation. */
const promptCount = async (reading: MeterInput, counter: TokenCounter): Promise<number> =>
  (await textCount(reading, counter)) + reading.promptBeside;

async function textCount({ prompt, promptTokens }: MeterInput, counter: TokenCounter): Promise<number> {
  if (promptTokens !== null) return promptTokens;
  const found = prompt();
  return found instanceof Promise ? found : counter.count(found);
}

/** Returns the tokens of everything generated, extrapolated when the texts are a sample. */
async function outputCount({ texts, chars = 0 }: MeterInput, counter: TokenCounter): Promise<number> {
  const kept = texts.reduce((sum, text) => sum + text.length, 0);
  const tokens = await counter.count(texts);
  return kept === 0 || chars <= kept ? tokens : Math.round((tokens * chars) / kept);
}

/** Returns the prompt's usage as the provider reported it, otherwise counted. */
async function promptOf({ stated, reading, counter }: Seen): Promise<Usage> {
  if (stated !== null && promptTokens(stated) > 0) return stated;
  return { ...(stated ?? NO_USAGE), inText: await promptCount(reading, counter) };
}

/**
 * Usage of texts: the provider's figures if the answer is complete. Otherwise the output that was delivered
 * is counted, and is at least what the provider reported. An output may be empty, a prompt may not.
 */
function counted(seen: Seen): Used | Promise<Used> {
  const { stated, reading } = seen;
  if (stated !== null && reading.complete) {
    const said = completionTokens(stated) > 0 || reading.texts.length === 0;
    if (said && promptTokens(stated) > 0) return provider(stated);
  }
  return countedAnew(seen);
}

async function countedAnew(seen: Seen): Promise<Used> {
  const output = await outputCount(seen.reading, seen.counter);
  const from = await promptOf(seen);
  return estimate({ ...from, outText: from.outText + Math.max(0, output - completionTokens(from)) });
}
