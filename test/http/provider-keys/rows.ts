// Provider keys as lists show them, beside their settings as writes answer them.

import type { Json } from "../../e2e/harness.ts";

/** The row of a key that nothing has been sent with. */
export const unusedRow = (key: Json): Json => ({
  ...key,
  ...{ State: key.Status ? "normal" : "disabled", Until: null, Reason: null, InFlight: 0, CostToday: 0 },
  LastHour: { attempts: 0, failures: 0, per_minute: Array(60).fill(0), p50_ms: null, p95_ms: null },
});

/** The settings in a row, as a write answers them. */
export const settingsOf = (row: Json): Json => {
  const { State, Until, Reason, InFlight, LastHour, CostToday, ...settings } = row;
  return settings;
};
