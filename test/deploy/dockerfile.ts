// Reads the Dockerfile and .dockerignore of the project: the instructions that these use, and nothing else. What it does not
// know is an error, so that a test never passes over a line.

import { Glob } from "bun";

/** One instruction: its flags (`--from=build`), and its arguments in their order. */
export interface Instruction {
  readonly name: string;
  readonly flags: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  /** The text after the flags, for instructions that a shell runs. */
  readonly text: string;
}

/** A stage: its base image, its name, and what is done in it. */
export interface Stage {
  readonly image: string;
  readonly name: string | null;
  readonly instructions: readonly Instruction[];
}

const KNOWN = new Set("FROM WORKDIR COPY RUN ENV USER VOLUME EXPOSE HEALTHCHECK ENTRYPOINT CMD".split(" "));

/** Parses a Dockerfile into its stages. Throws for an instruction or a form that it does not know. */
export function parseDockerfile(text: string): readonly Stage[] {
  const lines = text
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n")
    .replace(/\s*\\\n\s*/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const stages: { image: string; name: string | null; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const one = instructionOf(line);
    if (one.name !== "FROM") {
      if (stages.length === 0) throw new Error(`before the first FROM: ${line}`);
      stages.at(-1)!.instructions.push(one);
      continue;
    }
    const [image, as, name] = one.args;
    if (as !== undefined && as !== "AS") throw new Error(`a FROM of an unknown form: ${line}`);
    stages.push({ image: image!, name: name ?? null, instructions: [] });
  }
  return stages;
}

function instructionOf(line: string): Instruction {
  const [name, ...rest] = line.split(/\s+/);
  if (!KNOWN.has(name!)) throw new Error(`an unknown instruction: ${line}`);
  const flags: Record<string, string> = {};
  while (rest[0]?.startsWith("--")) {
    const [flag, value = ""] = rest.shift()!.slice(2).split("=");
    flags[flag!] = value;
  }
  const text = rest.join(" ");
  // The health check names its command after a word of its own.
  const form = name === "HEALTHCHECK" ? text.replace(/^CMD /, "") : text;
  const args: string[] = form.startsWith("[") ? JSON.parse(form) : rest;
  return { name: name!, flags, args, text };
}

/** The instructions of one name, in their order. */
export const named = ({ instructions }: Stage, name: string): Instruction[] =>
  instructions.filter((one) => one.name === name);

/** The variables that a stage sets. */
export function environmentOf(stage: Stage): Record<string, string> {
  return Object.fromEntries(
    named(stage, "ENV").flatMap(({ args }) =>
      args.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
    ),
  );
}

/** Returns whether a path is part of what a build sees, by the lines of a .dockerignore: the last that matches decides. */
export function contextFilter(ignore: string): (path: string) => boolean {
  const rules = ignore
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({ keeps: line.startsWith("!"), glob: new Glob(line.replace(/^!/, "")) }));
  // A rule that names a folder is one for all that lies in it.
  const upwards = (path: string): string[] =>
    path.split("/").map((_, i, parts) => parts.slice(0, i + 1).join("/"));
  return (path) => rules.findLast(({ glob }) => upwards(path).some((one) => glob.match(one)))?.keeps ?? true;
}
