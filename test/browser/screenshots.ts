// Where pictures of pages are kept, and the contact sheet of them all, which Chromium makes of a page of its own. `npm run
// screenshots` takes all pictures again; the sheet alone is made by running this file.

import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { closeShared } from "../shared.ts";
import { openBrowser } from "./browser.ts";

const FOLDER = resolve(import.meta.dir, "../../.cache/screenshots");
const SHEET = "contact-sheet";
/** CSS pixels of the columns of a sheet together. */
const SHEET_WIDTH = 2_048;

/** Whether pages are photographed in this run: always on CI, and when `SCREENSHOTS` is set. */
export const takesScreenshots = process.env.CI === "true" || (process.env.SCREENSHOTS ?? "") !== "";

/** The file of a picture, in a folder that is there. */
export function screenshotPath(name: string): string {
  mkdirSync(FOLDER, { recursive: true });
  return join(FOLDER, `${name}.png`);
}

/** The names of all pictures, without those of contact sheets. */
const pictures = (): string[] => {
  mkdirSync(FOLDER, { recursive: true });
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".png") && !name.startsWith(SHEET))
    .map((name) => name.slice(0, -".png".length))
    .sort();
};

/** Removes all pictures of former runs. */
export function clearScreenshots(): void {
  for (const name of pictures()) rmSync(screenshotPath(name));
}

/** What a picture is of: `ROLE-PAGE-WIDTH-SCHEME`, and a language that is not English. */
const variantOf = (name: string): string => /\d+-(?:light|dark).*$/.exec(name)?.[0] ?? "other";

const figure = (name: string): string =>
  `<figure><figcaption>${name}</figcaption><a href="${name}.png"><img src="${name}.png" alt="${name}"></a></figure>`;

const sheetPage = (names: readonly string[], columns: number, width: number): string => `<!doctype html>
<meta charset="utf-8"><title>Pages of the console</title>
<style>
body { margin: 24px; font: 13px sans-serif; background: #8a8f98; color: #fff; }
main { display: grid; grid-template-columns: repeat(${columns}, ${width}px); gap: 16px; align-items: start; }
h2 { grid-column: 1 / -1; margin: 16px 0 0; }
figure { margin: 0; }
figcaption { padding: 4px 0; overflow-wrap: anywhere; }
img { width: ${width}px; max-height: ${width * 1.4}px; object-fit: cover; object-position: top; display: block; }
</style>
<main>${[...Map.groupBy(names, variantOf)].map(([variant, all]) => `<h2>${variant}</h2>${all.map(figure).join("\n")}`).join("\n")}</main>
`;

/** Makes one sheet, as a page and as a picture of it; returns the path of the picture. */
async function makeSheet(
  tab: Page,
  sheet: string,
  names: readonly string[],
  columns: number,
): Promise<string> {
  const width = columns * Math.floor(SHEET_WIDTH / columns);
  const picture = screenshotPath(sheet);
  const page = picture.replace(/png$/, "html");
  writeFileSync(page, sheetPage(names, columns, width / columns - 16));
  await tab.goto(`file://${page}`, { waitUntil: "load" });
  await tab.screenshot({ path: picture, fullPage: true });
  return picture;
}

/** Makes a sheet of all pictures, and a larger one for each width and scheme; returns the path of the first. */
export async function makeContactSheet(): Promise<string> {
  const tab = await (await openBrowser()).newPage({ viewport: { width: SHEET_WIDTH + 48, height: 1_000 } });
  const all = pictures();
  for (const [variant, names] of Map.groupBy(all, variantOf)) {
    await makeSheet(tab, `${SHEET}-${variant}`, names, variant.startsWith("390") ? 8 : 4);
  }
  const picture = await makeSheet(tab, SHEET, all, 8);
  await tab.close();
  return picture;
}

if (import.meta.main) {
  console.log(await makeContactSheet());
  await closeShared();
}
