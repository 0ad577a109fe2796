// Addresses of destinations, which every request needs: found once per key's Config and destination. It resolves no
// names and opens no connections.

import type { HeaderRecord } from "../base/header-reader.ts";
import { type Target, targetOf } from "./http-client.ts";
import {
  type AddressError,
  isPlainPath,
  type ProviderAdapter,
  type ProviderAddress,
} from "./provider-adapter.ts";
import type { Destination } from "./upstream.ts";

/** The headers that the last request to a destination had, and what they were made of. */
export interface LastHeaders {
  readonly credential: string;
  /** The body has a content type. */
  readonly isTyped: boolean;
  /** The headers that the caller passed. */
  readonly sent: HeaderRecord;
  readonly headers: HeaderRecord;
}

/** An address that was found. */
export interface Placed {
  readonly place: ProviderAddress;
  readonly target: Target;
  lastHeaders: LastHeaders | null;
}

/** Cached addresses per Config. The client chooses path and model, so their number is unbounded. */
const PLACES_MAX = 100;

const NO_PLAIN_PATH: AddressError = { fault: "rejected", text: "is not asked on such a path" };

/** The addresses of one Config. */
class Places {
  private readonly byName = new Map<string, Placed | AddressError>();
  /** The destination that was found last, mostly the next one too, and its address. */
  private lastTo: Destination | null = null;
  private last: Placed | AddressError = NO_PLAIN_PATH;

  find(way: ProviderAdapter, to: Destination): Placed | AddressError {
    if (this.lastTo !== null && isSame(this.lastTo, to)) return this.last;
    const { provider, path, model, stream } = to;
    // The lengths make the name unique, whatever name a client gives to its model.
    const name = `${stream} ${provider.length} ${path.length} ${provider}${path}${model}`;
    let found = this.byName.get(name);
    if (found === undefined) {
      found = placed(way, to);
      if (this.byName.size >= PLACES_MAX) this.byName.clear();
      this.byName.set(name, found);
    }
    this.lastTo = to;
    this.last = found;
    return found;
  }
}

/** Whether two destinations of one Config are the same. */
const isSame = (one: Destination, other: Destination): boolean =>
  one.model === other.model &&
  one.path === other.path &&
  one.stream === other.stream &&
  one.provider === other.provider;

/** The addresses of one adapter. */
export class DestinationCache {
  /** By Config, because a key keeps its Config object. */
  private readonly places = new WeakMap<Destination["config"], Places>();

  constructor(private readonly way: ProviderAdapter) {}

  /** Returns the address of a destination, or why there is none. */
  find(to: Destination): Placed | AddressError {
    let places = this.places.get(to.config);
    if (places === undefined) {
      places = new Places();
      this.places.set(to.config, places);
    }
    return places.find(this.way, to);
  }
}

function placed(way: ProviderAdapter, to: Destination): Placed | AddressError {
  const place = isPlainPath(to.path) ? way.place(to) : NO_PLAIN_PATH;
  return "fault" in place ? place : { place, target: targetOf(place.url), lastHeaders: null };
}
