// `npm run build:console [DIRECTORY [HOME]]`: builds the console (console/README.md) into .cache/console, or another directory, unless
// what is there was built from the same sources; from this installation, or from another folder that has a console/ and a lock file.
// Each file has a hash of its content in its name and lies there as it is and compressed, as `NAME`, `NAME.br` and `NAME.gz`.
// The manifest is written last and by renaming, so that a reader never sees half a build, also when two build at once. Files of
// earlier builds stay for a day, since open pages still ask for them. It must not run inside a server.

import { access, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { ConsoleFile, ConsoleManifest } from "../src/http/console/build.ts";

const HOME = resolve(process.argv[3] ?? join(import.meta.dirname, ".."));
const SOURCES = join(HOME, "console");
/** Where files are served. */
const PUBLIC_PATH = "/console/files/";
const ENTRY = "console/main.tsx";
/** Modules below it and what only they need are administration's. */
const ADMINISTRATION = "console/pages/admin/";
/** How long a file of an earlier build stays. */
const KEPT_MS = 86_400_000;
/** A hundredth larger than with the highest quality, in less than half of its time. */
const BROTLI_QUALITY = 10;

/** A file of the console with its content. */
interface BuiltFile extends ConsoleFile {
  readonly bytes: Uint8Array;
}

/** The kit, whose style sheet has a part for each component. */
const KIT = "@mantine/core/styles.css";
/** Style sheets that follow it, as modules of the console would name them. */
const FURTHER_STYLES = ["@mantine/notifications/styles.css", "@mantine/spotlight/styles.css"];
/** Our own style sheets, in the order of their names; they come last, so that they overrule the others. */
const OWN_STYLES = join(SOURCES, "styles");
/** A class of the kit. */
const KIT_CLASS = /\bm_[0-9a-f]+\b/g;

const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";
const ICON = "image/svg+xml";

/** Returns the hash over all that a build depends on: names and contents of the sources, the libraries, this script. */
async function hashSources(): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  const names = (await readdir(SOURCES, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".md"))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const name of [...names, join(HOME, "bun.lock"), import.meta.filename]) {
    hash
      .update(`${relative(HOME, name)}\n`)
      .update(await readFile(name))
      .update("\n");
  }
  return hash.digest("hex");
}

/**
 * Joins the style sheets of all pages: a style that came with a page's own chunk would stand after ours and overrule it. The rules
 * stay as they are: the bundler would translate them for browsers of 2020, half as large again.
 */
async function buildStyle(scripts: readonly BuiltFile[]): Promise<BuiltFile> {
  const own = (await readdir(OWN_STYLES)).filter((name) => name.endsWith(".css")).sort();
  const further = [
    ...FURTHER_STYLES.map((name) => Bun.resolveSync(name, SOURCES)),
    ...own.map((name) => join(OWN_STYLES, name)),
  ].map((path) => readFile(path, "utf8"));
  const texts = [...(await kitStyles(scripts)), ...(await Promise.all(further))];
  return publicFile("main", "css", STYLE, withoutBlanks(texts.join("\n")));
}

/**
 * Returns the style sheets of the components that are in the scripts, and those without classes, in the order of the whole: general
 * ones come first, and a component's after those of the components that it is made of.
 */
async function kitStyles(scripts: readonly BuiltFile[]): Promise<string[]> {
  const whole = Bun.resolveSync(KIT, SOURCES);
  const order = await readFile(whole, "utf8");
  const used = new Set(scripts.flatMap(({ bytes }) => Buffer.from(bytes).toString().match(KIT_CLASS) ?? []));
  const folder = join(dirname(whole), "styles");
  const names = (await readdir(folder)).filter((name) => /^[\w-]+\.css$/.test(name));
  const sheets = await Promise.all(
    names.map(async (name) => (await readFile(join(folder, name), "utf8")).trim()),
  );
  return sheets
    .filter((sheet) => {
      const classes = sheet.match(KIT_CLASS);
      return classes === null || classes.some((one) => used.has(one));
    })
    .map((sheet) => ({ sheet, at: order.indexOf(sheet) }))
    .sort((a, b) => a.at - b.at)
    .map(({ sheet }) => sheet);
}

/** Returns a style sheet without comments and without blanks that mean nothing. What stands in quotes is kept as it is. */
const withoutBlanks = (css: string): string =>
  css
    .replace(CSS_TOKEN, (token, quoted: string | undefined) => quoted ?? (token.startsWith("/*") ? "" : " "))
    .replace(CSS_MARK, (_, quoted: string | undefined, mark: string) => quoted ?? mark);

const CSS_QUOTED = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')/.source;
/** A quoted text, a comment, or blanks. */
const CSS_TOKEN = new RegExp(`${CSS_QUOTED}|/\\*[\\s\\S]*?\\*/|\\s+`, "g");
/** A quoted text, or a mark beside which blanks mean nothing. The last semicolon of a rule means nothing either. */
const CSS_MARK = new RegExp(`${CSS_QUOTED}| ?(?:; ?)?([{}]|[;,]) ?`, "g");

/** Returns a file that is no module, with a hash of its content in its name as the bundler's files. */
function publicFile(name: string, extension: string, type: string, text: string): BuiltFile {
  const hash = Bun.hash(text).toString(36).padStart(8, "0").slice(-8);
  return { name: `${name}-${hash}.${extension}`, type, isAdministration: false, bytes: Buffer.from(text) };
}

/** Builds the classic script that runs before the page is drawn. */
async function buildColorScheme(): Promise<BuiltFile> {
  const built = await Bun.build({
    ...{ entrypoints: [join(SOURCES, "color-scheme.ts")], target: "browser", format: "iife", minify: true },
  });
  return publicFile("color-scheme", "js", SCRIPT, await built.outputs[0]!.text());
}

