// `npm run bench -- --peers`: runs arborgate beside plain proxies and other gateways on one provider stand-in, and writes
// docs/speed.md with its chart.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onStage, type Stage } from "../stage.ts";
import { machine } from "../table.ts";
import { faultOfPeer, measurePeers } from "./measure.ts";
import { type PeerResult, speedChart, speedPage } from "./page.ts";
import { PEERS, type Peer, type Running } from "./peer.ts";

const DOCS = join(import.meta.dirname, "../../docs");
const OURS = "arborgate";

type Prepared = { readonly peer: Peer; readonly version: string | null } & (
  | { readonly running: Running }
  | { readonly reason: string }
);

/** Measures all configurations that can be installed and writes the page. Throws WrongResult when ours answers wrongly. */
export async function comparePeers(quick: boolean): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-bench-peers-"));
  try {
    const results = await onStage({}, async (stage) => {
      const prepared: Prepared[] = [];
      try {
        for (const peer of PEERS) prepared.push(await prepare(peer, stage, join(directory, peer.name)));
        return await measureAll(stage, prepared, quick);
      } finally {
        await Promise.all(prepared.map((one) => stopUnlessOnStage(one, stage)));
      }
    });
    writeFileSync(join(DOCS, "speed.md"), speedPage(results, { machine: machine(), quick }));
    writeFileSync(join(DOCS, "speed.svg"), speedChart(results));
    console.log("written: docs/speed.md, docs/speed.svg");
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function prepare(peer: Peer, stage: Stage, directory: string): Promise<Prepared> {
  console.error(`${peer.name} …`);
  const installed = await peer.install();
  if (!installed.ok) return { peer, version: null, reason: installed.reason };
  mkdirSync(directory);
  const running = await peer.start(stage, directory, installed.command);
  const prepared: Prepared = { peer, version: installed.version, running };
  // The stage has compared the answers of its own.
  const fault = isOnStage(running, stage) ? null : await faultOfPeer(stage, running);
  if (fault === null) return prepared;
  await running.process.stop();
  return { peer, version: installed.version, reason: `not measured: ${fault}` };
}

const isOnStage = ({ process }: Running, stage: Stage): boolean =>
  process === stage.service || process === stage.passThrough;

/** The stage ends its own processes. */
async function stopUnlessOnStage(prepared: Prepared, stage: Stage): Promise<void> {
  if ("running" in prepared && !isOnStage(prepared.running, stage)) await prepared.running.process.stop();
}

async function measureAll(
  stage: Stage,
  prepared: readonly Prepared[],
  quick: boolean,
): Promise<PeerResult[]> {
  const running = prepared.flatMap((one) => ("running" in one ? [one.running] : []));
  const figures = await measurePeers(stage, running, quick);
  return prepared.map((one): PeerResult => {
    const { name, does } = one.peer;
    return {
      name,
      does,
      version: one.version,
      isOurs: name === OURS,
      outcome:
        "running" in one
          ? { ok: true, figures: figures[running.indexOf(one.running)]! }
          : { ok: false, reason: one.reason },
    };
  });
}
