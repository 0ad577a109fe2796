// Counts gateway requests and their times in plain numbers, and writes them as Prometheus reads them. It is called by
// every request, where counting by objects of labels costs more than the rest of the edge. Its series are bounded by
// their caller: paths come from our own table, and need no escapes.

/** Upper bounds of the histogram's buckets, in seconds. */
const BOUNDS_S = [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 15, 60, 300];

const COUNTER = "arborgate_requests_total";
const HISTOGRAM = "arborgate_request_seconds";

/** The times of requests with the same labels. `buckets[i]` counts those above bound `i - 1` and up to bound `i`. */
interface Times {
  readonly labels: string;
  readonly buckets: number[];
  count: number;
  sumS: number;
}

/** The requests with the same labels. */
interface Series {
  readonly labels: string;
  readonly times: Times;
  count: number;
}

/** The counter and the histogram of a node's gateway requests. */
export class RequestMetrics {
  /** By path, then by status and kind. */
  private readonly byPath = new Map<string, Map<number, Series>>();
  private readonly series: Series[] = [];
  private readonly times: Times[] = [];

  /** Counts a request that took `seconds`. */
  add(path: string, status: number, stream: boolean, seconds: number): void {
    const series =
      this.byPath.get(path)?.get(status * 2 + (stream ? 1 : 0)) ?? this.open(path, status, stream);
    const { times } = series;
    series.count++;
    times.count++;
    times.sumS += seconds;
    const bucket = BOUNDS_S.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) times.buckets[bucket]!++;
  }

  /** Returns both in Prometheus' text format, in the order in which their labels came first. */
  text(): string {
    const counter = [
      `# HELP ${COUNTER} Gateway requests by path, status and kind`,
      `# TYPE ${COUNTER} counter`,
      ...this.series.map(({ labels, count }) => `${COUNTER}{${labels}} ${count}`),
    ];
    const histogram = [
      `# HELP ${HISTOGRAM} Time of gateway requests`,
      `# TYPE ${HISTOGRAM} histogram`,
      ...this.times.flatMap(linesOf),
    ];
    return `${counter.join("\n")}\n\n${histogram.join("\n")}`;
  }

  private open(path: string, status: number, stream: boolean): Series {
    const ofTimes = `path="${path}",stream="${stream}"`;
    let times = this.times.find(({ labels }) => labels === ofTimes);
    if (times === undefined) {
      times = { labels: ofTimes, buckets: BOUNDS_S.map(() => 0), count: 0, sumS: 0 };
      this.times.push(times);
    }
    const series = { labels: `path="${path}",status="${status}",stream="${stream}"`, times, count: 0 };
    this.series.push(series);
    const ofPath = this.byPath.get(path) ?? new Map<number, Series>();
    this.byPath.set(path, ofPath);
    ofPath.set(status * 2 + (stream ? 1 : 0), series);
    return series;
  }
}

function linesOf({ labels, buckets, count, sumS }: Times): string[] {
  let upTo = 0;
  const counts = buckets.map((inBucket, i) => {
    upTo += inBucket;
    return `${HISTOGRAM}_bucket{le="${BOUNDS_S[i]}",${labels}} ${upTo}`;
  });
  return [
    ...counts,
    `${HISTOGRAM}_bucket{le="+Inf",${labels}} ${count}`,
    `${HISTOGRAM}_sum{${labels}} ${sumS}`,
    `${HISTOGRAM}_count{${labels}} ${count}`,
  ];
}
