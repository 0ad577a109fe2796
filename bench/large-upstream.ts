// The provider for large bodies, a process of its own: counts and hashes what it is sent without keeping it, and answers in a
// few words. `bun bench/large-upstream.ts` prints the address it serves on; `GET` returns what came with the last request.

/** The body of the last request. */
export interface LastBody {
  readonly bytes: number;
  readonly sha256: string;
}

const ANSWERS: Readonly<Record<string, object>> = {
  "/v1/chat/completions": {
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content: "A tree." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 800, completion_tokens: 3, total_tokens: 803 },
  },
  "/v1/messages": {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-haiku-4-5",
    content: [{ type: "text", text: "A tree." }],
    stop_reason: "end_turn",
    usage: { input_tokens: 800, output_tokens: 3 },
  },
  "/v1/responses": {
    id: "resp_1",
    object: "response",
    status: "completed",
    model: "gpt-4o-mini",
    output: [
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        content: [{ type: "output_text", text: "A tree.", annotations: [] }],
      },
    ],
    usage: { input_tokens: 800, output_tokens: 3, total_tokens: 803 },
  },
  "/v1/audio/transcriptions": {
    text: "A tree.",
    usage: { type: "tokens", input_tokens: 800, output_tokens: 3, total_tokens: 803 },
  },
};

let last: LastBody = { bytes: 0, sha256: "" };

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  maxRequestBodySize: 256 * 1024 * 1024,
  async fetch(request) {
    if (request.method === "GET") return Response.json(last);
    const hasher = new Bun.CryptoHasher("sha256");
    let bytes = 0;
    for await (const chunk of request.body ?? []) {
      bytes += chunk.byteLength;
      hasher.update(chunk);
    }
    last = { bytes, sha256: hasher.digest("hex") };
    return Response.json(ANSWERS[new URL(request.url).pathname]);
  },
});
console.log(`http://127.0.0.1:${server.port}`);
