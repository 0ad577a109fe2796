// Parses the arguments of a command by a table, and refuses everything else with one clear line.

import { parseArgs } from "node:util";
import { BadSetting } from "../settings/settings.ts";

/** The arguments of a command. */
export interface ParsedArguments {
  /** Options with a value; null when not given. */
  readonly values: Readonly<Record<string, string | null>>;
  readonly flags: ReadonlySet<string>;
  /** As many as the command requires. */
  readonly operands: readonly string[];
}

/** The arguments that a command accepts. */
export interface Takes {
  readonly values?: readonly string[];
  readonly flags?: readonly string[];
  /** Names of the required arguments without a dash. */
  readonly operands?: readonly string[];
}

/** Parses the arguments of a command. Throws BadSetting for unknown arguments and for a missing operand. */
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
