// Maps whatever a route of Elysia throws to an error response, and ends the management request with it. The one root handler,
// registered before all routes: the first handler that answers wins.

import { ValidationError } from "elysia";
import type { Random } from "../base/clock.ts";
import type { Refusal } from "../base/errors.ts";
import type { HeaderReader } from "../base/header-reader.ts";
import type { Log } from "../base/log.ts";
import { omissionOf } from "../gateway/endpoints.ts";
import { asManagement, errorAt, httpError, INTERNAL, refusalOf } from "./errors.ts";
import { ruleOf } from "./request-body.ts";
import { pathOf, requestIdOf } from "./request-head.ts";
import type { RoutedCall } from "./routed-requests.ts";
import type { ServerResponse } from "./server/server-response.ts";
import { webResponseOf } from "./web-messages.ts";

/** A route that the listener serves. */
export interface ServedRoute {
  readonly method: string;
  /** As the router has it: `:name` for a part, a star at the end for one part or more. */
  readonly path: string;
}

/** What is known of a failed request. */
interface Failure {
  readonly request: Request;
  readonly code: unknown;
  readonly error: unknown;
  /** Undefined where the route is not a management endpoint, or the failure came before. */
  readonly call?: RoutedCall | undefined;
}

/** Creates the handler. `routes`: all that this listener serves. */
export function errorHandler(
  { random, log }: { readonly random: Random; readonly log: Log },
  routes: () => readonly ServedRoute[],
) {
  return async ({ request, code, error, call }: Failure): Promise<Response> => {
    const requestId = call?.requestId ?? requestIdOf(request, random);
    const path = pathOf(request.url);
    const respond = errorAt(path, request.headers);
    const headers = { "x-request-id": requestId };
    if (code === "NOT_FOUND") {
      const { pathname } = new URL(request.url);
      const { method, headers: given } = request;
      return webResponseOf(notFound(routes(), { method, path: pathname, headers: given }, headers));
    }
    const refusal = refusalFor(code, error, request.method);
    // The text of a validation error holds what was sent, so it is never logged.
    if (refusal === null) {
      const text = error instanceof ValidationError ? "an answer does not fit its schema" : String(error);
      log("error", "request_failed", { requestId, path, error: text });
    }
    await call?.fail(refusal ?? INTERNAL);
    const found = httpError(refusal ?? INTERNAL);
    return webResponseOf(
      respond(call === undefined || call.isCharged ? found : asManagement(found), headers),
    );
  };
}

/** Returns null for a bug. */
function refusalFor(code: unknown, error: unknown, method: string): Refusal | null {
  if (error instanceof ValidationError) {
    if (error.type === "response") return null;
    const what = error.type === "query" ? "the query" : error.type === "body" ? "the body" : "the path";
    const [rule, message] = ruleOf(error.valueError, what);
    return { code: rule, message };
  }
  // A part of the path that Elysia cannot decode, such as %E0%A4%A.
  if (error instanceof URIError || code === "PARSE") {
    return { code: "invalid_parameter", message: "The address is not well-formed." };
  }
  return refusalOf(error, method !== "GET" && method !== "HEAD");
}

/** What tells which route a request is for. */
interface Routed {
  readonly method: string;
  readonly path: string;
  readonly headers: HeaderReader;
}

/** Answers 404, or 405 with `Allow` where the path is known; of a path that is left out it says why. */
export function notFound(
  routes: readonly ServedRoute[],
  { method, path, headers: given }: Routed,
  headers: Record<string, string>,
): ServerResponse {
  const respond = errorAt(path, given);
  const matching = routes.filter((route) => matchesPath(route.path, path));
  const allowed = [...new Set(matching.map((route) => route.method))];
  const omission = omissionOf(path);
  if (allowed.length === 0 || omission !== null) {
    const message = `There is nothing at ${path.slice(0, 200)}${omission === null ? "" : `: ${omission}`}.`;
    return respond(httpError({ code: "not_found", message }), headers);
  }
  const message = `${method} is not possible here, but ${allowed.join(", ")}.`;
  const allow = allowed.join(", ");
  return respond(httpError({ code: "method_not_allowed", message }), { ...headers, allow });
}

/** Returns whether a path fits the pattern of a route. */
export function matchesPath(pattern: string, path: string): boolean {
  const wanted = pattern.split("/");
  const parts = path.split("/");
  // A star stands for one part or more.
  if (wanted.at(-1) === "*" && parts.length >= wanted.length) parts.length = wanted.length;
  const fits = (part: string, i: number) =>
    part === parts[i] || (parts[i] !== "" && (part === "*" || part.startsWith(":")));
  return wanted.length === parts.length && wanted.every(fits);
}
