// Which entry of a map with patterns applies to a name, as the service decides it: the exact one, otherwise the matching pattern
// with the longest literal part. A test compares it with the service's own.

/** Returns whether `name` matches `pattern`, in which `*` stands for any run of characters. It never backtracks. */
export function isMatch(pattern: string, name: string): boolean {
  const parts = pattern.split("*");
  if (parts.length === 1) return pattern === name;
  const [head = "", ...rest] = parts;
  const tail = rest.pop() ?? "";
  const end = name.length - tail.length;
  if (!name.startsWith(head) || !name.endsWith(tail) || end < head.length) return false;
  let at = head.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

const literalLength = (pattern: string): number => pattern.replaceAll("*", "").length;

/** Returns the pattern of a map that applies to a name, or null. */
export function applyingPattern(patterns: readonly string[], name: string): string | null {
  if (patterns.includes(name)) return name;
  const fitting = patterns.filter((pattern) => pattern.includes("*") && isMatch(pattern, name));
  fitting.sort((one, other) => literalLength(other) - literalLength(one) || (one < other ? -1 : 1));
  return fitting[0] ?? null;
}
