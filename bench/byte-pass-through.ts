// The pass-through for large bodies: it hands on the bytes that came, and neither decodes nor reads them; or, with `reading`,
// it decodes and parses each body once on its way, and does nothing with the value. The difference is what it costs to read.
// `bun bench/byte-pass-through.ts URL [reading]` prints the address it serves on. URL is where it sends to, without a path.

const [upstream = "", mode] = process.argv.slice(2);
const isReading = mode === "reading";

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  maxRequestBodySize: 256 * 1024 * 1024,
  async fetch(request) {
    const body = await request.bytes();
    if (isReading) JSON.parse(new TextDecoder().decode(body));
    const headers = { "content-type": "application/json" };
    const answer = await fetch(upstream + new URL(request.url).pathname, { method: "POST", headers, body });
    return new Response(answer.body, { headers: { "content-type": "application/json" } });
  },
});
console.log(`http://127.0.0.1:${server.port}`);
