// `npm run sbom [FILE]`: writes the software bill of materials of a release, CycloneDX 1.6 in JSON, to FILE or to standard output:
// every package that the service runs with or the console is built from, with version, license, purl and the hash of bun.lock.
// The same sources give the same bytes: it has no serial number and no date. `--licenses` prints the licenses instead.

import { writeFileSync } from "node:fs";
import { Factories } from "@cyclonedx/cyclonedx-library/Contrib/License";
import { ComponentType, HashAlgorithm } from "@cyclonedx/cyclonedx-library/Enums";
import {
  Bom,
  Component,
  HashDictionary,
  LicenseRepository,
  Property,
  PropertyRepository,
} from "@cyclonedx/cyclonedx-library/Models";
import { JSON as Json, JsonSerializer } from "@cyclonedx/cyclonedx-library/Serialize";
import { isSupportedSpdxId } from "@cyclonedx/cyclonedx-library/SPDX";
import { Spec1dot6 } from "@cyclonedx/cyclonedx-library/Spec";
import packageJson from "../package.json";
import { type ShippedPackage, shippedPackages } from "./shipped-packages.ts";

/** Throws for what is no expression of known licenses. */
function assertExpression(expression: string): void {
  const words = expression
    .replace(/[()]/g, " ")
    .trim()
    .split(/\s+(?:AND|OR|WITH)\s+/);
  const strange = words.find((word) => !isSupportedSpdxId(word));
  if (strange !== undefined) throw new RangeError(`no license: ${strange}`);
}
const licenses = new Factories.LicenseFactory(assertExpression);

const purlOf = ({ name, version }: Pick<ShippedPackage, "name" | "version">): string =>
  `pkg:npm/${name.replace("@", "%40")}@${version}`;

function componentOf({ name, version, integrity, license, part }: ShippedPackage): Component {
  const [scope, bare] = name.startsWith("@") ? name.split("/") : [undefined, name];
  const purl = purlOf({ name, version });
  const digest = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
  return new Component(ComponentType.Library, bare!, {
    ...{ version, purl, bomRef: purl },
    ...(scope === undefined ? {} : { group: scope }),
    hashes: new HashDictionary([[HashAlgorithm["SHA-512"], digest]]),
    licenses: new LicenseRepository(license === null ? [] : [licenses.makeFromString(license)]),
    properties: new PropertyRepository([new Property("arborgate:part", part)]),
  });
}

/** Returns the bill of materials as JSON. */
export function billOfMaterials(): string {
  const shipped = shippedPackages();
  const { name, version, description, license } = packageJson;
  // A package that lies in two places is one component.
  const byPurl = new Map([...shipped.values()].map((one) => [purlOf(one), componentOf(one)]));
  const components = new Map([...shipped].map(([place, one]) => [place, byPurl.get(purlOf(one))!]));
  const bom = new Bom();
  const whole = new Component(ComponentType.Application, name, {
    ...{ version, description, purl: purlOf({ name, version }), bomRef: purlOf({ name, version }) },
    licenses: new LicenseRepository([licenses.makeFromString(license)]),
  });
  bom.metadata.component = whole;
  for (const [place, component] of components) {
    bom.components.add(component);
    for (const need of shipped.get(place)!.needs) component.dependencies.add(components.get(need)!.bomRef);
  }
  const needed = new Set([...shipped.values()].flatMap(({ needs }) => needs));
  for (const [place, component] of components) {
    if (!needed.has(place) || place in packageJson.dependencies) whole.dependencies.add(component.bomRef);
  }
  const serializer = new JsonSerializer(new Json.Normalize.Factory(Spec1dot6));
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`;
}

/** Returns how many packages have which license, the most frequent first. */
export function licenseSummary(): [license: string, packages: readonly string[]][] {
  const byLicense = Map.groupBy(shippedPackages().values(), ({ license }) => license ?? "none stated");
  return [...byLicense]
    .map(([license, all]): [string, string[]] => [
      license,
      all.map(({ name, version }) => `${name}@${version}`),
    ])
    .toSorted(([, a], [, b]) => b.length - a.length);
}

if (import.meta.main) {
  const [argument] = process.argv.slice(2);
  if (argument === "--licenses") {
    for (const [license, all] of licenseSummary())
      console.log(`${license}: ${all.length}\n  ${all.join(" ")}`);
  } else if (argument === undefined) process.stdout.write(billOfMaterials());
  else writeFileSync(argument, billOfMaterials());
}
