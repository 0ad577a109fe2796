// The line that some clients put into the system prompt of a messages request to be billed by. It differs from request to request,
// so whatever must stay the same from turn to turn leaves it out.

const BILLING_LINE = "x-anthropic-billing-header:";

/** Whether a text of a system prompt is a billing line. */
export const isBillingLine = (text: unknown): boolean =>
  typeof text === "string" && text.startsWith(BILLING_LINE);
