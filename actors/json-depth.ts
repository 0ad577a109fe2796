// How deep a value of JSON is nested. What walks through a value, or writes it again, takes more than its share of time and
// stack for one that is nested far deeper than anybody means.

/** Nobody means more levels than these. */
export const JSON_DEPTH_MAX = 500;

/** Whether a value has more than `most` levels of arrays and objects. */
export function nestedDeeper(value: unknown, most: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (most === 0) return true;
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return inner.some((one) => typeof one === "object" && nestedDeeper(one, most - 1));
}
