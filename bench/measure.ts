// What every measure gives: rows of the table, and lines for whoever wants to know more.

export interface Row {
  readonly what: string;
  readonly service: string;
  readonly passThrough: string;
  readonly result: string;
  /** What is aimed at; empty for what is told for information. */
  readonly target: string;
}

export interface Measured {
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
}

export interface Measure {
  readonly name: string;
  readonly about: string;
  run(quick: boolean): Promise<Measured>;
}

/** What is measured of a cluster: rows of a table of its own, and lines for whoever wants to know more. */
export interface Told {
  /** What, the cluster, what it stands against, how they compare, what is aimed at. */
  readonly rows: readonly (readonly string[])[];
  readonly notes: readonly string[];
}
