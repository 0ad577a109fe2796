// Finds the entry that a requested model name means. Prices, tiers and catalog all look up in this one order.
// Source: provider facts, "Model name → price". An entry must never be found by a mere prefix: `gpt-4` is not
// `gpt-4o-mini`.

/**
 * The names of a table's entries, other names of the entries, and the newest snapshot of each undated name.
 */
export interface NameIndex {
  readonly names: { has(name: string): boolean };
  readonly aliases: ReadonlyMap<string, string>;
  readonly newest: ReadonlyMap<string, string>;
}

// Names longer than any provider's are not examined, so that hostile ones cost nothing.
const NAME_LENGTH_MAX = 200;
const FORMS_MAX = 16;
const SNAPSHOTS_MAX = 4;

/** Returns an index over the entries' names. `aliases` may also name entries that are not among them. */
export function indexNames(names: Iterable<string>, aliases: ReadonlyMap<string, string>): NameIndex {
  const held = new Set(names);
  const newest = new Map<string, { name: string; date: number }>();
  for (const name of held) {
    const dated = snapshotOf(name);
    if (!dated || dated.date === 0) continue;
    const bare = undatedNames(name).at(-1)!;
    if (dated.date > (newest.get(bare)?.date ?? 0)) newest.set(bare, { name, date: dated.date });
  }
  return { names: held, aliases, newest: new Map([...newest].map(([bare, { name }]) => [bare, name])) };
}

/**
 * Returns the name of the entry that a model name means, or null if there is none. The first match wins: the
 * name itself; an alias; the name without its routing parts, then in other spellings; all of these without
 * trailing snapshot parts; the newest snapshot of the bare name.
 */
export function findName(asked: string, index: NameIndex): string | null {
  if (index.names.has(asked)) return asked;
  if (asked.length === 0 || asked.length > NAME_LENGTH_MAX) return null;
  const forms = formsOf(asked);
  // Spellings precede undated names, because a snapshot with its own price must not be billed as its base.
  const spelled = [...new Set(SPELLINGS.flatMap((spell) => forms.map(spell)))];
  const undated = spelled.map(undatedNames);
  for (const name of [...spelled, ...undated.flat()]) {
    const hit = exact(name, index);
    if (hit !== null) return hit;
  }
  for (const [i, name] of spelled.entries()) {
    const newest = index.newest.get(undated[i]!.at(-1) ?? name);
    if (newest !== undefined) return newest;
  }
  return null;
}

/**
 * Returns the base model of a fine-tuned one (`ft:base:org:suffix:id`, `base.ft-id`), or null for any other
 * name.
 */
export function fineTunedBase(asked: string): string | null {
  if (asked.length > NAME_LENGTH_MAX || !/ft[:-]/.test(asked)) return null;
  for (const form of formsOf(asked)) {
    const [base] = baseOfFineTuned(form);
    if (base !== undefined) return base;
  }
  return null;
}

function exact(name: string, { names, aliases }: NameIndex): string | null {
  if (names.has(name)) return name;
  const id = aliases.get(name);
  return id !== undefined && names.has(id) ? id : null;
}

/** Matches a snapshot's date, or `latest`, at the end of a name. */
const DATED = /-(?:20\d\d-?[01]\d-?[0-3]\d|[01]\d-20\d\d|[01]\d-?[0-3]\d|2[3-9][01]\d|latest)$/;

/** Returns whether two names mean one model, ignoring routing parts, spellings, dates and `latest`. */
export function isSameModel(one: string, other: string): boolean {
  if (one === other) return true;
  if (one.length > NAME_LENGTH_MAX || other.length > NAME_LENGTH_MAX) return false;
  const bare = bareForms(one);
  return bareForms(other).some((name) => bare.includes(name));
}

const bareForms = (name: string): readonly string[] =>
  formsOf(name.toLowerCase()).flatMap((form) => SPELLINGS.map((spell) => spell(form).replace(DATED, "")));

/**
 * Removes one kind of routing part from a name. Returns the names that remain, or none if the name has no
 * such part.
 */
type Rule = (name: string) => readonly string[];

