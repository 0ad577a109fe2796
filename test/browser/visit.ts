// A tab of the console as one role sees it: signed in, at a width, in a colour scheme and a language. It notes whatever a page must
// never do: break its Content-Security-Policy, complain on the console, throw, fail to load something, ask another host. It can also
// ask axe-core, and take a picture. Many pages are visited in one tab, because a context for each would cost more than the page.

import { AxeBuilder } from "@axe-core/playwright";
import type { BrowserContext, Page, Response } from "playwright-core";
import { until } from "../e2e/harness.ts";
import { openBrowser } from "./browser.ts";
import { screenshotPath } from "./screenshots.ts";
import type { Role, World } from "./world.ts";

/** The name under which the console keeps the API key of its tab, in session storage. */
export const KEY_STORAGE_NAME = "arborgate.key";

/** How a page is looked at. */
export interface Look {
  /** CSS pixels; below 600 it is a phone. */
  readonly width?: number;
  readonly scheme?: "light" | "dark";
  readonly language?: "en" | "zh";
}

export interface VisitorOptions extends Look {
  /** The API key that signs in; null: nobody does. Without it the main key of the role. */
  readonly key?: string | null;
  /** Whether to visit the address of administration, where it has its own. */
  readonly atAdminPort?: boolean;
}

/** What a page did that no page may do. */
interface Finding {
  readonly kind: "policy" | "console" | "thrown" | "failed" | "another host";
  readonly text: string;
}

const LOCALES = { en: "en-GB", zh: "zh-CN" } as const;
/** A bound of waiting, not a judgement. */
const PATIENCE_MS = 20_000;
const PHONE_WIDTH_MAX = 600;

/** What a tab needs of the world that it is opened in. */
export interface Visited extends Pick<World, "adminUrl" | "aheadMs" | "account"> {
  readonly bench: Pick<World["bench"], "url">;
}

