// Assertions that stay on in production: at order, money and ownership. A failed one is a bug; it breaks one activation.

class AssertionFailed extends Error {}

export function assert(condition: unknown, broken: string): asserts condition {
  if (!condition) throw new AssertionFailed(broken);
}

/** The end of an exhaustive switch. */
export function unreachable(value: never): never {
  throw new AssertionFailed(`no case for ${JSON.stringify(value)}`);
}
