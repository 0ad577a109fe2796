// Figures out of samples, and how they are written.

const sorted = (samples: readonly number[]): number[] => [...samples].sort((a, b) => a - b);

/** The smallest sample that at least `share` of all do not pass. */
export function percentile(samples: readonly number[], share: number): number {
  const ranked = sorted(samples);
  return ranked[Math.max(0, Math.ceil(ranked.length * share) - 1)] ?? Number.NaN;
}

export function median(samples: readonly number[]): number {
  const ranked = sorted(samples);
  const middle = Math.floor(ranked.length / 2);
  return ranked.length % 2 === 1 ? ranked[middle]! : (ranked[middle - 1]! + ranked[middle]!) / 2;
}

export const sum = (samples: readonly number[]): number => samples.reduce((total, one) => total + one, 0);

export const range = (samples: readonly number[], digits: number): string =>
  `${Math.min(...samples).toFixed(digits)}–${Math.max(...samples).toFixed(digits)}`;

export const grouped = (value: number): string => Math.round(value).toLocaleString("en-US");

export const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(0);
