// What a price is: the groups and fields of PRICING, what an absent field costs, providers' tiers, images by size.
// Never finds prices by name and never multiplies: see price-table.ts and cost.ts.

/** Fields that a charge multiplies. The last two exist in the providers' tiers only, not in PRICING. */
export type PriceField =
  | ("InputText" | "OutputText" | "CachedText" | "CacheWrite" | "ReasonText")
  | ("InputAudio" | "OutputAudio" | "InputImage" | "OutputImage" | "Input" | "Output" | "Call")
  | ("CacheWrite1h" | "WebSearchCall");

export type PriceFields = { readonly [F in PriceField]?: number };

/** Any price object. USD per million tokens (`Call`, `Sizes`, `WebSearchCall`: USD each); `Rates` multiplies, default 1. */
export type Price = PriceFields & {
  readonly Rates?: number;
  readonly Sizes?: Readonly<Record<string, number>>;
};

/** The fields each group may hold, as the specification's "Pricing override structure" lists them. */
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

export type Group = keyof typeof GROUP_FIELDS;
export const GROUPS = Object.keys(GROUP_FIELDS) as readonly Group[];

/** The value of PRICING: groups of model name to price object. */
export type Pricing = {
  readonly [G in Group]?: Readonly<Record<string, Pick<Price, (typeof GROUP_FIELDS)[G][number]>>>;
};

/** What a provider charges beyond the price object (actors/catalog/price-tiers.json). Batch and off-peak prices are not used. */
export interface Tiers {
  readonly LongContext?: readonly (PriceFields & { readonly AboveInputTokens: number })[];
  readonly Priority?: PriceFields;
  readonly Flex?: PriceFields;
  readonly CacheWrite1h?: number;
  readonly WebSearchCall?: number;
}

/** A model's price as found: the entry's group and name, its merged price, and tiers unless the Owner set the price. */
export interface Priced {
  readonly group: Group;
  readonly name: string;
  readonly price: Price;
  readonly tiers: Tiers | null;
  /** The Owner set more of it than its Rates. */
  readonly byOwner?: true;
}

/** Quality and size of an image as the provider (before the call: the client) names them. */
export interface ImageKind {
  readonly quality?: string | undefined;
  readonly size?: string | undefined;
}

/** The field whose price an absent field takes, and to which it keeps its ratio in a tier that does not name it. */
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

/** Whether a price object prices anything: a lone `Rates` does not, and must never become a free model. */
export function isPriced(price: Price): boolean {
  const { Rates: _, Sizes, ...fields } = price;
  if (Sizes && Object.keys(Sizes).length > 0) return true;
  return ["InputText", "OutputText", "Input", "Output", "Call"].some(
    (f) => fields[f as PriceField] !== undefined,
  );
}

/** The one place that says what an absent field costs. Tier-only fields are filled where `tiers` stand. */
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

/** USD for one image: `Sizes["quality/WxH"]`, `Sizes["WxH"]`, `Call`, else the dearest size, never a silent 0. */
function imagePrice({ Sizes = {}, Call }: Price, { quality, size }: ImageKind = {}): number {
  const plain = size === undefined || size === "auto" ? "1024x1024" : size;
  for (const key of [`${quality}/${plain}`, plain]) if (Object.hasOwn(Sizes, key)) return Sizes[key]!;
  return Call ?? Math.max(0, ...Object.values(Sizes));
}

/** The dearest image that a request may turn out to be, where it leaves quality or size to the provider. */
export function imagePriceMax(price: Price, { quality, size }: ImageKind = {}): number {
  const open = (value: string | undefined) => value === undefined || value === "auto";
  if (!open(quality) && !open(size)) return imagePrice(price, { quality, size });
  const possible = Object.entries(price.Sizes ?? {}).filter(([key]) => {
    const [keySize, keyQuality] = key.split("/").reverse();
    return (open(size) || keySize === size) && (open(quality) || !keyQuality || keyQuality === quality);
  });
  return Math.max(imagePrice(price, { quality, size }), price.Call ?? 0, ...possible.map(([, usd]) => usd));
}
