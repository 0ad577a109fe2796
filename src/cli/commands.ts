// The list of commands. Each is imported when it runs, so that a small command does not load the others. A
// command's arguments are checked before anything of it runs: an unknown option exits with code 2.

import type { Settings } from "../settings/settings.ts";
import { takeOptions } from "./arguments.ts";

/** A command: its help texts, and how to run it. */
export interface CliCommand {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  about(): Promise<string>;
  run(settings: () => Settings, args: readonly string[]): Promise<void>;
}

/** All commands, in the order in which help lists them. */
export const commands: readonly CliCommand[] = [
  {
    name: "serve",
    usage: "serve",
    summary: "run the service (the default)",
    about: async () =>
      "Serves until SIGTERM or SIGINT, then finishes what is under way. A second signal ends it at once.\n" +
      "With PROCESSES it starts so many of itself, each with --process and a node of the cluster, and restarts what ends.\n" +
      "With NATS_URL and a STORE_URL of mongodb:// it is a node of a cluster. What it needs at its start (MongoDB, NATS, its\n" +
      "place among the nodes) it waits for, a minute each; exit code 2 and one line when that is over.",
    async run(settings, args) {
      const share = takeOptions("serve", args, { values: ["process"] }).values.process ?? null;
      await (await import("./serve-processes.ts")).serveProcesses(settings(), share);
    },
  },
  {
    name: "demo",
    usage: "demo [--once]",
    summary: "show a request, its answer and its charge, against a stand-in provider",
    about: async () =>
      "Starts the service on a throw-away store and a stand-in provider, makes an Owner, two keys and a subaccount,\n" +
      "sends a whole and a streamed request, prints answers and charges, then curl lines that work\n" +
      "until Ctrl-C ends it. --once ends it before them.",
    async run(_settings, args) {
      const { flags } = takeOptions("demo", args, { flags: ["once"] });
      await (await import("./demo.ts")).demo(flags.has("once"));
    },
  },
  {
    name: "check",
    usage: "check",
    summary: "say whether the settings are valid and the servers can be reached",
    about: async () =>
      "Says what a start would find of settings, store, secrets and NATS, one line each, and changes nothing.\n" +
      "Exit code 2: a start would fail.",
    async run(settings, args) {
      takeOptions("check", args);
      await (await import("./check.ts")).checkSetup(settings());
    },
  },
  {
    name: "health",
    usage: "health [--ready]",
    summary: "say whether the service of this machine answers",
    about: async () =>
      "Asks /healthz at HOST and PORT for up to three seconds, and prints the answer. Exit code 1: it is not 200, or none came.\n" +
      "--ready asks /readyz: whether the node should get requests. For supervisors of containers: what is not ready waits for\n" +
      "something, such as its database, and starting it again does not help it.",
    async run(settings, args) {
      const { flags } = takeOptions("health", args, { flags: ["ready"] });
      await (await import("./health.ts")).health(settings(), flags.has("ready"));
    },
  },
  {
    name: "verify",
    usage: "verify",
    summary: "read the whole ledger anew and compare every balance, day and total",
    about: async () =>
      "Adds the whole ledger up again, recomputes every charge from its usage and prices, and compares balances, days of\n" +
      "usage, sums of API keys, snapshots, claims, projected lines and the sum of all money. Reads one moment of the store, also beside a running server.\n" +
      "Exit code 1 and one line each for what differs, else 0 and the sums.",
    async run(settings, args) {
      takeOptions("verify", args);
      await (await import("./verify.ts")).verifyStore(settings());
    },
  },
  {
    name: "export",
    usage: "export --from --to [--format]",
    summary: "write the ledger lines of some days as CSV or JSON lines",
    about: async () => (await import("./export.ts")).exportAbout,
    async run(settings, args) {
      const { values } = takeOptions("export", args, { values: ["from", "to", "format"] });
      await (await import("./export.ts")).exportLedger(settings(), values);
    },
  },
  {
    name: "backup",
    usage: "backup FILE",
    summary: "copy the database, also while the server runs",
    about: async () =>
      "Writes the database as it is at this moment to a new FILE, whole or not at all. Never overwrites. SQLite only: for\n" +
      "MongoDB use mongodump.\n" +
      "Provider secrets in it stay sealed: keep SECRETS_KEY (or secrets.key) as well, but not beside it.",
    async run(settings, args) {
      const [file] = takeOptions("backup", args, { operands: ["FILE"] }).operands;
      await (await import("./backup.ts")).backup(settings(), file!);
    },
  },
  {
    name: "restore",
    usage: "restore FILE",
    summary: "put a backup in the place of the database",
    about: async () =>
      "Checks FILE to its last page, keeps the database that is there under another name, and puts a copy of FILE in its\n" +
      "place. Exit code 2 while a server runs, or when FILE is damaged or of a newer program. SQLite only: for MongoDB use\n" +
      "mongorestore.",
    async run(settings, args) {
      const [file] = takeOptions("restore", args, { operands: ["FILE"] }).operands;
      await (await import("./backup.ts")).restore(settings(), file!);
    },
  },
  {
    name: "rotate-root",
    usage: "rotate-root [--disable-keys]",
    summary: "give Root another API key",
    about: async () =>
      "Prints Root's new key, once; the old one is dead with it. In a cluster (NATS_URL) the nodes do it, and one must run;\n" +
      "otherwise no server may run: exit code 2 while one does.\n" +
      "Root's named keys stay valid, and it says how many there are. Whoever had Root's key may have made them:\n" +
      "--disable-keys disables them all. Keys that Root made for other accounts stay; GET /dashboard/keys?user= lists them.",
    async run(settings, args) {
      const { flags } = takeOptions("rotate-root", args, { flags: ["disable-keys"] });
      await (await import("./key-commands.ts")).rotateRoot(settings(), flags.has("disable-keys"));
    },
  },
  {
    name: "reencrypt",
    usage: "reencrypt",
    summary: "seal all provider secrets with the current SECRETS_KEY",
    about: async () =>
      "Opens provider secrets with SECRETS_KEY_OLD and seals them with SECRETS_KEY. May be repeated. In a cluster (NATS_URL)\n" +
      "the nodes store them, which must know both keys by then, and one must run; otherwise no server may run: exit code 2\n" +
      "while one does, or when a secret was sealed with a third key. Boxes of the old key stay in the ledger's past.",
    async run(settings, args) {
      takeOptions("reencrypt", args);
      await (await import("./key-commands.ts")).reencrypt(settings());
    },
  },
];
