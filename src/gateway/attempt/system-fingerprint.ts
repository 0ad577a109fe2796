// The `system_fingerprint` of answers whose provider sends none (contract section 4). It changes with model, provider and
// configuration, and says nothing of them.

const fingerprints = new Map<string, string>();
/** Fingerprints that are cached. At the bound all are forgotten, since each is made again by one hash. */
const FINGERPRINTS_MAX = 10_000;
/** What the last fingerprint was made of: mostly what the next one is made of. */
const last = { model: "", provider: "", priceVersion: -1, print: "" };

/** What a fingerprint is made of. */
interface Fingerprinted {
  readonly model: string;
  /** The version of the configuration by which the model is priced. */
  readonly priceVersion: number;
}

/** Returns the fingerprint of a model at a provider's base URL. The results are cached. */
export function systemFingerprint({ model, priceVersion }: Fingerprinted, provider: string): string {
  if (last.model === model && last.provider === provider && last.priceVersion === priceVersion)
    return last.print;
  const source = `${model}\n${provider}\n${priceVersion}`;
  let print = fingerprints.get(source);
  if (print === undefined) {
    print = `fp_${Bun.SHA256.hash(source, "hex").slice(0, 10)}`;
    if (fingerprints.size >= FINGERPRINTS_MAX) fingerprints.clear();
    fingerprints.set(source, print);
  }
  Object.assign(last, { model, provider, priceVersion, print });
  return print;
}
