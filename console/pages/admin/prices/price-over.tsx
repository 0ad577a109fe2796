// What stands over the page of prices: the sheet of one price, or the dialog that reads a file. Loaded when it is first opened.

import { Sheet } from "../../../components/dialog.tsx";
import { useWords } from "../../../i18n/language.ts";
import { PRICE_WORDS } from "../../../i18n/prices.ts";
import { PriceForm, type PriceSubject } from "./price-form.tsx";
import { PriceImport } from "./price-import.tsx";
import { entryIn, type PriceGroup, type PricingMap, withEntry } from "./pricing.ts";

/** Which of them: a price, or the reading of a file. */
export type Shown = PriceSubject | "import";

/** The sheet or the dialog over the page. */
export default function PriceOver(props: {
  readonly shown: Shown;
  readonly present: PricingMap;
  readonly onPrices: (pricing: PricingMap) => void;
  readonly onClose: () => void;
}) {
  const { shown, present, onPrices, onClose } = props;
  const words = useWords(PRICE_WORDS).form;
  if (shown === "import") return <PriceImport present={present} onApply={onPrices} onClose={onClose} />;
  const { model } = shown;
  return (
    <Sheet title={model === null ? words.newTitle : words.title(model)} onClose={onClose}>
      <PriceForm
        subject={shown}
        ownOf={(group: PriceGroup, name: string) => entryIn(present, group, name)}
        onApply={(group, name, entry) => onPrices(withEntry(present, group, name, entry))}
      />
    </Sheet>
  );
}
