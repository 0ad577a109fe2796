// The client's address behind load balancers: only what a trusted one says is believed, and of that only the last hop that is not
// trusted itself. What a client writes into X-Forwarded-For of its own stands before that.

import { describe, expect, test } from "bun:test";
import { clientIp } from "../../src/http/request-head.ts";

const BALANCERS = ["10.0.0.0/8", "fd00::/8"];

describe("without a trusted proxy", () => {
  test.each([
    ["no proxy is trusted", "198.51.100.7", "203.0.113.9", []],
    ["the socket is a stranger's", "198.51.100.7", "203.0.113.9", BALANCERS],
    ["nothing is forwarded", "10.0.0.2", null, BALANCERS],
  ])("the address is the socket's: %s", (_, socket, forwarded, trusted) => {
    expect(clientIp(socket, forwarded, trusted)).toBe(socket);
  });
});

describe("behind trusted proxies", () => {
  test.each([
    ["the one hop", "203.0.113.9", "203.0.113.9"],
    ["the last hop, whatever a client wrote before it", "192.0.2.1, 203.0.113.9", "203.0.113.9"],
    ["the last before a chain of proxies", "192.0.2.1,203.0.113.9 , 10.1.1.1,10.0.0.9", "203.0.113.9"],
    ["the last, though a client pretends to be a proxy", "10.0.0.5, 203.0.113.9", "203.0.113.9"],
    ["an address of IPv6", "2001:db8::1, fd00::2", "2001:db8::1"],
    ["the socket where all hops are proxies", "10.0.0.5, 10.0.0.6", "10.0.0.2"],
    ["the socket where the header is empty", " , ", "10.0.0.2"],
  ])("the address is %s", (_, forwarded, client) => {
    expect(clientIp("10.0.0.2", forwarded, BALANCERS)).toBe(client);
  });
});
