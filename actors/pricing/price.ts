// Defines prices: the groups and fields of PRICING, what an absent field costs, providers' tiers, and images
// by size. It must not look up prices by name (price-table.ts) or multiply them (cost.ts).

/** The price fields that a charge multiplies. The last two exist only in providers' tiers, not in PRICING. */
export type PriceField =
  | ("InputText" | "OutputText" | "CachedText" | "CacheWrite" | "ReasonText")
  | ("InputAudio" | "OutputAudio" | "InputImage" | "OutputImage" | "Input" | "Output" | "Call")
  | ("CacheWrite1h" | "WebSearchCall");

/** Prices by field. */
export type PriceFields = { readonly [F in PriceField]?: number };

/**
 * A price object of any group, in USD per million tokens; `Call`, `Sizes` and `WebSearchCall` are USD each.
 * `Rates` is a multiplier, 1 by default.
 */
export type Price = PriceFields & {
  readonly Rates?: number;
  readonly Sizes?: Readonly<Record<string, number>>;
};

/** The fields that each group may have. Source: specification, "Pricing override structure". */
export const GROUP_FIELDS = {
  ChatPricing: [
    "InputText",
    "OutputText",
    "CachedText",
    "CacheWrite",
    "ReasonText",
    "InputAudio",
    "OutputAudio",
    "InputImage",
    "OutputImage",
    "Rates",
  ],
  ImgPricing: ["Call", "Rates", "Sizes"],
  AudioPricing: ["Input", "Output", "Call", "Rates"],
  RerankPricing: ["Input", "Call", "Rates"],
  CallPricing: ["Call", "Rates"],
  FineTuningPricing: ["InputText", "OutputText", "Rates"],
} as const satisfies Record<string, readonly (keyof Price)[]>;

/** Name of a price group. */
export type Group = keyof typeof GROUP_FIELDS;
export const GROUPS = Object.keys(GROUP_FIELDS) as readonly Group[];

/** The value of PRICING: groups of model name to price object. */
export type Pricing = {
  readonly [G in Group]?: Readonly<Record<string, Pick<Price, (typeof GROUP_FIELDS)[G][number]>>>;
};

/**
 * A provider's prices beyond the price object (actors/catalog/price-tiers.json), without batch and off-peak
 * prices.
 */
export interface Tiers {
  readonly LongContext?: readonly (PriceFields & { readonly AboveInputTokens: number })[];
  readonly Priority?: PriceFields;
  readonly Flex?: PriceFields;
  readonly CacheWrite1h?: number;
  readonly WebSearchCall?: number;
}

/**
 * The price found for a model: group and name of the entry, merged price, and tiers unless the Owner set the
 * price.
 */
export interface Priced {
  readonly group: Group;
  readonly name: string;
  readonly price: Price;
  readonly tiers: Tiers | null;
  /** The Owner set fields other than Rates. */
  readonly byOwner?: true;
}

/** Quality and size of an image, as the provider names them or, before the call, the client. */
export interface ImageKind {
  readonly quality?: string | undefined;
  readonly size?: string | undefined;
}

/**
 * Pairs of a field and its fallback. An absent field takes the fallback's price, and keeps its ratio to it in
 * a tier that omits the field.
 */
export const FALLBACK_FIELDS: readonly (readonly [PriceField, PriceField])[] = [
  ["InputText", "OutputText"],
  ["OutputText", "InputText"],
  ["CachedText", "InputText"],
  ["CacheWrite", "InputText"],
  ["CacheWrite1h", "CacheWrite"],
  ["InputAudio", "InputText"],
  ["InputImage", "InputText"],
  ["ReasonText", "OutputText"],
  ["OutputAudio", "OutputText"],
  ["OutputImage", "OutputText"],
];

/** Returns whether a price object has a price. `Rates` alone is none and must not make a model free. */
export function isPriced(price: Price): boolean {
  const { Rates: _, Sizes, ...fields } = price;
  if (Sizes && Object.keys(Sizes).length > 0) return true;
  return ["InputText", "OutputText", "Input", "Output", "Call"].some(
    (f) => fields[f as PriceField] !== undefined,
  );
}

/** Returns all fields with absent ones filled in; the only place that defines what an absent field costs. */
export function effectivePriceFields({ group, price, tiers }: Priced, image?: ImageKind): PriceFields {
  const { Rates: _, Sizes: __, ...given } = price;
  if (group === "ImgPricing") return { Call: imagePrice(price, image) };
  if (group !== "ChatPricing" && group !== "FineTuningPricing") return given;
  const fields: Partial<Record<PriceField, number>> = { ...given };
  if (tiers?.CacheWrite1h !== undefined) fields.CacheWrite1h = tiers.CacheWrite1h;
  if (tiers?.WebSearchCall !== undefined) fields.WebSearchCall = tiers.WebSearchCall;
  for (const [field, instead] of FALLBACK_FIELDS) fields[field] ??= fields[instead] ?? 0;
  return fields;
}

/**
 * Returns USD for one image: `Sizes["quality/WxH"]`, `Sizes["WxH"]`, `Call`, or else the most expensive size.
 */
function imagePrice({ Sizes = {}, Call }: Price, { quality, size }: ImageKind = {}): number {
  const plain = size === undefined || size === "auto" ? "1024x1024" : size;
  for (const key of [`${quality}/${plain}`, plain]) if (Object.hasOwn(Sizes, key)) return Sizes[key]!;
  return Call ?? Math.max(0, ...Object.values(Sizes));
}

/** Returns the highest USD for one image of a request that may leave quality or size to the provider. */
export function imagePriceMax(price: Price, { quality, size }: ImageKind = {}): number {
  const open = (value: string | undefined) => value === undefined || value === "auto";
  if (!open(quality) && !open(size)) return imagePrice(price, { quality, size });
  const possible = Object.entries(price.Sizes ?? {}).filter(([key]) => {
    const [keySize, keyQuality] = key.split("/").reverse();
    return (open(size) || keySize === size) && (open(quality) || !keyQuality || keyQuality === quality);
  });
  return Math.max(imagePrice(price, { quality, size }), price.Call ?? 0, ...possible.map(([, usd]) => usd));
}
