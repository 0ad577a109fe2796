// Reads the parts of a multipart/form-data body: position, name, and whether each is a file. It refuses a
// form that two parsers could read differently, because the gateway charges by its own reading and the
// provider acts on another.

/** A part of a form. Positions are byte offsets in the body. */
export interface FormPart {
  /** The part's delimiter; `next` is the delimiter after the part. */
  readonly from: number;
  readonly next: number;
  /** The beginning of the content. */
  readonly contentFrom: number;
  readonly contentTo: number;
  readonly field: string;
  /** The file's name; null for a text field. */
  readonly fileName: string | null;
  readonly type: string;
}

/** A form that was read. */
export interface Form {
  readonly boundary: string;
  readonly parts: readonly FormPart[];
  /** The byte offset of the closing delimiter, before which parts are added. */
  readonly close: number;
}

/** A form, or the reason why there is none, as the rest of a sentence that begins with "The body". */
export type FormRead =
  | { readonly ok: true; readonly form: Form }
  | { readonly ok: false; readonly fault: string };

/** A form with more parts is refused. */
export const PARTS_MAX = 1_000;
const HEAD_BYTES_MAX = 8_192;
/** A boundary of visible characters of ASCII and blanks: it is sent on in a header. */
const BOUNDARY =
  /^\s*multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([ !#-[\]-~]{1,200})"|([!#-+\--:<-[\]-~]{1,200}))\s*(?:;.*)?$/i;

/** Whether a content type is multipart/form-data. */
export const isForm = (contentType: string): boolean => /^\s*multipart\/form-data\b/i.test(contentType);

const CR = 13;
const LF = 10;
const DASH = 45;

const fault = (text: string): FormRead => ({ ok: false, fault: text });

const AMBIGUOUS = "must have line ends of CR and LF, and a boundary that stands nowhere else";
const UNCLOSED = "must end with the closing boundary of the form";

/** Reads a form. `contentType` names its boundary. */
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
    // Lenient parsers accept a boundary after other characters too.
    if (body[next - 2] !== CR || body[next - 1] !== LF) return fault(AMBIGUOUS);
    const part = readPart(body, { from, next }, line.to, next - 2);
    if (typeof part === "string") return fault(part);
    parts.push(part);
    from = next;
  }
}

/** Reads what follows a delimiter: the end of its line or of the form. Returns null for anything else. */
function lineAt(body: Buffer, at: number): { readonly to: number; readonly closes: boolean } | null {
  if (body[at] === DASH && body[at + 1] === DASH) {
    const rest = body.length - at - 2;
    const isEnd = rest === 0 || (rest === 2 && body[at + 2] === CR && body[at + 3] === LF);
    return isEnd ? { to: body.length, closes: true } : null;
  }
  return body[at] === CR && body[at + 1] === LF ? { to: at + 2, closes: false } : null;
}

/** Returns a part, or what is wrong with it as a text. */
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

/** Returns the headers by lower-case name, or null if one is malformed or repeated. */
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

/** Returns the names of field and file, or null if the disposition is malformed or repeats a parameter. */
function dispositionOf(text: string): { readonly field: string; readonly fileName: string | null } | null {
  const kind = /^form-data(?=\s*;)/i.exec(text);
  // A parser that does not support escapes would see another parameter there.
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

/**
 * Returns the content type of a form with its boundary only; parameters that parsers may read differently are
 * dropped.
 */
export const formType = (boundary: string): string =>
  `multipart/form-data; boundary=${/^[\w.'-]+$/.test(boundary) ? boundary : `"${boundary}"`}`;

/** Decodes quotes and line ends in names, as browsers and older clients write them. */
const unescaped = (text: string): string =>
  text.replace(/%22/g, '"').replace(/%0D/gi, "\r").replace(/%0A/gi, "\n").replaceAll('\\"', '"');
