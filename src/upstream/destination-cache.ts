// Addresses of destinations, which every request needs: found once per key's Config and destination. It resolves no
// names and opens no connections.

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
  readonly sent: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
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
  /** The destination that was found last: mostly the next one too. */
  private provider = "";
  private path = "";
  private model = "";
  private stream = false;
  private last: Placed | AddressError | null = null;

  find(
    way: ProviderAdapter,
    provider: string,
    config: Destination["config"],
    path: string,
    model: string,
    stream: boolean,
  ): Placed | AddressError {
    if (
      this.last !== null &&
      this.model === model &&
      this.path === path &&
      this.stream === stream &&
      this.provider === provider
    ) {
      return this.last;
    }
    // The lengths make the name unique, whatever name a client gives to its model.
    const name = `${stream} ${provider.length} ${path.length} ${provider}${path}${model}`;
    let found = this.byName.get(name);
    if (found === undefined) {
      found = placed(way, { provider, config, path, model, stream });
      if (this.byName.size >= PLACES_MAX) this.byName.clear();
      this.byName.set(name, found);
    }
    this.provider = provider;
    this.path = path;
    this.model = model;
    this.stream = stream;
    this.last = found;
    return found;
  }
}

/** The addresses of one adapter. */
export class DestinationCache {
  /** By Config, because a key keeps its Config object. */
  private readonly places = new WeakMap<Destination["config"], Places>();

  constructor(private readonly way: ProviderAdapter) {}

  /** Returns the address of a destination, or why there is none. The fields are those of `Destination`. */
  find(
    provider: string,
    config: Destination["config"],
    path: string,
    model: string,
    stream: boolean,
  ): Placed | AddressError {
    let places = this.places.get(config);
    if (places === undefined) {
      places = new Places();
      this.places.set(config, places);
    }
    return places.find(this.way, provider, config, path, model, stream);
  }
}

function placed(way: ProviderAdapter, to: Destination): Placed | AddressError {
  const place = isPlainPath(to.path) ? way.place(to) : NO_PLAIN_PATH;
  return "fault" in place ? place : { place, target: targetOf(place.url), lastHeaders: null };
}
