// The files that a node needs on its machine: database, key of the secrets, spool. What is wrong with one of them is for the
// operator, in one line that names the setting. Nothing here may change what is in them.

import { SQLiteError } from "bun:sqlite";
import { AssertionError } from "node:assert";
import { accessSync, constants, mkdirSync } from "node:fs";
import { BadSetting } from "../settings/settings.ts";

/** Runs `work`, which opens files, and throws what is wrong with them as BadSetting, with the setting that names them. */
export async function withFilesOf<T>(setting: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isOfFile(error)) throw error;
    throw new BadSetting(`${setting}: ${error.message.trim().replaceAll(/\s*\n\s*/g, "; ")}`);
  }
}

/** Whether this is an error of the file system, of SQLite, or of what opens a database and finds it damaged or too new. */
const isOfFile = (error: unknown): error is Error =>
  error instanceof SQLiteError ||
  error instanceof AssertionError ||
  (error instanceof Error && "syscall" in error && "code" in error && typeof error.code === "string");

/**
 * Creates the directory of the spool unless it is there: without it a charge that the store does not take would be lost with the
 * process. Throws when nothing can be written to it.
 */
export function prepareSpool(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
}
