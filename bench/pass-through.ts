// The yardstick: the least that a proxy on this runtime can do. It copies a request upstream and the answer back, and
// knows nothing of keys, money or models. `bun bench/pass-through.ts UPSTREAM_URL` prints the address it serves on.

const upstream = process.argv[2]!;

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const answer = await fetch(`${upstream}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: request.headers.get("authorization")! },
      body: await request.text(),
      signal: request.signal,
    });
    return new Response(answer.body, {
      status: answer.status,
      headers: { "content-type": answer.headers.get("content-type")! },
    });
  },
});
console.log(`http://127.0.0.1:${server.port}`);
