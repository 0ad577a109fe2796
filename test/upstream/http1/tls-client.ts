// Run as a process of its own, which trusts what NODE_EXTRA_CA_CERTS names: asks the port of the first argument under the
// names that follow, one after another, and prints what came of each as a line of JSON.

import { realClock } from "../../../src/base/clock.ts";
import { Http1Transport } from "../../../src/upstream/http1/http1-transport.ts";

const [port, ...names] = process.argv.slice(2);
const transport = new Http1Transport(realClock());

for (const serverName of names) {
  const { signal } = new AbortController();
  const request = { method: "GET", address: "127.0.0.1", port: Number(port), target: "/" } as const;
  const answer = await transport
    .open({ ...request, serverName, host: serverName, headers: {}, body: null, signal })
    .then(async ({ body }) => Buffer.from((await body.read())!).toString())
    .catch((error) => error.code);
  console.log(JSON.stringify([answer, transport.connections]));
}
transport.close();
