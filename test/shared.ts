// What the tests of several files share in one process: it is made when one of them asks for it, and closed after them.
// close-shared.ts does so: after all tests, or after each file where files run in several processes. Knows no test runner, so that programs share the same parts.

type Close = () => Promise<void>;

const closers: Close[] = [];

/** Returns a function that makes a value at its first call and returns the same one afterwards; `close` ends it at the end. */
export function shared<T>(make: () => Promise<T>, close: (value: T) => Promise<void>): () => Promise<T> {
  let value: Promise<T> | null = null;
  return () => {
    if (value !== null) return value;
    const made = make();
    value = made;
    closers.push(() => {
      // The next file gets a new one: a runner of several processes closes after each file.
      value = null;
      // A value that could not be made has nothing to be closed, and its caller has the error.
      return made.then(close, () => {});
    });
    return made;
  };
}

/** Closes all that was made, the last first. */
export async function closeShared(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}
