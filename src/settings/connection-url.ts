// Addresses of the store, of NATS and of pages: which are fit to be used, and how they are shown. What is shown, of a bad
// address too, never holds a user name, a password, a token or an option.

const STORE = "STORE_URL must be sqlite:PATH, sqlite::memory: or mongodb://HOST/DATABASE";
const NATS = "NATS_URL must name servers as nats://HOST:PORT or tls://HOST:PORT, with commas between them";
const ENCODED = "in a user name or password @ : / ? # and % are written as %40 %3A %2F %3F %23 and %25";

const MONGODB =
  /^mongodb(\+srv)?:\/\/(?:[^@/?#\s]*@)?[^@/?#,\s]+(?:,[^@/?#,\s]+)*(?:\/[^@/?#\s]*)?(?:\?[^#\s]*)?$/;

/** Many nodes may stand on one. */
export const isMongodb = (storeUrl: string): boolean => /^mongodb(\+srv)?:/.test(storeUrl);

/** What is wrong with a STORE_URL; null: nothing that its text tells. */
export function faultOfStoreUrl(url: string): string | null {
  if (/^sqlite:./.test(url) || MONGODB.test(url)) return null;
  if (isMongodb(url)) return `${STORE}; ${ENCODED}`;
  const [scheme] = /^[a-z][a-z0-9+.-]*:/i.exec(url) ?? [];
  return scheme === undefined ? STORE : `${STORE}, not "${scheme}…"`;
}

/** What is wrong with a NATS_URL; null: nothing that its text tells. */
export function faultOfNatsUrl(url: string): string | null {
  const all = url.split(",").map((one) => one.trim());
  if (all.some((one) => one.split("@").length > 2 || /[\s?#]/.test(one))) return `${NATS}; ${ENCODED}`;
  const fits = (one: string): boolean => {
    const parsed = URL.parse(one.includes("://") ? one : `nats://${one}`);
    return parsed !== null && /^(nats|tls):$/.test(parsed.protocol) && parsed.hostname !== "";
  };
  return all.every(fits) ? null : NATS;
}

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/(?:\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::\d{1,5})?$/;

/** What is wrong with an origin as browsers send it, or `*`; null: nothing. */
export function faultOfOrigin(origin: string): string | null {
  const rule = "must be scheme://host[:port] in lower case and without a path, or *";
  if (origin === "*") return null;
  if (!ORIGIN.test(origin)) return `"${shownAddress(origin)}" ${rule}`;
  if (!/^https?:/.test(origin)) return null;
  const sent = URL.parse(origin)?.origin;
  if (sent === undefined) return `"${origin}" ${rule}`;
  return sent === origin ? null : `"${origin}" is never sent: browsers write it "${sent}"`;
}

/** An address as it may stand in a log, on a terminal or in an error. */
export const shownAddress = (url: string): string =>
  url.startsWith("sqlite:") ? url : url.replace(/[^/,@]*@/g, "").replace(/\?.*$/s, "");
