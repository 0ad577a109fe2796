// `npm run audit`: asks the registry for known weaknesses of the locked packages, by Bun's own client. Exit code 1: a package that
// is shipped has one. Weaknesses of packages that only tests and builds use are listed and do not fail. A registry that keeps no
// advisories is said, and passes; one that cannot be asked is exit code 2.

import { shippedPackages } from "./shipped-packages.ts";

/** What a registry says of a weakness. */
interface Advisory {
  readonly title: string;
  readonly severity: string;
  readonly url: string;
  readonly vulnerable_versions: string;
}

/** Answers of a registry that does not know the question. */
const NO_ADVISORIES = /\b(404|405|501)\s*$/m;

const audit = Bun.spawnSync([process.execPath, "audit", "--json"], { stdin: "ignore" });
const complaint = audit.stderr.toString().trim();
const answer = advisoriesIn(audit.stdout.toString());

if (answer !== null) {
  const shipped = new Set([...shippedPackages().values()].map(({ name }) => name));
  const rows = Object.entries(answer).flatMap(([name, all]) => all.map((one) => ({ name, ...one })));
  for (const { name, title, severity, url, vulnerable_versions } of rows) {
    console.log(
      `${shipped.has(name) ? "shipped" : "tests"}  ${severity}  ${name} ${vulnerable_versions}: ${title}  ${url}`,
    );
  }
  const found = rows.filter(({ name }) => shipped.has(name)).length;
  console.log(
    `audit: ${found} weaknesses in ${shipped.size} shipped packages, ${rows.length - found} in others`,
  );
  process.exit(found === 0 ? 0 : 1);
}
if (NO_ADVISORIES.test(complaint)) {
  console.log("audit: this registry keeps no advisories; nothing was compared");
  process.exit(0);
}
console.error(`audit: the registry could not be asked:\n${complaint}`);
process.exit(2);

/** The advisories by package; null when the output has none of this form. */
function advisoriesIn(output: string): Readonly<Record<string, readonly Advisory[]>> | null {
  const text = output.slice(output.indexOf("{"));
  return text.startsWith("{") ? JSON.parse(text) : null;
}
