// Every spelling by which a provider URL could mean this service itself, and those that only look like it.

import { describe, expect, test } from "bun:test";
import { networkInterfaces } from "node:os";
import { pointsAtSelf } from "../../src/admin/self-address-check.ts";

const PUBLIC = ["https://gate.example", "https://gate.example:8443/base", "http://[2606:4700::1]:8080"];

/** `resolved`: what the host leads to; by default itself. */
const isSelf = (
  url: string,
  listener: string,
  resolved?: string[],
  publicUrls: readonly string[] = PUBLIC,
) => {
  const { hostname, port } = new URL(`http://${listener}`);
  const host = hostname.replace(/^\[|\]$/g, "");
  const addresses = resolved ?? [new URL(url).hostname];
  return pointsAtSelf(new URL(url), addresses, {
    listeners: [{ host, port: Number(port) || 80 }],
    publicUrls,
  });
};

type Row = readonly [what: string, url: string, listener: string, resolved?: string[]];
const rows = (given: readonly Row[]) =>
  given.map(([what, url, listener, resolved]) => [what, { url, listener, resolved }] as const);

describe("is itself", () => {
  test.each(
    rows([
      ["a listener", "http://127.0.0.1:8080/v1", "127.0.0.1:8080"],
      ["a listener as https", "https://127.0.0.1:8080", "127.0.0.1:8080"],
      ["a listener at the usual port", "http://127.0.0.1", "127.0.0.1:80"],
      ["another loopback address", "http://127.200.3.4:8080", "127.0.0.1:8080"],
      ["IPv6 loopback", "http://[::1]:8080", "127.0.0.1:8080"],
      ["IPv6 loopback in full", "http://[0:0:0:0:0:0:0:1]:8080", "[::1]:8080"],
      ["IPv4-mapped", "http://[::ffff:127.0.0.1]:8080", "127.0.0.1:8080"],
      ["IPv4-mapped in hex", "http://[::ffff:7f00:1]:8080", "127.0.0.1:8080"],
      ["the unspecified address", "http://0.0.0.0:8080", "127.0.0.1:8080"],
      ["the IPv6 unspecified address", "http://[::]:8080", "127.0.0.1:8080"],
      ["a decimal number", "http://2130706433:8080", "127.0.0.1:8080"],
      ["octal digits", "http://0177.0.0.1:8080", "127.0.0.1:8080"],
      ["hex digits", "http://0x7f.1:8080", "127.0.0.1:8080"],
      ["a name that leads there", "http://elsewhere.example:8080", "127.0.0.1:8080", ["127.0.0.1"]],
      [
        "a name of which one address leads there",
        "http://two.example:8080",
        "127.0.0.1:8080",
        ["1.1.1.1", "::1"],
      ],
      ["localhost in capitals with a dot", "http://LOCALHOST.:8080", "127.0.0.1:8080", ["127.0.0.1"]],
      ["localhost that nobody resolves", "http://one.LOCALHOST.:8080", "127.0.0.1:8080"],
      ["the listener's own address", "http://10.1.2.3:8080", "10.1.2.3:8080"],
      ["the listener's own address, mapped", "http://[::ffff:10.1.2.3]:8080", "10.1.2.3:8080"],
      ["the listener's own IPv6 address in full", "http://[fd00:0:0::12]:8080", "[fd00::12]:8080"],
      ["loopback, bound to every address", "http://127.0.0.1:8080", "0.0.0.0:8080"],
      ["a public URL", "https://gate.example/v1", "0.0.0.0:1"],
      ["a public URL, port named", "https://gate.example:443/v1", "0.0.0.0:1"],
      ["a public URL in capitals", "https://GATE.Example/v1", "0.0.0.0:1"],
      ["a public URL with a final dot", "https://gate.example./v1", "0.0.0.0:1"],
      ["a public URL at its other port", "https://gate.example:8443", "0.0.0.0:1"],
      ["a public URL's port over http", "http://gate.example:443", "0.0.0.0:1"],
      ["a public address in full", "http://[2606:4700:0:0:0:0:0:1]:8080", "0.0.0.0:1"],
    ]),
  )("%s", (_, { url, listener, resolved }) => {
    expect(isSelf(url, listener, resolved)).toBe(true);
  });

  test("every address of this machine, whatever the listener is bound to", () => {
    const own = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
    expect(own.length).toBeGreaterThan(0);
    for (const { address } of own) {
      expect(isSelf("http://machine.example:8080", "0.0.0.0:8080", [address])).toBe(true);
    }
  });
});

describe("is somebody else", () => {
  test.each(
    rows([
      ["at another port", "http://127.0.0.1:8081", "127.0.0.1:8080"],
      ["at the usual port of https", "https://127.0.0.1", "127.0.0.1:80"],
      ["at another address", "http://1.1.1.1:8080", "127.0.0.1:8080"],
      ["by a name that leads elsewhere", "http://localhost.example:8080", "127.0.0.1:8080", ["1.1.1.1"]],
      ["below a public name", "https://api.gate.example", "0.0.0.0:1", ["1.1.1.1"]],
      ["that ends like a public name", "https://mygate.example", "0.0.0.0:1", ["1.1.1.1"]],
      ["at another port of a public name", "https://gate.example:9443", "0.0.0.0:1", ["1.1.1.1"]],
    ]),
  )("%s", (_, { url, listener, resolved }) => {
    expect(isSelf(url, listener, resolved)).toBe(false);
  });
});

describe("where the machine's interfaces cannot be read", () => {
  const judged = (address: string) =>
    pointsAtSelf(new URL("http://machine.example:8080"), [address], {
      listeners: [{ host: "10.1.2.3", port: 8080 }],
      publicUrls: [],
      interfaces: () => {
        throw new Error("getifaddrs returned an error");
      },
    });

  test.each(["10.1.2.3", "127.0.0.1", "::1"])("%s is still itself", (address) => {
    expect(judged(address)).toBe(true);
  });

  test("another address is somebody else", () => expect(judged("1.1.1.1")).toBe(false));
});
