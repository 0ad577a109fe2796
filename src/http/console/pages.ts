// The console in a browser: one page at /console and at every address below it, and the files that it loads. It asks for no key,
// since the page asks the API with its reader's own. It must know nothing of what is in the files.

import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Random } from "../../base/clock.ts";
import { errorResponse, httpError } from "../errors.ts";
import type { ListenerParts } from "../management.ts";
import { operation } from "../operation.ts";
import { emptyUndecodedParts, pathOf, requestIdOf } from "../request-head.ts";
import { parameter } from "../schemas.ts";
import { webResponseOf } from "../web-messages.ts";
import type { ConsoleFiles } from "./build.ts";
import { fileAnswer } from "./file-answer.ts";
import { freshNonce, indexPage, securityHeaders } from "./index-page.ts";

/** What these endpoints need. */
export interface ConsoleParts extends Pick<ListenerParts, "servesAdministration"> {
  readonly consoleFiles: ConsoleFiles;
  readonly random: Random;
}

const HTML = "text/html; charset=utf-8";
const TEXT = "text/plain; charset=utf-8";
/** The page names files of one build, and its nonce is for one reader. */
const NEVER_KEPT = { "cache-control": "no-store" };
/** The browser asks again by itself, for the service to be there soon. */
const AGAIN_SOON = { "retry-after": "2", refresh: "2" };

const NOT_BUILT =
  "The console is not built. Run `npm run build:console` where its sources are; the service serves what lies in .cache/console";

/** `/console`, the addresses below it, and the redirection of `/` to it. */
export function consolePages(parts: ConsoleParts) {
  const { consoleFiles, random, servesAdministration } = parts;

  const refused = (request: Request, message: string): Response =>
    webResponseOf(
      errorResponse(httpError({ code: "not_found", message }), {
        ...securityHeaders(null),
        ...NEVER_KEPT,
        "x-request-id": requestIdOf(request, random),
      }),
    );

  async function page(request: Request): Promise<Response> {
    const path = pathOf(request.url);
    if (isBelow(path, "/console/files") || (!servesAdministration && isBelow(path, "/console/admin"))) {
      return refused(request, `There is nothing at ${path.slice(0, 200)}.`);
    }
    const build = await consoleFiles.build();
    switch (build.kind) {
      case "absent":
        return refused(request, NOT_BUILT);
      case "unready": {
        const headers = { ...securityHeaders(null), ...NEVER_KEPT, ...AGAIN_SOON, "content-type": TEXT };
        return new Response(`${build.reason}\n`, { status: 503, headers });
      }
      case "built": {
        const nonce = freshNonce(random);
        const headers = { ...securityHeaders(nonce), ...NEVER_KEPT, "content-type": HTML };
        return new Response(indexPage(build.manifest, { nonce, servesAdministration }), { headers });
      }
    }
  }

  async function file(request: Request, name: string): Promise<Response> {
    const accepted = request.headers.get("accept-encoding");
    const answer = await fileAnswer(consoleFiles, name, accepted, servesAdministration);
    return answer ?? refused(request, "The console has no such file.");
  }

  return new Elysia({ normalize: false })
    .onTransform(({ params }) => emptyUndecodedParts(params))
    .get("/", () => new Response(null, { status: 302, headers: { location: "/console" } }), {
      detail: operation({
        tag: "Machines",
        operationId: "redirectToConsole",
        summary: "Go to the console, in a browser",
        answerContent: PAGE,
        otherResponses: { 302: { description: "To /console" } },
      }),
    })
    .get("/console", ({ request }) => page(request), {
      detail: operation({
        ...PAGE_OPERATION,
        operationId: "getConsole",
        summary: "Get the console, in a browser",
      }),
    })
    .get("/console/*", ({ request }) => page(request), {
      params: Type.Object({ "*": parameter(Type.String(), "What stands behind /console/.") }),
      detail: operation({
        ...PAGE_OPERATION,
        operationId: "getConsolePage",
        summary: "Get the console at the address of one of its pages",
        description: "The same page at every address: which page is shown is decided in the browser.",
        wildcard: "page",
      }),
    })
    .get("/console/files/:file", ({ request, params }) => file(request, params.file), {
      params: Type.Object({ file: parameter(Type.String(), "Its name.") }),
      detail: operation({
        tag: "Machines",
        operationId: "getConsoleFile",
        summary: "Get a file of the console",
        requestHeaders: { "Accept-Encoding": "With `br` or `gzip` the file comes compressed." },
        answerContent: {
          "text/javascript": Type.String(),
          "text/css": Type.String(),
          "image/svg+xml": Type.String(),
        },
        errors: ["not_found"],
      }),
    });
}

const PAGE = { "text/html": Type.String() };

const PAGE_OPERATION = {
  tag: "Machines",
  answerContent: PAGE,
  otherResponses: {
    503: { description: "It is being built, or could not be", content: { "text/plain": Type.String() } },
  },
  errors: ["not_found"],
} as const;

/** Whether a path is an address or one below it, however it is written: pages are found without regard to case. */
const isBelow = (path: string, address: string): boolean => {
  const plain = decoded(path).toLowerCase();
  return plain === address || plain.startsWith(`${address}/`);
};

/** Returns a path as browsers show it; one that cannot be decoded names no page. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) return path;
    throw error;
  }
}