const buildIcon = async (): Promise<BuiltFile> =>
  publicFile("icon", "svg", ICON, await readFile(join(SOURCES, "icon.svg"), "utf8"));

/** Builds the application, whose first file is its entry. Throws when a module imports anything but modules. */
async function buildApplication(): Promise<[BuiltFile, ...BuiltFile[]]> {
  // No `minChunkSize`: it would fold what only pages of administration share into chunks that everybody loads.
  const built = await Bun.build({
    ...{ entrypoints: [join(HOME, ENTRY)], root: SOURCES, publicPath: PUBLIC_PATH },
    ...{ target: "browser", format: "esm", splitting: true, minify: true, sourcemap: "none", metafile: true },
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
    jsx: { runtime: "automatic", development: false },
  });
  const strange = built.outputs.find(({ path }) => !path.endsWith(".js"));
  if (strange !== undefined)
    throw new Error(`${strange.path}: modules import modules, and styles are joined apart`);
  const open = publicOutputs(built.metafile!.outputs);
  const [entry, ...chunks] = await Promise.all(
    built.outputs
      .toSorted((a, b) => Number(b.kind === "entry-point") - Number(a.kind === "entry-point"))
      .map(async (output) => ({
        name: output.path.replace("./", ""),
        type: SCRIPT,
        isAdministration: !open.has(output.path),
        bytes: new Uint8Array(await output.arrayBuffer()),
      })),
  );
  return [entry!, ...chunks];
}

type Outputs = NonNullable<Bun.BuildOutput["metafile"]>["outputs"];

/**
 * Returns the files that are not administration's: all that the entry reaches without going through a page of administration. A
 * chunk that both kinds of page use is thus public, one that only administration's pages use is theirs, also where it holds
 * components or libraries. Throws when a public file contains a page of administration: something imported it at once.
 */
function publicOutputs(outputs: Outputs): Set<string> {
  const open = new Set<string>();
  const isPage = (path: string) => outputs[path]?.entryPoint?.startsWith(ADMINISTRATION) === true;
  const visit = (path: string): void => {
    if (open.has(path) || isPage(path) || outputs[path] === undefined) return;
    open.add(path);
    for (const { path: next } of outputs[path].imports) visit(next);
  };
  for (const [path, { entryPoint }] of Object.entries(outputs)) {
    if (entryPoint === ENTRY) visit(path);
  }
  for (const path of open) {
    const secret = Object.keys(outputs[path]!.inputs).find((input) => input.startsWith(ADMINISTRATION));
    if (secret !== undefined)
      throw new Error(`${secret} is imported at once, so that ${path} would be public with it`);
  }
  return open;
}

/** Writes a file so that it is there whole or not at all. */
async function writeWhole(path: string, bytes: Uint8Array | string): Promise<void> {
  const beside = `${path}.${process.pid}.tmp`;
  await writeFile(beside, bytes);
  await rename(beside, path);
}

async function writeCompressed(directory: string, { name, bytes }: BuiltFile): Promise<void> {
  const path = join(directory, name);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  await Promise.all([
    writeWhole(path, bytes),
    promisify(brotliCompress)(bytes, { params }).then((packed) => writeWhole(`${path}.br`, packed)),
    promisify(gzip)(bytes, { level: 9 }).then((packed) => writeWhole(`${path}.gz`, packed)),
  ]);
}

/** Returns when a file was written, in wall milliseconds; null when another build renamed or removed it meanwhile. */
const writtenAt = (path: string): Promise<number | null> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      throw error;
    },
  );

/** Removes files of builds of more than a day ago. */
async function removeOld(directory: string, current: ReadonlySet<string>): Promise<void> {
  const before = Date.now() - KEPT_MS;
  for (const name of await readdir(directory)) {
    if (current.has(name.replace(/\.(br|gz)$/, "")) || name === "manifest.json") continue;
    const path = join(directory, name);
    if (((await writtenAt(path)) ?? before) < before) await rm(path, { force: true });
  }
}

/** Whether what is there was built from these sources, and every file of it is there. */
async function isBuilt(directory: string, sources: string): Promise<boolean> {
  try {
    const manifest: ConsoleManifest = JSON.parse(await readFile(join(directory, "manifest.json"), "utf8"));
    const forms = manifest.files.flatMap(({ name }) => [name, `${name}.br`, `${name}.gz`]);
    await Promise.all(forms.map((name) => access(join(directory, name))));
    return manifest.sources === sources;
  } catch {
    // Whatever is wrong with it, a new build mends it.
    return false;
  }
}

/** Builds the console into a directory, unless it is there already. */
async function buildConsole(directory: string): Promise<void> {
  // Paths of inputs are relative to the working directory, and names of files contain their hash.
  process.chdir(HOME);
  const sources = await hashSources();
  if (await isBuilt(directory, sources)) return;
  await mkdir(directory, { recursive: true });
  const application = await buildApplication();
  const [style, colorScheme, icon] = await Promise.all([
    ...([buildStyle(application), buildColorScheme(), buildIcon()] as const),
  ]);
  const files = [...application, style, colorScheme, icon];
  await Promise.all(files.map((file) => writeCompressed(directory, file)));
  const manifest: ConsoleManifest = {
    sources,
    ...{ script: application[0].name, style: style.name, colorScheme: colorScheme.name, icon: icon.name },
    files: files.map(({ bytes: _, ...file }) => file),
  };
  await writeWhole(join(directory, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  await removeOld(directory, new Set(files.map(({ name }) => name)));
}

await buildConsole(resolve(process.argv[2] ?? join(HOME, ".cache/console")));