/** Opens a tab for a role, in a context of its own. Close it when its tests are done. */
export async function openVisitor(
  world: Visited,
  role: Role,
  options: VisitorOptions = {},
): Promise<Visitor> {
  const { width = 1280, scheme = "light", language = "en", atAdminPort = false } = options;
  const isPhone = width < PHONE_WIDTH_MAX;
  const address = atAdminPort ? world.adminUrl : world.bench.url;
  const browser = await openBrowser();
  const context = await browser.newContext({
    baseURL: address,
    viewport: { width, height: isPhone ? 844 : 860 },
    colorScheme: scheme,
    locale: LOCALES[language],
    // Local times differ from UTC, so that a page which mixes them up is seen.
    timezoneId: "Europe/Berlin",
    // What moves by itself would be caught half-way by pictures.
    reducedMotion: "reduce",
    ...(isPhone ? { hasTouch: true, isMobile: true } : {}),
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const findings: Finding[] = [];
  await context.exposeBinding(
    "noteViolation",
    (_, text: string) => void findings.push({ kind: "policy", text }),
  );
  const key = options.key === undefined ? world.account(role).key : options.key;
  await context.addInitScript(prepareDocument, {
    ...{ storageName: KEY_STORAGE_NAME, key, aheadMs: world.aheadMs },
  });
  const variant = `${width}-${scheme}${language === "en" ? "" : `-${language}`}`;
  const page = await context.newPage();
  return new Visitor({ context, page, findings, width, origin: new URL(address).origin, role, variant });
}

/** Runs in every new document before its scripts: reports violations, moves the clock to business time, signs in once. */
function prepareDocument(given: { storageName: string; key: string | null; aheadMs: number }): void {
  const { noteViolation } = globalThis as unknown as { noteViolation(text: string): void };
  document.addEventListener("securitypolicyviolation", (event) => {
    const { effectiveDirective, blockedURI, sample, sourceFile, lineNumber } = event;
    noteViolation(`${effectiveDirective} forbids ${blockedURI} ${sample} (${sourceFile}:${lineNumber})`);
  });
  globalThis.Date = new Proxy(Date, {
    construct: (target, given_, newTarget) =>
      Reflect.construct(target, given_.length === 0 ? [target.now() + given.aheadMs] : given_, newTarget),
    apply: (target) => new target(target.now() + given.aheadMs).toString(),
    get: (target, name) => (name === "now" ? () => target.now() + given.aheadMs : Reflect.get(target, name)),
  });
  // A document without an origin, such as that of an empty tab, has no storage.
  if (location.origin === "null" || given.key === null) return;
  // A tab that has signed out stays so when it is loaded again.
  const mark = "test.signed-in";
  if (sessionStorage.getItem(mark) !== null) return;
  sessionStorage.setItem(mark, "yes");
  sessionStorage.setItem(given.storageName, given.key);
}

interface Tab {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly findings: Finding[];
  readonly width: number;
  readonly origin: string;
  readonly role: Role;
  /** Width, scheme and language in a word. */
  readonly variant: string;
}

export class Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly #tab: Tab;
  /** Requests that have begun, and those that have not ended. */
  #begun = 0;
  #open = 0;

  constructor(tab: Tab) {
    this.page = tab.page;
    this.context = tab.context;
    this.#tab = tab;
    this.#listen();
  }

  #listen(): void {
    const { findings, origin } = this.#tab;
    const note = (kind: Finding["kind"], text: string): void => void findings.push({ kind, text });
    this.page.on("console", (message) => {
      if (message.type() === "error") note("console", `${message.text()} (${message.location().url})`);
    });
    this.page.on("pageerror", (error) => note("thrown", error.stack ?? String(error)));
    this.page.on("request", (request) => {
      this.#begun++;
      this.#open++;
      const url = new URL(request.url());
      if (url.protocol !== "data:" && url.origin !== origin) note("another host", request.url());
    });
    this.page.on("requestfinished", () => void this.#open--);
    this.page.on("requestfailed", (request) => {
      this.#open--;
      const reason = request.failure()?.errorText ?? "";
      // A page that is left ends what it has asked.
      if (reason !== "net::ERR_ABORTED") note("failed", `${request.method()} ${request.url()} ${reason}`);
    });
  }

  /** Loads the page at a path, and waits for its heading of the first level and until it is complete. */
  async goto(path: string, heading: string | RegExp): Promise<Response | null> {
    const response = await this.page.goto(path, { waitUntil: "load" });
    await this.page.getByRole("heading", { level: 1, name: heading }).waitFor();
    await this.settled();
    return response;
  }

  /** Goes to a path as a link of the console does, without loading the page anew. */
  async follow(path: string, heading: string | RegExp): Promise<void> {
    await this.page.evaluate((to) => history.pushState(null, "", to), path);
    await this.page.getByRole("heading", { level: 1, name: heading }).waitFor();
    await this.settled();
  }

  /** Waits until nothing is asked any more, nothing says that it is busy, and all of it is painted. */
  async settled(): Promise<void> {
    await until("the page is complete", async () => {
      const begun = this.#begun;
      const isBusy = await this.page.evaluate(async () => {
        const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
        await frame();
        await frame();
        return document.querySelector('[aria-busy="true"]') !== null;
      });
      return !isBusy && this.#open === 0 && this.#begun === begun;
    });
  }

  /** Throws with all that was noted since the last call, but for what matches one of `expected`. */
  expectClean(...expected: readonly RegExp[]): void {
    const found = this.#tab.findings
      .splice(0)
      .map(({ kind, text }) => `${kind}: ${text}`)
      .filter((line) => !expected.some((one) => one.test(line)));
    if (found.length > 0) throw new Error(`${this.page.url()}:\n${found.join("\n")}`);
  }

  /** Throws with what axe-core finds of serious or critical impact; `contrast` asks it about colours alone. */
  async expectAccessible(rules: "all" | "contrast" = "all"): Promise<void> {
    // The other mode opens a second tab for each page, to gather what frames say, and there are none.
    const builder = new AxeBuilder({ page: this.page }).setLegacyMode(true);
    builder.options({
      resultTypes: ["violations"],
      ...(rules === "all" ? {} : { runOnly: { type: "rule", values: ["color-contrast"] } }),
    });
    const { violations } = await builder.analyze();
    const found = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    if (found.length === 0) return;
    const lines = found.flatMap(({ id, help, nodes }) => [
      `${id}: ${help}`,
      ...nodes.slice(0, 5).map(({ html, failureSummary }) => `  ${html.slice(0, 200)} ${failureSummary}`),
    ]);
    throw new Error(`${this.page.url()}:\n${lines.join("\n")}`);
  }

  /** Throws with the elements that stand out at the right where the page is wider than the screen. */
  async expectNoOverflow(): Promise<void> {
    const wide = await this.page.evaluate((width) => {
      if (document.documentElement.scrollWidth <= width) return [];
      const isScrolled = (element: Element | null): boolean =>
        element !== null &&
        (/auto|scroll|hidden|clip/.test(getComputedStyle(element).overflowX) ||
          isScrolled(element.parentElement));
      return [...document.body.querySelectorAll("*")]
        .filter((one) => one.getBoundingClientRect().right > width + 1 && !isScrolled(one.parentElement))
        .map((one) => one.outerHTML.slice(0, 160))
        .slice(0, 8)
        .concat(`${document.documentElement.scrollWidth} pixels in ${width}`);
    }, this.#tab.width);
    if (wide.length > 0) throw new Error(`${this.page.url()} is too wide:\n${wide.join("\n")}`);
  }

  /** Takes a picture of the whole page for the contact sheet. */
  async screenshot(name: string): Promise<void> {
    const { role, variant } = this.#tab;
    // A hidden caret and stopped animations are styles that the page's policy forbids.
    await this.page.screenshot({
      path: screenshotPath(`${role}-${name}-${variant}`),
      fullPage: true,
      caret: "initial",
      animations: "allow",
    });
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
