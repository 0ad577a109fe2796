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
  images: ["InputText", "InputImage", "OutputImage", "Call"],
  speech: ["InputText", "OutputAudio", "Input", "Output", "Call"],
  transcription: ["InputAudio", "OutputText", "Input", "Call"],
  rerank: ["Input", "Call"],
  other: ["InputText", "OutputText", "Input", "Call"],
};

/** A price, exactly as it is multiplied; dimmed where it is another bucket's. */
export function Price({ price, field }: { readonly price: Model["price"]; readonly field: PriceField }) {
  const words = useWords(MODELS);
  const { noData } = useWords(SHELL);
  const own = priceIn(price, field);
  if (own !== null) return <>{countText(own)}</>;
  const instead = COUNTED_AS[field];
  const counted = instead === undefined ? null : priceIn(price, instead);
  if (instead === undefined || counted === null) {
    return (
      <Text span size="sm" c="dimmed" aria-label={noData}>
        –
      </Text>
    );
  }
  return (
    <Text span size="sm" c="dimmed" title={words.asField(words.price[instead])}>
      {countText(counted)}
    </Text>
  );
}
