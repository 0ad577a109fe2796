// What a build of the console consists of, and what the endpoints need of it. Types only: scripts/build-console.ts writes a
// build, the node reads it.

/** A built file, which also lies compressed beside itself, as `NAME.br` and `NAME.gz`. */
export interface ConsoleFile {
  /** With a hash of its content, so that it never changes. */
  readonly name: string;
  /** Its media type. */
  readonly type: string;
  /** Whether only pages of administration load it. */
  readonly isAdministration: boolean;
}

/** What the builder writes beside the files. */
export interface ConsoleManifest {
  /** A hash of all that the build depends on. */
  readonly sources: string;
  /** Names of the files that the first page names: the entry's module, the style sheet, the classic script, the icon. */
  readonly script: string;
  readonly style: string;
  readonly colorScheme: string;
  readonly icon: string;
  /** All files, those above among them. */
  readonly files: readonly ConsoleFile[];
}

/** The build that is served now; `unready`: why it cannot be served yet, or at all; `absent`: there is none. */
export type ConsoleBuild =
  | { readonly kind: "built"; readonly manifest: ConsoleManifest }
  | { readonly kind: "unready"; readonly reason: string }
  | { readonly kind: "absent" };

/** A compressed form in which files lie there. */
export type FileCoding = "br" | "gzip";

/** The built files as the endpoints read them. Nothing is read before the first call. */
export interface ConsoleFiles {
  /** Resolves to the build; where one is under way, after it, or `unready` when that takes long. */
  build(): Promise<ConsoleBuild>;
  /** Resolves to what is known of a file; null when no build that was read has it. */
  find(name: string): Promise<ConsoleFile | null>;
  /** Resolves to the content of a file, null for as it is; null when it is not there any more. */
  read(file: ConsoleFile, coding: FileCoding | null): Promise<Uint8Array<ArrayBuffer> | null>;
}
