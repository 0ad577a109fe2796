// Requests of the server as Elysia gets them, and its responses as the server sends them.

import { describe, expect, test } from "bun:test";
import { realClock } from "../../src/base/clock.ts";
import { framingOf } from "../../src/http/server/server-response.ts";
import { WebResponses, webRequestOf } from "../../src/http/web-messages.ts";
import { bodyOf, serverRequest } from "./server/requests.ts";

test.each([
  ["x.example", "http://x.example/metrics?a=b"],
  ["x.example:8080", "http://x.example:8080/metrics?a=b"],
  ["[::1]:8080", "http://[::1]:8080/metrics?a=b"],
  // Checks of some balancers send an empty one.
  ["", "http://localhost/metrics?a=b"],
  ["x.example:99999", "http://localhost/metrics?a=b"],
])("the Host %p does not change the path", (host, url) => {
  expect(webRequestOf(serverRequest("GET /metrics?a=b", { host }))?.url).toBe(url);
});

describe("a response", () => {
  const web = new WebResponses(realClock());

  test.each([1, 16_384, 20_000, 1_000_000, 4_000_000])(
    "of %d bytes that are known states its length",
    async (size) => {
      for (const body of ["a".repeat(size), new Uint8Array(size).fill(97)]) {
        const response = await web.serverResponseOf(new Response(body));
        expect(framingOf(response)).toBe(size);
        expect(Bun.hash(await bodyOf(response))).toBe(Bun.hash("a".repeat(size)));
      }
    },
  );

  test("that takes another turn is sent while it is produced", async () => {
    let nth = 0;
    const body = new ReadableStream({
      async pull(controller) {
        await new Promise(setImmediate);
        if (nth++ < 3) controller.enqueue(Buffer.from(`piece ${nth},`));
        else controller.close();
      },
    });
    const response = await web.serverResponseOf(new Response(body));
    expect(framingOf(response)).toBe("none");
    expect(await bodyOf(response)).toBe("piece 1,piece 2,piece 3,");
  });

  test("that has more at once than is read ahead is sent while it is produced, too", async () => {
    const piece = Buffer.alloc(100_000, 97);
    let nth = 0;
    const body = new ReadableStream({
      pull(controller) {
        if (nth++ < 1_000) controller.enqueue(piece);
        else controller.close();
      },
    });
    const response = await web.serverResponseOf(new Response(body));
    expect(framingOf(response)).toBe("none");
    expect(nth).toBeLessThan(60);
    expect((await bodyOf(response)).length).toBe(100_000_000);
  });
});
