// The parts of a multipart/form-data body: where each stands, its name, and whether it is a file. Strict: a form that two
// readers could read in two ways is refused, since we charge by what we read and the provider works by what it reads.

/** Places count from the beginning of the body. */
export interface FormPart {
  /** Of its delimiter, and of the next part's. */
  readonly from: number;
  readonly next: number;
  /** Of its content. */
  readonly contentFrom: number;
  readonly contentTo: number;
  readonly field: string;
  /** Null: a text field. */
  readonly fileName: string | null;
  readonly type: string;
}

export interface Form {
  readonly boundary: string;
  readonly parts: readonly FormPart[];
  /** Where the closing delimiter stands: what is added comes before it. */
  readonly close: number;
}

/** What keeps a body from being read as a form, as a sentence's end: `The body …`. */
export type FormRead =
  | { readonly ok: true; readonly form: Form }
  | { readonly ok: false; readonly fault: string };

export const PARTS_MAX = 1_000;
const HEAD_BYTES_MAX = 8_192;
const BOUNDARY =
  /^\s*multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"\\]{1,200})"|([^\s";,]{1,200}))\s*(?:;.*)?$/i;

export const isForm = (contentType: string): boolean => /^\s*multipart\/form-data\b/i.test(contentType);

const CR = 13;
const LF = 10;
const DASH = 45;

const fault = (text: string): FormRead => ({ ok: false, fault: text });

const AMBIGUOUS = "must have line ends of CR and LF, and a boundary that stands nowhere else";
const UNCLOSED = "must end with the closing boundary of the form";

/** Reads a form whose boundary its content type names. */
export function readForm(body: Buffer, contentType: string): FormRead {
  const named = BOUNDARY.exec(contentType);
  const boundary = named?.[1] ?? named?.[2];
  if (boundary === undefined || contentType.match(/boundary=/gi)!.length > 1) {
    return fault("must name one boundary in its content type");
  }
  const opening = Buffer.from(`--${boundary}`, "latin1");
  const first = body.indexOf("--") === 2 && body[0] === CR && body[1] === LF ? 2 : 0;
  if (!body.subarray(first, first + opening.length).equals(opening)) {
    return fault("must begin with the boundary that its content type names");
  }
  const parts: FormPart[] = [];
  let from = first;
  for (;;) {
    const behind = from + opening.length;
    const line = lineAt(body, behind);
    if (line === null) return fault(AMBIGUOUS);
    if (line.closes) {
      if (parts.length === 0) return fault("must have at least one part");
      return { ok: true, form: { boundary, parts, close: from } };
    }
    if (parts.length === PARTS_MAX) return fault(`must have at most ${PARTS_MAX} parts`);
    const next = body.indexOf(opening, line.to);
    if (next === -1) return fault(UNCLOSED);
    // Behind anything else it is a boundary to lenient readers.
    if (body[next - 2] !== CR || body[next - 1] !== LF) return fault(AMBIGUOUS);
    const part = readPart(body, { from, next }, line.to, next - 2);
    if (typeof part === "string") return fault(part);
    parts.push(part);
    from = next;
  }
}

/** What follows a delimiter: the end of its line, or the end of the form, behind which nothing may stand. */
function lineAt(body: Buffer, at: number): { readonly to: number; readonly closes: boolean } | null {
  if (body[at] === DASH && body[at + 1] === DASH) {
    const rest = body.length - at - 2;
    const isEnd = rest === 0 || (rest === 2 && body[at + 2] === CR && body[at + 3] === LF);
    return isEnd ? { to: body.length, closes: true } : null;
  }
  return body[at] === CR && body[at + 1] === LF ? { to: at + 2, closes: false } : null;
}

/** A part, or what is wrong with it. */
function readPart(
  body: Buffer,
  place: { readonly from: number; readonly next: number },
  headFrom: number,
  contentTo: number,
): FormPart | string {
  const headTo = body.subarray(headFrom, Math.min(contentTo, headFrom + HEAD_BYTES_MAX)).indexOf("\r\n\r\n");
  if (headTo === -1) return `must have parts whose heads end, within ${HEAD_BYTES_MAX} bytes`;
  const head = headersOf(body.toString("utf8", headFrom, headFrom + headTo));
  const disposition = head?.get("content-disposition") ?? "";
  const given = dispositionOf(disposition);
  if (head === null || given === null)
    return "must have parts that each name one field in their content-disposition";
  if (!PLAIN_ENCODINGS.has((head.get("content-transfer-encoding") ?? "binary").toLowerCase())) {
    return "must have parts without a content-transfer-encoding";
  }
  const contentFrom = headFrom + headTo + 4;
  if (contentFrom > contentTo) return "must have parts with a content";
  const type = head.get("content-type") ?? "";
  return { ...place, contentFrom, contentTo, ...given, type };
}

const PLAIN_ENCODINGS: ReadonlySet<string> = new Set(["7bit", "8bit", "binary"]);

/** The headers by name in small letters; null: one is none, or comes twice. */
function headersOf(text: string): Map<string, string> | null {
  const headers = new Map<string, string>();
  for (const line of text.split("\r\n")) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    if (!/^[\w-]+$/.test(name) || headers.has(name) || /[\r\n\0]/.test(line)) return null;
    headers.set(name, line.slice(colon + 1).trim());
  }
  return headers;
}

const PARAMETER = /\s*;\s*([\w*-]+)\s*=\s*(?:"((?:\\"|[^"])*)"|([^\s";]*))/y;

/** The field's name and the file's; null: not of a form, or a parameter that comes twice or cannot be read. */
function dispositionOf(text: string): { readonly field: string; readonly fileName: string | null } | null {
  const kind = /^form-data(?=\s*;)/i.exec(text);
  // To readers without escapes another parameter begins there.
  if (kind === null || /\\"\s*;/.test(text)) return null;
  const given = new Map<string, string>();
  let at = kind[0].length;
  while (at < text.length) {
    PARAMETER.lastIndex = at;
    const found = PARAMETER.exec(text);
    const name = found?.[1]?.toLowerCase() ?? "";
    if (found === null || given.has(name)) return null;
    given.set(name, unescaped(found[2] ?? found[3] ?? ""));
    at = PARAMETER.lastIndex;
  }
  const field = given.get("name");
  if (field === undefined || given.has("name*")) return null;
  return { field, fileName: given.get("filename") ?? given.get("filename*") ?? null };
}

/** The content type of a form by its boundary alone: parameters that others read in other ways go no further. */
export const formType = (boundary: string): string =>
  `multipart/form-data; boundary=${/^[\w.'-]+$/.test(boundary) ? boundary : `"${boundary}"`}`;

/** As browsers write quotes and line ends in names, and as older clients do. */
const unescaped = (text: string): string =>
  text.replace(/%22/g, '"').replace(/%0D/gi, "\r").replace(/%0A/gi, "\n").replaceAll('\\"', '"');
