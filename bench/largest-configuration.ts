// The largest configuration that an Owner may have: each map with as many entries as its bounds allow, prices of as many models.
// Half of the entries are names, each of which is a model to be listed; the others are patterns that every name is compared with
// to its last letter.

const ENTRIES = 1_024;
/** Characters of a name, so that a map of them stays within its bound. */
const CHARACTERS = 84;

const numbered = (i: number): string => i.toString(36).padStart(3, "0");
const nameOf = (map: string, i: number): string => `${map}-${"e".repeat(CHARACTERS - 8)}-${numbered(i)}`;
const patternOf = (i: number): string => `${"*e".repeat((CHARACTERS - 4) / 2)}*${numbered(i)}`;

const mapOf = <T>(map: string, value: T): Record<string, T> =>
  Object.fromEntries(
    Array.from({ length: ENTRIES - 1 }, (_, i) => [i % 2 === 0 ? nameOf(map, i) : patternOf(i), value]),
  );

export const largestConfiguration = (): Readonly<Record<string, unknown>> => ({
  MODEL_MAPPER: mapOf("mm", "gpt-4o-mini"),
  LEVEL_MAPPER: { ...mapOf("lm", 1), "*": 1 },
  MODEL_FAILOVER: mapOf("mf", ["gpt-4o", "gpt-4o-mini"]),
  MODEL_LIMITS: mapOf("ml", { rpm: 1_000 }),
  SWITCH_OVER: Object.fromEntries(Array.from({ length: ENTRIES }, (_, i) => [String(i + 10), i + 11])),
  PRICING: {
    ChatPricing: Object.fromEntries(
      Array.from({ length: ENTRIES }, (_, i) => [nameOf("pr", i), { InputText: 1, OutputText: 2 }]),
    ),
  },
});
