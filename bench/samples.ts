// Reads a .cpuprofile: attributes each sample to the innermost function that has a source, and what ran natively below it
// to the name it was called by.

export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  /** µs since 1970. */
  readonly startTime: number;
  /** µs since the sample before. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly children?: readonly number[];
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
  };
}

export interface Cost {
  readonly what: string;
  readonly ms: number;
}

export interface Costs {
  /** Largest first: the directory or package, or what was called natively. */
  readonly byPart: readonly Cost[];
  /** Largest first: function, line, and what it called natively. */
  readonly byPlace: readonly Cost[];
  readonly sampledMs: number;
}

/** A sample stands for the time since the one before; a longer gap was idleness, for an idle program is not sampled. */
const SAMPLE_MS_MAX = 2;

/** Adds up the samples between two moments, in wall-clock ms. */
export function costs(profile: CpuProfile, fromMs: number, toMs: number): Costs {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map<number, number>();
  for (const node of profile.nodes) for (const child of node.children ?? []) parents.set(child, node.id);

  const parts = new Map<string, number>();
  const places = new Map<string, number>();
  let atMs = profile.startTime / 1000;
  let sampledMs = 0;
  for (const [i, sample] of profile.samples.entries()) {
    const deltaMs = profile.timeDeltas[i]! / 1000;
    atMs += deltaMs;
    if (atMs < fromMs || atMs > toMs) continue;
    const ms = Math.min(deltaMs, SAMPLE_MS_MAX);
    const leaf = nodes.get(sample)!;
    const natives: string[] = [];
    let node: ProfileNode | undefined = leaf;
    while (node !== undefined && !hasSource(node)) {
      if (node.callFrame.functionName !== "") natives.push(node.callFrame.functionName);
      node = nodes.get(parents.get(node.id) ?? -1);
    }
    sampledMs += ms;
    const native = natives.filter((name) => name !== "(root)")[0];
    const called = native === undefined ? "" : ` → ${native}`;
    const place = node === undefined ? `(runtime)${called}` : `${placeOf(node)}${called}`;
    const part = node === undefined ? "(runtime)" : partOf(node, native);
    places.set(place, (places.get(place) ?? 0) + ms);
    parts.set(part, (parts.get(part) ?? 0) + ms);
  }
  return { byPart: ranked(parts), byPlace: ranked(places), sampledMs };
}

const hasSource = (node: ProfileNode): boolean => /[/\\]/.test(node.callFrame.url);

const ROOT = new URL("..", import.meta.url).pathname;

const pathOf = (node: ProfileNode): string =>
  node.callFrame.url.replace("file://", "").replace(ROOT, "").replace("node_modules/", "");

const placeOf = (node: ProfileNode): string =>
  `${pathOf(node)}:${node.callFrame.lineNumber + 1} ${node.callFrame.functionName}`;

/** Native calls that are worth a line of their own wherever they are made. */
const NATIVES: Readonly<Record<string, string>> = {
  fetch: "native: fetch",
  Response: "native: Response",
  parse: "native: JSON.parse",
  stringify: "native: JSON.stringify",
  decode: "native: TextDecoder",
};

function partOf(node: ProfileNode, native: string | undefined): string {
  const path = pathOf(node);
  if (path.startsWith("src/store/sqlite")) return "src/store, SQLite included";
  const known = native === undefined ? undefined : NATIVES[native];
  if (known !== undefined) return known;
  const [first = "", second = ""] = path.split("/");
  return first === "src" || first === "actors" ? `${first}/${second}` : first;
}

const ranked = (spent: ReadonlyMap<string, number>): Cost[] =>
  [...spent].map(([what, ms]) => ({ what, ms })).sort((a, b) => b.ms - a.ms);
