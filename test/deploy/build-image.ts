// Runs the stages of the Dockerfile in empty folders of this machine, in the place of a container engine: COPY copies, RUN is
// run by a shell with this installation's Bun. What comes out of the last stage is the tree that the image would have.

import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { guarded } from "../children.ts";
import { contextFilter, environmentOf, type Instruction, parseDockerfile, type Stage } from "./dockerfile.ts";

export const HOME = join(import.meta.dirname, "../..");
/** A step on a machine with much else to do. */
const STEP_MS = 120_000;

/** What the last stage made. */
export interface Image {
  /** The folder that holds everything of the test. */
  readonly home: string;
  /** The folder in the place of the root of the image's file system. */
  readonly root: string;
  /** Its working directory on this machine. */
  readonly workdir: string;
  readonly stage: Stage;
  /** Paths that were copied as another owner's, relative to the root. */
  readonly owned: readonly string[];
  /** The Bun that runs it, in a place that other users can reach. */
  readonly bun: string;
}

interface Room {
  readonly root: string;
  workdir: string;
  readonly owned: string[];
}

/** Builds the image of the Dockerfile into a new folder. Throws with the output of a step that fails. */
export async function buildImage(): Promise<Image> {
  const home = mkdtempSync(join(tmpdir(), "arborgate-image-"));
  chmodSync(home, 0o755);
  const bin = join(home, "bin");
  mkdirSync(bin);
  copyFileSync(process.execPath, join(bin, "bun"));
  const stages = parseDockerfile(readFileSync(join(HOME, "Dockerfile"), "utf8"));
  const rooms = new Map<string, Room>();
  let last: Room | null = null;
  for (const [i, stage] of stages.entries()) {
    const root = join(home, `stage-${i}`);
    mkdirSync(root);
    last = { root, workdir: root, owned: [] };
    if (stage.name !== null) rooms.set(stage.name, last);
    for (const one of stage.instructions) await follow(one, last, { rooms, bin, env: environmentOf(stage) });
  }
  const { root, workdir, owned } = last!;
  return { home, root, workdir, owned, stage: stages.at(-1)!, bun: join(bin, "bun") };
}

interface Building {
  readonly rooms: ReadonlyMap<string, Room>;
  readonly bin: string;
  readonly env: Record<string, string>;
}

async function follow(one: Instruction, room: Room, { rooms, bin, env }: Building): Promise<void> {
  if (one.name === "WORKDIR") {
    room.workdir = join(room.root, one.args[0]!);
    mkdirSync(room.workdir, { recursive: true });
  } else if (one.name === "COPY") {
    copy(one, room, rooms);
  } else if (one.name === "RUN") {
    await run(one.text, room.workdir, { ...env, PATH: `${bin}:${process.env.PATH}` });
  }
}

function copy({ args, flags }: Instruction, room: Room, rooms: ReadonlyMap<string, Room>): void {
  const from = flags.from === undefined ? null : rooms.get(flags.from)!;
  const sees = contextFilter(readFileSync(join(HOME, ".dockerignore"), "utf8"));
  const target = args.at(-1)!;
  const into = target.startsWith("/") ? join(room.root, target) : join(room.workdir, target);
  for (const source of args.slice(0, -1)) {
    const path = from === null ? join(HOME, source) : join(from.root, source);
    const isInto = /(^|\/)\.?$/.test(target);
    const to = isInto ? join(into, basename(source)) : into;
    mkdirSync(dirname(to), { recursive: true });
    cpSync(path, to, {
      recursive: true,
      verbatimSymlinks: true,
      // A file that the build does not see is missing in its copy too; one that is named itself makes the build fail.
      filter: (file) => from !== null || statSync(file).isDirectory() || sees(file.slice(HOME.length + 1)),
    });
    statSync(to);
    if (flags.chown !== undefined) room.owned.push(to.slice(room.root.length + 1));
  }
}

async function run(command: string, cwd: string, env: Record<string, string>): Promise<void> {
  const child = guarded(
    Bun.spawn(["sh", "-c", command], {
      ...{ cwd, env: { ...env, HOME: process.env.HOME ?? cwd }, timeout: STEP_MS },
      ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe" },
    }),
  );
  const output = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`${command}\n${(await output).join("\n")}`);
}
