// The packages that a release contains, as bun.lock names them: what the service runs with, and what the console is built from.
// Read from the lock file and from the metadata of the installation; nothing is asked of a registry.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const HOME = join(import.meta.dirname, "..");

/** A package at one version. */
export interface ShippedPackage {
  /** Its place in the lock file: its name, behind those of the packages in whose folder it lies. */
  readonly place: string;
  readonly name: string;
  readonly version: string;
  /** The hash of its archive as the lock file has it: `sha512-` and base64. */
  readonly integrity: string;
  /** The license as its metadata states it; null where it states none. */
  readonly license: string | null;
  /** The part of the release that needs it; the service, where both do. */
  readonly part: "service" | "console";
  /** Places of the packages that it needs. */
  readonly needs: readonly string[];
}

/** A row of the lock file: name and version, registry, metadata, hash. */
type LockRow = readonly [spec: string, registry: string, meta: LockMeta, integrity: string];
interface LockMeta {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface LockFile {
  readonly packages: Readonly<Record<string, LockRow>>;
}

interface Metadata {
  readonly license?: string | { readonly type?: string };
  readonly licenses?: readonly { readonly type?: string }[];
}

/** Returns every package that is shipped, by its place, in the order of places. Throws for one that is not installed. */
export function shippedPackages(): ReadonlyMap<string, ShippedPackage> {
  const { packages } = Bun.JSONC.parse(readFileSync(join(HOME, "bun.lock"), "utf8")) as LockFile;
  const { dependencies } = JSON.parse(readFileSync(join(HOME, "package.json"), "utf8"));
  const shipped = new Map<string, ShippedPackage>();
  const visit = (place: string, part: ShippedPackage["part"]): void => {
    if (shipped.has(place)) return;
    const [spec, , meta, integrity] = packages[place]!;
    const optional = Object.keys(meta.optionalDependencies ?? {});
    const needs = [...Object.keys(meta.dependencies ?? {}), ...optional]
      .map((name) => ({ name, at: resolvePlace(packages, place, name) }))
      // What is optional is there on some platforms alone.
      .filter(({ name, at }) => !optional.includes(name) || (at !== null && existsSync(folderOf(at))))
      .map(({ at }) => at!);
    const at = spec.lastIndexOf("@");
    shipped.set(place, {
      ...{ place, name: spec.slice(0, at), version: spec.slice(at + 1), integrity, part, needs },
      license: licenseIn(join(folderOf(place), "package.json")),
    });
    for (const need of needs) visit(need, part);
  };
  for (const name of Object.keys(dependencies)) visit(name, "service");
  for (const name of consoleImports()) visit(name, "console");
  return new Map([...shipped].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Names of the packages that modules and style sheets of the console import. */
function consoleImports(): string[] {
  const home = join(HOME, "console");
  const modules = (readdirSync(home, { recursive: true }) as string[]).filter((path) => /\.tsx?$/.test(path));
  const imported = modules.flatMap((path) => {
    const loader = path.endsWith("x") ? "tsx" : "ts";
    return new Bun.Transpiler({ loader }).scanImports(readFileSync(join(home, path), "utf8"));
  });
  const names = imported
    .map(({ path }) => path)
    .filter((path) => !path.startsWith("."))
    .map((path) =>
      path
        .split("/")
        .slice(0, path.startsWith("@") ? 2 : 1)
        .join("/"),
    );
  return [...new Set(names)].sort();
}

/** The place of what a package imports by a name: in its own folder, or in that of one above; null where there is none. */
function resolvePlace(packages: LockFile["packages"], from: string, name: string): string | null {
  const inside = `${from}/${name}`;
  if (inside in packages) return inside;
  const above = from.replace(/\/?(?:@[^/]+\/)?[^/]+$/, "");
  if (above !== "") return resolvePlace(packages, above, name);
  return name in packages ? name : null;
}

/** The folder of a place: `a/@b/c` lies in `node_modules/a/node_modules/@b/c`. */
const folderOf = (place: string): string =>
  join(HOME, "node_modules", place.replace(/(?<=^|\/)((?:@[^/]+\/)?[^/@]+)\//g, "$1/node_modules/"));

function licenseIn(path: string): string | null {
  const { license, licenses }: Metadata = JSON.parse(readFileSync(path, "utf8"));
  if (typeof license === "string") return license;
  const [first] = licenses ?? [];
  return license?.type ?? first?.type ?? null;
}
