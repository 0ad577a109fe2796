// What could not be tested on this machine, and why. report-skipped.ts says it at the end of the whole run. With CI=true
// a test that reports here fails as well. Knows no test runner: servers that tests start are started by others too.

export const skipped: string[] = [];

/** Announces tests that are skipped. */
export const announceSkipped = (what: string, why: string): void => void skipped.push(`${what}: ${why}`);
