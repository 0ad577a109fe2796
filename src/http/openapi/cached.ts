// Bodies that stay the same as long as the process runs: a reader who has one already is told so and gets no second.

/** The body with its entity tag, or 304 for whoever sends that tag. */
export function matched(
  request: Request,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>>,
): Response {
  const etag = tagOf(body);
  const known = (request.headers.get("if-none-match") ?? "")
    .split(",")
    .map((one) => one.trim().replace(/^W\//, ""));
  const all = { ...headers, etag };
  return known.includes(etag) || known.includes("*")
    ? new Response(null, { status: 304, headers: all })
    : new Response(body, { headers: all });
}

/** By size and hash: as good as equal. */
const tagOf = (body: string | Uint8Array<ArrayBuffer>): string =>
  `"${body.length.toString(36)}-${Bun.hash(body).toString(36)}"`;