const withoutRoutingSuffix: Rule = (name) => {
  const match = /^(.+):(?:free|thinking|nitro|floor|extended|exacto|beta)$/.exec(name);
  return match ? [match[1]!] : [];
};

const withoutRoutingPrefix: Rule = (name) => {
  const slash = name.indexOf("/");
  return slash < 0 ? [] : [name.slice(slash + 1), name.slice(name.lastIndexOf("/") + 1)];
};

const baseOfFineTuned: Rule = (name) => {
  const match = /^ft:([^:]+)(?::|$)/.exec(name) ?? /^(.+?)\.ft-[\w-]+$/.exec(name);
  return match ? [match[1]!] : [];
};

const vertexVersion: Rule = (name) => {
  const at = name.lastIndexOf("@");
  if (at <= 0) return [];
  const [base, version] = [name.slice(0, at), name.slice(at + 1)];
  if (version === "default" || version === "latest") return [base];
  return /^\d{1,8}$/.test(version) ? [`${base}-${version}`, base] : [`${base}-${version}`];
};

const MAKERS =
  "ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|openai|qwen|xai|zai";
const BEDROCK = new RegExp(`^(?:[a-z]{2,6}(?:-gov)?\\.)?(?:${MAKERS})\\.(.+)$`);

const bedrockId: Rule = (name) => {
  const inner = BEDROCK.exec(name)?.[1];
  if (inner === undefined) return [];
  return [inner, inner.replace(/:\d+(?::\d+k)?$/, ""), inner.replace(/-v\d+(?::\d+(?::\d+k)?)?$/, "")];
};

const RULES: readonly Rule[] = [
  withoutRoutingSuffix,
  withoutRoutingPrefix,
  baseOfFineTuned,
  vertexVersion,
  bedrockId,
];

/** Returns the name and the names that remain after the rules, the least changed first. */
function formsOf(asked: string): readonly string[] {
  const forms = [asked];
  for (let i = 0; i < forms.length; i++) {
    for (const rule of RULES) {
      for (const form of rule(forms[i]!)) {
        if (forms.length >= FORMS_MAX) return forms;
        if (form !== "" && !forms.includes(form)) forms.push(form);
      }
    }
  }
  return forms;
}

const YEAR = "(?<y>20\\d\\d)";
const MONTH = "(?<m>0[1-9]|1[0-2])";
const DAY = "(?<d>0[1-9]|[12]\\d|3[01])";
const SNAPSHOTS: readonly RegExp[] = [
  `-${YEAR}-${MONTH}-${DAY}$`,
  `-${YEAR}${MONTH}${DAY}$`,
  `-${MONTH}-${YEAR}$`,
  `-${MONTH}-${DAY}$`,
  `-${MONTH}${DAY}$`,
  `-(?<y>2[3-9])${MONTH}$`,
  "-(?:latest|preview|exp)$",
].map((pattern) => new RegExp(pattern));

/**
 * Returns the name without its last snapshot part, and that part's date as yyyymmdd (0 if it has none).
 * Returns null for a name without snapshot part.
 */
function snapshotOf(name: string): { readonly bare: string; readonly date: number } | null {
  for (const pattern of SNAPSHOTS) {
    const match = pattern.exec(name);
    if (!match || match.index === 0) continue;
    const { y = "0", m = "0", d = "0" } = match.groups ?? {};
    const year = Number(y) + (y.length === 2 ? 2000 : 0);
    return { bare: name.slice(0, match.index), date: year * 10_000 + Number(m) * 100 + Number(d) };
  }
  return null;
}

/** Returns the name without one, two, … trailing snapshot parts. */
function undatedNames(name: string): readonly string[] {
  const names: string[] = [];
  for (let rest = snapshotOf(name); rest && names.length < SNAPSHOTS_MAX; rest = snapshotOf(rest.bare)) {
    names.push(rest.bare);
  }
  return names;
}

const SPELLINGS: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => name.replace(/^gpt-35(?=-|$)/, "gpt-3.5"),
  (name) => name.replace(/(\d)\.(?=\d)/g, "$1-"),
  // Only the first pair of short numbers is a version; later ones are dates.
  (name) => name.replace(/(?<!\d)(\d{1,2})-(?=\d{1,2}(?:-|$))/, "$1."),
];
