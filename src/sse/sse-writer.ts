// Writes events in the wire format.

const encoder = new TextEncoder();

/**
 * Returns the bytes of an event. An empty `name` omits the `event:` line. Each line feed in `data` begins a
 * new `data:` line.
 */
export const frame = (name: string, data: string): Uint8Array =>
  encoder.encode(`${name === "" ? "" : `event: ${name}\n`}data: ${data.replaceAll("\n", "\ndata: ")}\n\n`);
