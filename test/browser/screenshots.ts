// Where pictures of pages are kept, and the contact sheet of them all, which Chromium makes of a page of its own. `npm run
// screenshots` takes all pictures again; the sheet alone is made by running this file.

import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { closeShared } from "../shared.ts";
import { openBrowser } from "./browser.ts";

const FOLDER = resolve(import.meta.dir, "../../.cache/screenshots");
const SHEET = "contact-sheet";

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

const sheetPage = (names: readonly string[]): string => `<!doctype html>
<meta charset="utf-8"><title>Pages of the console</title>
<style>
body { margin: 24px; font: 13px sans-serif; background: #8a8f98; }
main { display: grid; grid-template-columns: repeat(8, 240px); gap: 16px; align-items: start; }
figure { margin: 0; }
figcaption { color: #fff; padding: 4px 0; overflow-wrap: anywhere; }
img { width: 240px; max-height: 330px; object-fit: cover; object-position: top; display: block; }
</style>
<main>${names.map((name) => `<figure><figcaption>${name}</figcaption><a href="${name}.png"><img src="${name}.png" alt="${name}"></a></figure>`).join("\n")}</main>
`;

/** Makes the contact sheet, as a page and as a picture; returns the path of the picture. */
export async function makeContactSheet(): Promise<string> {
  const page = join(FOLDER, `${SHEET}.html`);
  const picture = screenshotPath(SHEET);
  writeFileSync(page, sheetPage(pictures()));
  const tab = await (await openBrowser()).newPage({ viewport: { width: 2_080, height: 1_000 } });
  await tab.goto(`file://${page}`, { waitUntil: "load" });
  await tab.screenshot({ path: picture, fullPage: true });
  await tab.close();
  return picture;
}

if (import.meta.main) {
  console.log(await makeContactSheet());
  await closeShared();
}
