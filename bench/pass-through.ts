// The least that a proxy on this runtime can do, with which the service is compared. It copies a request upstream and the
// answer back, knows nothing of keys, money or models, and sends what fails once more under another key. `bun
// bench/pass-through.ts URL HEADER…` prints the address it serves on. URL is where it sends to; the headers are those that
// it copies, the one with the key first.

const [upstream = "", ...copied] = process.argv.slice(2);
const spare = { [copied[0]!]: "Bearer sk-spare" };

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const headers: Record<string, string> = { "content-type": "application/json" };
    for (const name of copied) headers[name] = request.headers.get(name)!;
    const call = { method: "POST", headers, body: await request.text(), signal: request.signal };
    let answer = await fetch(upstream, call);
    if (answer.status === 500) {
      await answer.text();
      answer = await fetch(upstream, { ...call, headers: { ...headers, ...spare } });
    }
    return new Response(answer.body, {
      status: answer.status,
      headers: { "content-type": answer.headers.get("content-type")! },
    });
  },
});
console.log(`http://127.0.0.1:${server.port}`);
