// The nesting depth of JSON values. It is bounded because code that walks or serializes an extremely deep
// value needs too much time and stack.

/** Levels of arrays and objects in an accepted value; no sensible value has more. */
export const JSON_DEPTH_MAX = 500;

/** Returns whether a value has more than `most` levels of arrays and objects. */
export function nestedDeeper(value: unknown, most: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (most === 0) return true;
  if (Array.isArray(value)) {
    for (const one of value as unknown[]) {
      if (typeof one === "object" && nestedDeeper(one, most - 1)) return true;
    }
    return false;
  }
  for (const name in value) {
    const one = (value as Record<string, unknown>)[name];
    if (typeof one === "object" && nestedDeeper(one, most - 1)) return true;
  }
  return false;
}
