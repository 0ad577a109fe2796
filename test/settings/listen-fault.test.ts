// Why an address cannot be listened at: the host or the port, whatever code the runtime gives its error.

import { expect, test } from "bun:test";
import { listenFault } from "../../src/settings/listen-fault.ts";
import { BadSetting } from "../../src/settings/settings.ts";

const inUse = Object.assign(new Error("it failed"), { code: "EADDRINUSE" });
const at = (hostname: string) => ({ names: "HOST and PORT", hostname, port: 8_080 });

// Names below .invalid never have an address (RFC 6761); 192.0.2.0/24 is for documentation (RFC 5737).
test.each(["no-such-host.invalid", "192.0.2.1"])("%s is said to be the fault, not its port", (hostname) => {
  for (const error of [inUse, new Error("it has no code")]) {
    const fault = listenFault(at(hostname), error);
    expect(fault).toBeInstanceOf(BadSetting);
    expect(fault.message).toBe(
      `HOST and PORT: nothing can listen at ${hostname}:8080: "${hostname}" is no name and no address of this machine`,
    );
  }
});

test.each(["127.0.0.1", "localhost", "0.0.0.0"])("at %s the port is, with the error's code", (hostname) => {
  const { message } = listenFault(at(hostname), inUse);
  expect(message).toBe(`HOST and PORT: nothing can listen at ${hostname}:8080 (EADDRINUSE)`);
});

test("an error that no setting causes is thrown again", () => {
  const error = new TypeError("fetch must be a function");
  expect(() => listenFault(at("127.0.0.1"), error)).toThrow(error);
});
