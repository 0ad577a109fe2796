// The prices of a model by bucket. A bucket without a price of its own is counted as another one, and says so.

import { Text } from "@mantine/core";
import { countText } from "../../api/amount.ts";
import { type Model, type ModelKind, priceIn } from "../../api/model-kind.ts";
import { useWords } from "../../i18n/language.ts";
import { MODELS } from "../../i18n/models.ts";
import { SHELL } from "../../i18n/shell.ts";

/** The price fields that a page shows, in its order. */
export const PRICE_FIELDS: readonly PriceField[] = [
  ...(["InputText", "OutputText", "CachedText", "CacheWrite", "ReasonText", "InputAudio"] as const),
  ...(["OutputAudio", "InputImage", "OutputImage", "Input", "Output", "Call"] as const),
];

/** A bucket of a price. */
export type PriceField = keyof (typeof MODELS)["en"]["price"];

/** The bucket as which one without a price is counted (contract section 7). */
const COUNTED_AS: Partial<Readonly<Record<PriceField, PriceField>>> = {
  ...{ CachedText: "InputText", CacheWrite: "InputText", InputAudio: "InputText", InputImage: "InputText" },
  ...{ ReasonText: "OutputText", OutputAudio: "OutputText", OutputImage: "OutputText" },
};

/** The columns of each kind of models. */
export const COLUMNS_OF: Readonly<Record<ModelKind, readonly PriceField[]>> = {
  chat: ["InputText", "OutputText", "CachedText", "CacheWrite"],
  embeddings: ["InputText"],
  images: ["InputText", "OutputImage", "InputImage", "Call"],
  speech: ["InputText", "OutputAudio", "Input", "Output", "Call"],
  transcription: ["InputAudio", "OutputText", "Input", "Call"],
  rerank: ["Input", "Call"],
  other: ["InputText", "OutputText", "Input", "Call"],
};

/** Whether any of the models has a price of its own for the bucket. */
export const isPriced = (models: readonly Model[], field: PriceField): boolean =>
  models.some(({ price }) => priceIn(price, field) !== null);

const decimalsOf = (figure: number): number => countText(figure).split(".")[1]?.length ?? 0;

/** The most decimals of a column, with which its decimal points stand in line. */
export const decimalsIn = (models: readonly Model[], field: PriceField): number =>
  Math.max(0, ...models.map(({ price }) => decimalsOf(priceIn(price, field) ?? 0)));

/** A price as it is multiplied; dimmed where it is another bucket's. `decimals`: those of its column. */
export function Price(props: {
  readonly price: Model["price"];
  readonly field: PriceField;
  readonly decimals: number;
}) {
  const { price, field, decimals } = props;
  const words = useWords(MODELS);
  const { noData } = useWords(SHELL);
  const own = priceIn(price, field);
  const instead = COUNTED_AS[field];
  const figure = own ?? (instead === undefined ? null : priceIn(price, instead));
  if (figure === null) {
    return (
      <Text span size="sm" c="dimmed" aria-label={noData}>
        –
      </Text>
    );
  }
  const text = countText(figure);
  const missing = Math.max(0, decimals - decimalsOf(figure));
  // The point that a whole number lacks takes up its place too.
  const pad = `${missing > 0 && !text.includes(".") ? "." : ""}${"0".repeat(missing)}`;
  const borrowed =
    own === null && instead !== undefined ? { c: "dimmed", title: words.asField(words.price[instead]) } : {};
  return (
    <Text span size="sm" className="figure" data-pad={pad} {...borrowed}>
      {text}
    </Text>
  );
}
