// The one page of the console, and the headers of all its answers. The page has no script and no style of its own: it names files,
// and carries the nonce by which style elements that its scripts make are allowed.

import type { Random } from "../../base/clock.ts";
import type { ConsoleManifest } from "./build.ts";

/** Where files are served. */
const FILES = "/console/files/";

/** The headers that every answer carries. `nonce`: of style elements; null where there are none. */
export const securityHeaders = (nonce: string | null) => ({
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce === null ? "" : ` 'nonce-${nonce}'`}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
});

/** Characters at the end of an id that are chance: 80 bits. */
const CHANCE_CHARACTERS = 16;

/** Returns a nonce that cannot be guessed: 160 random bits. */
export const freshNonce = (random: Random): string =>
  random.id().slice(-CHANCE_CHARACTERS) + random.id().slice(-CHANCE_CHARACTERS);

/** What the page says of the listener that serves it. */
export interface PageFacts {
  readonly nonce: string;
  /** Whether pages of administration are served here too. */
  readonly servesAdministration: boolean;
}

/** Returns the text of the page. Names and nonce are letters, digits, dots and dashes, which HTML takes as they are. */
export const indexPage = (
  { script, style, colorScheme, icon }: ConsoleManifest,
  { nonce, servesAdministration }: PageFacts,
): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta name="csp-nonce" content="${nonce}">
<meta name="administration" content="${servesAdministration ? "here" : "elsewhere"}">
<title>arborgate</title>
<link rel="icon" type="image/svg+xml" href="${FILES}${icon}">
<link rel="stylesheet" href="${FILES}${style}">
<script src="${FILES}${colorScheme}"></script>
</head>
<body>
<div id="root"></div>
<noscript>The console needs JavaScript.</noscript>
<script type="module" src="${FILES}${script}"></script>
</body>
</html>
`;
