// The nesting depth of JSON values. It is bounded because code that walks or serializes an extremely deep
// value needs too much time and stack.

/** Levels of arrays and objects in an accepted value; no sensible value has more. */
export const JSON_DEPTH_MAX = 500;

/** Returns whether a value has more than `most` levels of arrays and objects. */
export function nestedDeeper(value: unknown, most: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (most === 0) return true;
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return inner.some((one) => typeof one === "object" && nestedDeeper(one, most - 1));
}
