// The shape of a measure's result: rows of the table, and notes with details.

export interface Row {
  readonly what: string;
  readonly service: string;
  /** The same of the pass-through, or of whatever else the cell names. */
  readonly passThrough: string;
  readonly result: string;
  /** What is aimed at. Empty for a row that only informs. */
  readonly target: string;
  /** What a release has to meet. Nothing when it is left out. */
  readonly must?: string;
}

export interface Measured {
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
}

export interface Measure {
  readonly name: string;
  readonly about: string;
  /** It takes minutes, so it runs only when it is named. */
  readonly isLong?: true;
  /** `minutes` is how long a measure of growth runs, if it is said. */
  run(quick: boolean, minutes?: number): Promise<Measured>;
}

/** The result of a measure of a cluster: rows of a table of its own, and notes with details. */
export interface ClusterRows {
  /** Cells: what, the cluster, one node, how they compare, the target, what a release has to meet. */
  readonly rows: readonly (readonly string[])[];
  readonly notes: readonly string[];
}
