// Measures the longest step of an event loop, collector pauses included, by a tick of a millisecond. It is preloaded into the
// service, or runs alone for comparison: a loop with nothing else to do. `GET` on the socket that STEP_PROBE names answers the
// longest gap in ms since the last question.

const TICK_MS = 1;

let longestMs = 0;
let sinceMs = performance.now();

function tick(): void {
  const now = performance.now();
  longestMs = Math.max(longestMs, now - sinceMs);
  sinceMs = now;
}

function answer(): Response {
  tick();
  const reported = longestMs;
  longestMs = 0;
  return Response.json(reported);
}

const socket = process.env.STEP_PROBE;
// Threads of the process have no probe.
if (socket !== undefined && Bun.isMainThread) {
  setInterval(tick, TICK_MS);
  // A timer alone can be late in a loop that turns; of both one is in time.
  const chain = (): void => {
    tick();
    setTimeout(chain, TICK_MS);
  };
  chain();
  Bun.serve({ unix: socket, fetch: answer });
  if (import.meta.main) console.log("http://step-probe");
}
