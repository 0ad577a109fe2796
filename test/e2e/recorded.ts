// What the service answered in the tests of this run: a bounded sample for each endpoint and status, which the test of the
// document compares with what is promised there. Nothing here asserts.

export interface Recorded {
  readonly method: string;
  /** Without query. */
  readonly path: string;
  readonly status: number;
  /** The media type, without parameters; null: none was said. */
  readonly type: string | null;
  readonly text: string;
}

interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** How many answers are kept for one kind of address and one status. */
const SAMPLE = 30;
/** Larger answers are like smaller ones. */
const TEXT_MOST = 65_536;

const samples = new Map<string, Recorded[]>();

/** What is kept of an answer. `address`: path and query. */
export const recordOf = (method: string, address: string, { status, headers, text }: Seen): Recorded => ({
  method,
  path: address.split("?", 1)[0]!,
  status,
  type: headers.get("content-type")?.split(";", 1)[0] ?? null,
  text,
});

/** Keeps an answer while there is room for its kind. */
export function record(method: string, address: string, answer: Seen): void {
  const kept = recordOf(method, address, answer);
  const kind = `${method} ${kindOf(kept.path)} ${kept.status} ${kept.type}`;
  const sample = samples.get(kind) ?? [];
  if (sample.length >= SAMPLE || kept.text.length > TEXT_MOST) return;
  sample.push(kept);
  samples.set(kind, sample);
}

/** All that is kept. */
export const recorded = (): readonly Recorded[] => [...samples.values()].flat();

/** Ids, names and models are all the same. */
function kindOf(path: string): string {
  const [, first = "", second, ...more] = path.slice(0, 200).split("/");
  if (first === "v1" || first === "dashboard")
    return `/${first}/${second ?? ""}${more.length > 0 ? `/${more[0]}` : ""}`;
  return second === undefined ? `/${first}` : `/${first}/:`;
}
