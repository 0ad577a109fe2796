// What follows a command's name: parsed by a table, and refused with one clear line where it is not in the table.

import { parseArgs } from "node:util";
import { BadSetting } from "../settings/settings.ts";

export interface ParsedArguments {
  /** Options with a value; null: not given. */
  readonly values: Readonly<Record<string, string | null>>;
  readonly flags: ReadonlySet<string>;
  /** As many as the command names. */
  readonly operands: readonly string[];
}

export interface Takes {
  readonly values?: readonly string[];
  readonly flags?: readonly string[];
  /** Names of what must be given without a dash. */
  readonly operands?: readonly string[];
}

/** Reads the arguments of a command. Throws BadSetting for what it does not take, and for a missing operand. */
export function takeOptions(command: string, args: readonly string[], takes: Takes = {}): ParsedArguments {
  const { values = [], flags = [], operands = [] } = takes;
  const options = Object.fromEntries([
    ...values.map((name) => [name, { type: "string" as const }]),
    ...flags.map((name) => [name, { type: "boolean" as const }]),
  ]);
  const parsed = read(command, args, options);
  const [extra] = parsed.positionals.slice(operands.length);
  if (extra !== undefined) throw new BadSetting(`${command} takes no "${extra}". Try ${command} --help`);
  const missing = operands[parsed.positionals.length];
  if (missing !== undefined) throw new BadSetting(`${command} needs ${missing}. Try ${command} --help`);
  const given = parsed.values as Readonly<Record<string, string | boolean | undefined>>;
  return {
    values: Object.fromEntries(values.map((name) => [name, (given[name] as string | undefined) ?? null])),
    flags: new Set(flags.filter((name) => given[name] === true)),
    operands: parsed.positionals,
  };
}

function read(
  command: string,
  args: readonly string[],
  options: Record<string, { type: "string" | "boolean" }>,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new BadSetting(`${command}: ${error.message.split(". ")[0]}. Try ${command} --help`);
  }
}
