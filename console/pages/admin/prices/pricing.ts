// PRICING as the pages hold it: an object of groups, models and prices. Its edits, how they go on top of a version that somebody
// else saved, and what is wrong with a text, by path. Prices are numbers as the service computes with them: the shortest text of
// each is exactly what was typed. Pure; a test compares the groups and rules with the service's own.

/** The groups of prices and the fields that each may have (specification, "Pricing override structure"). */
export const PRICE_GROUPS = {
  ChatPricing: [
    ...(["InputText", "OutputText", "CachedText", "CacheWrite", "ReasonText"] as const),
    ...(["InputAudio", "OutputAudio", "InputImage", "OutputImage", "Rates"] as const),
  ],
  ImgPricing: ["Call", "Rates", "Sizes"],
  AudioPricing: ["Input", "Output", "Call", "Rates"],
  RerankPricing: ["Input", "Call", "Rates"],
  CallPricing: ["Call", "Rates"],
  FineTuningPricing: ["InputText", "OutputText", "Rates"],
} as const;

/** A group of prices. */
export type PriceGroup = keyof typeof PRICE_GROUPS;
/** All groups, in the order of the service. */
export const PRICE_GROUP_NAMES = Object.keys(PRICE_GROUPS) as readonly PriceGroup[];
/** A field of a price but `Sizes`, which has a price for each size. */
export type PriceFieldName = Exclude<(typeof PRICE_GROUPS)[PriceGroup][number], "Sizes">;

/** The price of a model, or what it has of its own. */
export type PriceEntry = { readonly [F in PriceFieldName]?: number } & {
  readonly Sizes?: Readonly<Record<string, number>>;
};
/** An Owner's prices. */
export type PricingMap = { readonly [G in PriceGroup]?: Readonly<Record<string, PriceEntry>> };

/** Returns the setting PRICING as an object. It was checked when it was saved. */
export const pricingOf = (setting: unknown): PricingMap =>
  typeof setting === "string" && setting !== "" ? JSON.parse(setting) : {};

/** Returns the value that is sent: an empty text takes all prices away. */
export const pricingBody = (pricing: PricingMap): PricingMap | "" =>
  Object.keys(pricing).length === 0 ? "" : pricing;

/** Returns the text of a file. */
export const pricingFile = (pricing: PricingMap): string => `${JSON.stringify(pricing, null, 2)}\n`;

/** Returns what an Owner set for a model, or null. */
export function entryIn(pricing: PricingMap, group: PriceGroup, model: string): PriceEntry | null {
  const models = pricing[group] ?? {};
  return Object.hasOwn(models, model) ? models[model]! : null;
}

/** Returns the prices with this one for a model; null takes it away. Groups without models are left out. */
export function withEntry(
  pricing: PricingMap,
  group: PriceGroup,
  model: string,
  entry: PriceEntry | null,
): PricingMap {
  const { [model]: _, ...others } = pricing[group] ?? {};
  const isThere = entryIn(pricing, group, model) !== null;
  // An entry keeps its place.
  const models =
    entry === null ? others : isThere ? { ...pricing[group], [model]: entry } : { ...others, [model]: entry };
  const { [group]: __, ...groups } = pricing;
  return Object.keys(models).length === 0 ? groups : { ...pricing, [group]: models };
}

/** An entry that differs between two versions of the prices. */
export interface EntryEdit {
  readonly group: PriceGroup;
  readonly model: string;
  readonly before: PriceEntry | null;
  readonly after: PriceEntry | null;
}

/** Two prices are the same in whatever order their fields stand. */
const sortedText = (entry: PriceEntry | null): string =>
  JSON.stringify(entry, (_, value) =>
    typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );

/** Returns the entries that differ. */
export function entryEdits(before: PricingMap, after: PricingMap): EntryEdit[] {
  return PRICE_GROUP_NAMES.flatMap((group) => {
    const models = new Set([...Object.keys(before[group] ?? {}), ...Object.keys(after[group] ?? {})]);
    return [...models]
      .map((model) => ({
        ...{ group, model },
        ...{ before: entryIn(before, group, model), after: entryIn(after, group, model) },
      }))
      .filter((edit) => sortedText(edit.before) !== sortedText(edit.after));
  });
}

/** Returns `newest` with what `draft` changed of `former`, entry by entry. */
export const rebased = (former: PricingMap, draft: PricingMap, newest: PricingMap): PricingMap =>
  entryEdits(former, draft).reduce(
    (pricing, { group, model, after }) => withEntry(pricing, group, model, after),
    newest,
  );

/** Returns a list price with what an Owner set, as it is charged. */
export function mergedPrice(list: PriceEntry | null, own: PriceEntry | null): PriceEntry {
  const merged = { ...list, ...own };
  return list?.Sizes && own?.Sizes ? { ...merged, Sizes: { ...list.Sizes, ...own.Sizes } } : merged;
}

/** Whether a price has an amount; `Rates` alone multiplies nothing. */
export const hasAmount = ({ Sizes, InputText, OutputText, Input, Output, Call }: PriceEntry): boolean =>
  [InputText, OutputText, Input, Output, Call].some((price) => price !== undefined) ||
  Object.keys(Sizes ?? {}).length > 0;
