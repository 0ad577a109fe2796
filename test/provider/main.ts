// The stand-in provider on the command line: `npm run provider -- --port 4010`.

import { parseArgs } from "node:util";
import { FAULTS } from "./faults.ts";
import { startProvider } from "./provider.ts";
import { REFUSALS } from "./refusals.ts";
import { KNOBS } from "./script.ts";

const USAGE = `npm run provider -- [--port N] [--plain] [--help]

  --port N   listen there (default 4010; 0 takes any free port)
  --plain    prebuilt answers for load: no keys, no scripts, totals only
  --help     this text, with all knobs and faults`;

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "4010" },
    plain: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

const row = (name: string, text: string) => `  ${name.padEnd(13)} ${text}`;

const faultRows = Object.entries(FAULTS).map(([name, { description, takes }]) =>
  row(name, takes === undefined ? description : `${description} (${takes})`),
);
const faults = [
  "Faults, as [[fault=NAME arg=value]] in the last user message:",
  ...faultRows,
  "Refusals, named the same way; retry=N|date|text and retry_ms=N add their headers:",
  `  ${Object.keys(REFUSALS).join(" ")}`,
].join("\n");

if (values.help) {
  const knobs = Object.entries(KNOBS).map(([name, knob]) => row(name, knob.description));
  console.log([USAGE, "", "Knobs, as [[name=value flag]]:", ...knobs, "", faults].join("\n"));
} else {
  const { url } = startProvider({ port: Number(values.port), plain: values.plain });
  const asked = '"stream":true,"messages":[{"role":"user","content":"Hello [[output=20 chunk_ms=50]]"}]';
  console.log(`A stand-in provider listens at ${url}\n
  curl -N ${url}/v1/chat/completions -H 'authorization: Bearer sk-any' -d '{"model":"gpt-4o",${asked}}'
  curl -N ${url}/v1/messages -H 'x-api-key: sk-any' -H 'anthropic-version: 2023-06-01' \\
    -d '{"model":"claude-sonnet-4-5","max_tokens":100,${asked}}'\n
${faults}`);
}
