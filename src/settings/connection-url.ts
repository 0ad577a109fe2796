// Validates the URLs of the store, of NATS and of web origins, and formats them for display. Displayed text,
// of an invalid URL too, must never contain a user name, a password, a token or an option.

const STORE = "STORE_URL must be sqlite:PATH, sqlite::memory: or mongodb://HOST/DATABASE";
const NATS = "NATS_URL must name servers as nats://HOST:PORT or tls://HOST:PORT, with commas between them";
const ENCODED = "in a user name or password @ : / ? # and % are written as %40 %3A %2F %3F %23 and %25";

const MONGODB =
  /^mongodb(?:\+srv)?:\/\/(?:([^@/?#\s]*)@)?[^@/?#,\s]+(?:,[^@/?#,\s]+)*(?:\/[^@/?#\s]*)?(?:\?[^#\s]*)?$/;

/** Whether the store is MongoDB, which several nodes may share. */
export const isMongodb = (storeUrl: string): boolean => /^mongodb(\+srv)?:/.test(storeUrl);

/** Returns what is wrong with the text of a STORE_URL; null when nothing is. */
export function faultOfStoreUrl(url: string): string | null {
  if (/^sqlite:./.test(url)) return null;
  const mongodb = MONGODB.exec(url);
  if (mongodb !== null && isEncoded(mongodb[1] ?? "")) return null;
  if (isMongodb(url)) return `${STORE}; ${ENCODED}`;
  const [scheme] = /^[a-z][a-z0-9+.-]*:/i.exec(url) ?? [];
  return scheme === undefined ? STORE : `${STORE}, not "${scheme}…"`;
}

/** Returns what is wrong with the text of a NATS_URL; null when nothing is. */
export function faultOfNatsUrl(url: string): string | null {
  const all = url.split(",").map((one) => one.trim());
  if (all.some((one) => one.split("@").length > 2 || /[\s?#]/.test(one))) return `${NATS}; ${ENCODED}`;
  const parsed = all.map((one) => URL.parse(one.includes("://") ? one : `nats://${one}`));
  const fits = (one: URL | null): one is URL =>
    one !== null && /^(nats|tls):$/.test(one.protocol) && one.hostname !== "";
  if (!parsed.every(fits)) return NATS;
  const areEncoded = parsed.every(({ username, password }) => isEncoded(`${username}:${password}`));
  return areEncoded ? null : `${NATS}; ${ENCODED}`;
}

/** Whether user name and password can be decoded. */
function isEncoded(credentials: string): boolean {
  try {
    decodeURIComponent(credentials);
    return true;
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/(?:\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::\d{1,5})?$/;

/** Returns what is wrong with an origin (as browsers send it, or `*`); null when nothing is. */
export function faultOfOrigin(origin: string): string | null {
  const rule = "must be scheme://host[:port] in lower case and without a path, or *";
  if (origin === "*") return null;
  if (!ORIGIN.test(origin)) return `"${shownAddress(origin)}" ${rule}`;
  if (!/^https?:/.test(origin)) return null;
  const sent = URL.parse(origin)?.origin;
  if (sent === undefined) return `"${origin}" ${rule}`;
  return sent === origin ? null : `"${origin}" is never sent: browsers write it "${sent}"`;
}

/** A URL without secrets, fit for a log, a terminal or an error. */
export const shownAddress = (url: string): string =>
  url.startsWith("sqlite:") ? url : url.replace(/[^/,@]*@/g, "").replace(/\?.*$/s, "");
