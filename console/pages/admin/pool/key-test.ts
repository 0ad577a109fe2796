// Testing a provider key: one small real call through exactly that key.

import type { TestedKeySchema } from "../../../../src/http/provider-keys/schemas.ts";
import type { Write } from "../../../api/writes.ts";

/** What came of a test. */
export type TestedKey = (typeof TestedKeySchema)["static"];

/** Returns the test of a key; without a model the service takes the cheapest that is known to lead to the key. */
export const testOf = (id: number, model = ""): Write => ({
  method: "POST",
  path: `/x-keys/${id}/test`,
  body: model.trim() === "" ? {} : { model: model.trim() },
});
