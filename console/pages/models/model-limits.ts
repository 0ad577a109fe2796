// The account's own limits of a model, as short texts.

import { countText } from "../../api/amount.ts";
import type { Answers } from "../../api/answers.ts";
import { applyingPattern } from "../../api/pattern.ts";

/** The limits of models by pattern. */
export type LimitsByModel = Answers["/dashboard/info"]["model_limits"];

/** Returns such as `120 RPM`, for each limit of the entry that applies to the model. */
export function limitTexts(limits: LimitsByModel, model: string): readonly string[] {
  const pattern = applyingPattern(Object.keys(limits), model);
  if (pattern === null) return [];
  return Object.entries(limits[pattern]!).flatMap(([name, limit]) =>
    limit === undefined || limit === 0 ? [] : [`${countText(limit)} ${name.toUpperCase()}`],
  );
}
