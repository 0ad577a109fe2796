// The commands there are. Each is loaded when it runs, so that a small one does not pay for the others.

import type { Settings } from "../settings.ts";

export interface Command {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  readonly about: string;
  run(settings: () => Settings, args: readonly string[]): Promise<void>;
}

export const commands: readonly Command[] = [
  {
    name: "serve",
    usage: "serve",
    summary: "run the service (the default)",
    about:
      "Serves until SIGTERM or SIGINT, then finishes what is under way. A second signal ends it at once.",
    run: async (settings) => (await import("./serve.ts")).serve(settings()),
  },
  {
    name: "demo",
    usage: "demo [--once]",
    summary: "show a request, its answer and its charge, against a stand-in provider",
    about:
      "Starts the service on a throw-away store and a stand-in provider, makes an Owner, two keys and a subaccount,\n" +
      "sends a whole and a streamed request, prints answers, charges and curl lines. Runs until Ctrl-C; --once ends it.",
    run: async (_settings, args) => (await import("./demo.ts")).demo(args.includes("--once")),
  },
];
