// Set-up of a test file that also tests Python: where Python or its packages are missing, its rows are left out, a line at the
// end of the run says so, and with CI=true a test fails.

import { expect, test } from "bun:test";
import { announceSkipped } from "../skipped.ts";
import { preparePython } from "./python.ts";

/**
 * Returns the path of the interpreter with the pinned packages of the SDKs, or null when it cannot be prepared. `what` names
 * the tests that are left out then.
 */
export async function usePython(what: string): Promise<string | null> {
  const python = await preparePython();
  if (!python.ok) announceSkipped(what, python.reason);
  test.skipIf(!python.ok && process.env.CI !== "true")("Python and the pinned packages are here", () =>
    expect(python).toMatchObject({ ok: true }),
  );
  return python.ok ? python.path : null;
}
