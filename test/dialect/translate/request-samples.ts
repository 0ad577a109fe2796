// What the tests of translated requests share: a model of ordinary abilities, and a request's translation that must succeed.

import type { Json } from "../../../src/dialect/json.ts";
import type { ModelFacts, TranslatedRequest } from "../../../src/dialect/translate/translation.ts";

export const PLAIN: ModelFacts = {
  name: "a-model",
  maxOutputTokens: 0,
  contextWindow: 0,
  quirks: new Set(),
  reasoning: false,
  readsReasoning: false,
  signsCalls: false,
  efforts: ["low", "medium", "high"],
  structured: true,
  lateSystem: false,
  topK: false,
  verbosity: false,
  cacheKey: false,
  cacheMarks: false,
  provider: "maker",
};

export const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const PNG_URL = `data:image/png;base64,${PIXEL}`;
export const PNG_SOURCE = { type: "base64", media_type: "image/png", data: PIXEL };

/** The translated body; fails the test when the request is refused. */
export function bodyOf(request: TranslatedRequest): Json {
  if (!request.ok) throw new Error(request.refusal.message);
  return request.body;
}
