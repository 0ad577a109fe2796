// White lists of addresses: IPv4 and IPv6, single and by range, mapped ones counting as IPv4, and rubbish refused.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { allowsAddress, parseAddresses } from "../../actors/ip-allow-list.ts";

describe("a list", () => {
  test.each([
    ["", []],
    ["192.0.2.1", ["192.0.2.1"]],
    ["192.0.2.0/24, 2001:db8::/32\n10.0.0.1", ["192.0.2.0/24", "2001:db8::/32", "10.0.0.1"]],
    ["::ffff:10.0.0.1", ["::ffff:10.0.0.1"]],
    ["0.0.0.0/0", ["0.0.0.0/0"]],
  ])("%p is read", (text, value) => {
    expect(parseAddresses(text)).toEqual({ ok: true, value });
  });

  test.each([
    "localhost",
    "256.0.0.1",
    "10.0.0.1/33",
    "2001:db8::/129",
    "2001:db8::g",
    "10.0.0.1/",
    "/8",
    "10.0.0.1/-1",
    "1.2.3.4.5",
    "10.0.0",
    "300",
    "010.0.0.1",
    "0x0a.0.0.1",
    "10.1/8",
    "*",
    "10.0.0.*",
  ])("with %p is refused, naming it", (item) => {
    expect(parseAddresses(`192.0.2.1 ${item}`)).toEqual({ ok: false, item });
  });
});

describe("an address", () => {
  test.each([
    [[], "192.0.2.1", true],
    [[], "rubbish", true],
    [["192.0.2.1"], "192.0.2.1", true],
    [["192.0.2.1"], "192.0.2.2", false],
    [["192.0.2.0/24"], "192.0.2.255", true],
    [["192.0.2.0/24"], "192.0.3.0", false],
    [["192.0.2.77/24"], "192.0.2.1", true],
    [["192.0.2.1"], "::ffff:192.0.2.1", true],
    [["192.0.2.1"], "::ffff:c000:201", true],
    [["::ffff:192.0.2.0/120"], "192.0.2.9", true],
    [["::ffff:192.0.2.0/120"], "192.0.3.9", false],
    [["::ffff:192.0.2.1"], "192.0.2.1", true],
    [["2001:db8::/32"], "2001:db8:ffff::1", true],
    [["2001:db8::/32"], "2001:db9::1", false],
    [["2001:db8::1"], "2001:0DB8:0:0::0001", true],
    [["::/0"], "192.0.2.1", false],
    [["0.0.0.0/0"], "2001:db8::1", false],
    [["0.0.0.0/0"], "203.0.113.7", true],
    [["10.0.0.0/8", "192.0.2.1"], "192.0.2.1", true],
    [["192.0.2.1"], "", false],
    [["192.0.2.1"], "192.0.2.1, 10.0.0.1", false],
    [["192.0.2.1"], "unknown", false],
  ])("on %p: %p is allowed: %p", (list, address, does) => {
    expect(allowsAddress(list, address)).toBe(does);
  });

  test("in an IPv4 range agrees with the arithmetic of bits", () => {
    const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
    const near = fc.tuple(octets, fc.nat(32), fc.nat(31), fc.boolean());
    fc.assert(
      fc.property(near, ([base, bits, flipped, mapped]) => {
        const value = base.reduce((sum, octet) => sum * 256 + octet, 0);
        const other = (value ^ (1 << flipped)) >>> 0;
        const text = [24, 16, 8, 0].map((shift) => (other >>> shift) & 255).join(".");
        const same = bits === 0 || value >>> (32 - bits) === other >>> (32 - bits);
        expect(allowsAddress([`${base.join(".")}/${bits}`], mapped ? `::ffff:${text}` : text)).toBe(same);
      }),
      { numRuns: 300 },
    );
  });
});
