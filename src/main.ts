// The command line: chooses the command and gives it the settings. A user's mistake or an unusable
// environment is one clear line and exit code 2.

import { commands } from "./cli/commands.ts";
import { BadSetting, readSettings } from "./settings/settings.ts";
import { StoreLockedError } from "./store/sqlite/lock.ts";

const [name = "serve", ...args] = process.argv.slice(2);

async function run(): Promise<void> {
  if (name === "--version") return console.log((await import("../package.json")).version);
  if (name === "--help" || name === "help") return console.log(usage());
  const command = commands.find((one) => one.name === name);
  if (command === undefined) throw new BadSetting(`there is no command "${name}". Try --help`);
  if (args.includes("--help")) return console.log(`arborgate ${command.usage}\n\n${await command.about()}`);
  await command.run(() => readSettings(process.env, process.stderr.isTTY), args);
}

const usage = (): string =>
  [
    "arborgate [COMMAND] [--help]",
    "",
    ...commands.map((one) => `  ${one.usage.padEnd(30)} ${one.summary}`),
    "",
    "Settings come from the environment; docs/settings.md lists them.",
  ].join("\n");

run().catch((error) => {
  if (error instanceof BadSetting || error instanceof StoreLockedError) {
    console.error(`arborgate: ${error.message}`);
    process.exit(2);
  }
  console.error(error);
  process.exit(1);
});
