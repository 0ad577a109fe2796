// What the tests of several files share in one process: it is made when the first of them asks for it, and closed after the last.
// close-shared.ts does so after all tests. Knows no test runner, so that programs share the same parts.

type Close = () => Promise<void>;

const closers: Close[] = [];

/** Returns a function that makes a value at its first call and returns the same one afterwards; `close` ends it at the end. */
export function shared<T>(make: () => Promise<T>, close: (value: T) => Promise<void>): () => Promise<T> {
  let value: Promise<T> | null = null;
  return () => {
    if (value !== null) return value;
    const made = make();
    value = made;
    // A value that could not be made has nothing to be closed, and whoever asked has its error.
    closers.push(() => made.then(close, () => {}));
    return made;
  };
}

/** Closes all that was made, the last first. */
export async function closeShared(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}
