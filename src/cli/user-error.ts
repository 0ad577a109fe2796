// Turns failures outside the program (a missing file, server or database, another schema) into one clear line
// and exit code 2. A bug keeps its stack and exit code 1.

import { SQLiteError } from "bun:sqlite";
import { AssertionError } from "node:assert";
import { BadSetting } from "../settings/settings.ts";

/** Runs `work`, and throws errors that the user can fix as BadSetting. */
export async function orRefuse<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const outside = error instanceof AssertionError || error instanceof SQLiteError;
    if (outside || isFileError(error) || isAway(error)) {
      throw new BadSetting((error as Error).message.trim().replaceAll(/\s*\n\s*/g, "; "));
    }
    throw error;
  }
}

/** Whether the error is that of MongoDB or NATS for a server that cannot be reached. */
const isAway = (error: unknown): boolean =>
  error instanceof Error && / cannot be reached/.test(error.message);

const isFileError = (error: unknown): boolean =>
  error instanceof Error && "syscall" in error && "code" in error && typeof error.code === "string";
