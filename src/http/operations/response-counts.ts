// Counts the responses of the gateway as they begin, by status, with the time until then, in plain numbers; requests whose
// client was gone by then count as such, and by no status. What is known of a
// request only when it has ended is counted by `RequestTraffic`, which knows no response. It is called by every request, where
// counting by objects of labels costs more than the rest of the edge. Its series are bounded by their caller: paths come from
// our own table.

import { Histogram } from "../../base/histogram.ts";
import type { Sample } from "./exposition.ts";

/** Upper bounds of the histogram's buckets, in seconds. */
const BOUNDS_S = [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 15, 60, 300, 600];

/** The times of responses with the same path and kind. */
interface Times {
  readonly path: string;
  readonly stream: boolean;
  readonly seconds: Histogram;
}

/** The label of requests whose client was gone before it could get a status. */
const CLIENT_GONE = "client_gone";

/** The responses with the same path, kind and status; null is that of a client that was gone. */
interface Series {
  readonly status: number | null;
  readonly times: Times;
  count: number;
}

/** The counter and the histogram of a node's gateway responses, in the order in which their labels came first. */
export class ResponseCounts {
  /** By path, then by status and kind. */
  private readonly byPath = new Map<string, Map<number, Series>>();
  private readonly series: Series[] = [];
  private readonly times: Times[] = [];

  /** Counts a response that began after `seconds`. A status of null says that its client was gone. */
  add(path: string, status: number | null, stream: boolean, seconds: number): void {
    const series = this.byPath.get(path)?.get(codeOf(status, stream)) ?? this.open(path, status, stream);
    series.count++;
    series.times.seconds.observe(seconds);
  }

  /** Returns how many there were, by path, status and kind. */
  counts(): readonly Sample[] {
    return this.series.map(({ status, times: { path, stream }, count }) => [
      [path, status === null ? CLIENT_GONE : String(status), String(stream)],
      count,
    ]);
  }

  /** Returns how long they took, by path and kind. */
  durations(): readonly Sample[] {
    return this.times.map(({ path, stream, seconds }) => [[path, String(stream)], seconds]);
  }

  private open(path: string, status: number | null, stream: boolean): Series {
    let times = this.times.find((one) => one.path === path && one.stream === stream);
    if (times === undefined) {
      times = { path, stream, seconds: new Histogram(BOUNDS_S) };
      this.times.push(times);
    }
    const series = { status, times, count: 0 };
    this.series.push(series);
    const ofPath = this.byPath.get(path) ?? new Map<number, Series>();
    this.byPath.set(path, ofPath);
    ofPath.set(codeOf(status, stream), series);
    return series;
  }
}

/** Returns one number for a status and a kind. */
const codeOf = (status: number | null, stream: boolean): number => (status ?? 0) * 2 + (stream ? 1 : 0);
