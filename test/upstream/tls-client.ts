// Run as a process of its own, which trusts what NODE_EXTRA_CA_CERTS names: calls the given addresses one after another, every
// name leading to this machine, and prints what came of each as a line of JSON.

import { realClock } from "../../src/base/clock.ts";
import { createFetchTransport } from "../../src/upstream/fetch-transport.ts";
import { createConnect, targetOf } from "../../src/upstream/http-client.ts";
import { Http1Transport } from "../../src/upstream/http1/http1-transport.ts";
import { createSsrfGuard } from "../../src/upstream/ssrf-guard.ts";
import { cutBy } from "../../src/upstream/upstream-failure.ts";
import { textOf } from "./rig.ts";

const resolve = async () => ["127.0.0.1"];
const clock = realClock();
const [client, ...addresses] = process.argv.slice(2);
const transport = client === "fetch" ? createFetchTransport() : new Http1Transport(clock);
const connect = createConnect(createSsrfGuard({ allowCidrs: ["127.0.0.0/8"], clock, resolve }), transport);

for (const address of addresses) {
  const { signal } = new AbortController();
  const answer = await connect(targetOf(new URL(address)), {
    method: "GET",
    headers: {},
    body: null,
    signal,
  }).catch((error) => ({ signal: cutBy(signal, error) }));
  console.log(JSON.stringify("signal" in answer ? answer.signal.note : await textOf(answer.body)));
}
transport.close();
