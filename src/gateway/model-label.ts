// Names of models as metrics, the access log and traces show them. A client may write anything before and behind the name
// that finds a price, a secret too; the name of the price comes from the Owner's tables, which are bounded.

/** Stands for what has no label of its own: models without a price by name, and what is beyond a bound of series. */
export const OTHER_LABEL = "other";

/** The name of the price of all models that have no other. */
const ANY_MODEL = "*";

/** Returns the name under which a request is shown: that of the price that applies to it. */
export const modelLabelOf = ({ name }: { readonly name: string }): string =>
  name === ANY_MODEL ? OTHER_LABEL : name;
