// Assertions that stay on in production: at order, money and ownership. A failed one is a bug; it breaks one activation.

class AssertionFailed extends Error {}

export function assert(condition: unknown, broken: string): asserts condition {
  if (!condition) throw new AssertionFailed(broken);
}

/** Of a kind that this program does not know: a bug, or of a newer one. Says its type; its body is nobody's to read. */
export class NoCase extends AssertionFailed {
  constructor(readonly value: unknown) {
    const { type } = Object(value);
    super(`no case for ${typeof type === "string" ? type : `a ${typeof value}`}`);
  }
}

/** The end of an exhaustive switch. */
export function unreachable(value: never): never {
  throw new NoCase(value);
}
