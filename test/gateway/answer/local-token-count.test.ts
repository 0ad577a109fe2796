// Whether tokens are counted here: only where no provider of the model could be asked.

import { expect, test } from "bun:test";
import { isLocalTokenCount } from "../../../src/gateway/answer/local-token-count.ts";
import { NO_KEY_AVAILABILITY } from "../../../src/gateway/attempt/client-error.ts";

const COUNT = "/v1/messages/count_tokens";

test.each([
  ["all keys speak the style that does not count", COUNT, 0, 2, 0, true],
  ["no host of the keys has the path", COUNT, 0, 0, 2, true],
  ["a key that counts is there too, though it does not answer", COUNT, 1, 2, 0, false],
  ["there is no key at all", COUNT, 0, 0, 0, false],
  ["something else is asked", "/v1/messages", 0, 2, 0, false],
])("%s", (_, path, fit, otherStyle, otherPath, here) => {
  expect(isLocalTokenCount({ path }, { ...NO_KEY_AVAILABILITY, fit, otherStyle, otherPath })).toBe(here);
});
