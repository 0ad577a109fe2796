// One event in the form of the wire.

const encoder = new TextEncoder();

/** The bytes of an event; `name` empty: without an `event:` line. Line feeds in `data` become lines of their own. */
export const frame = (name: string, data: string): Uint8Array =>
  encoder.encode(`${name === "" ? "" : `event: ${name}\n`}data: ${data.replaceAll("\n", "\ndata: ")}\n\n`);
