// The JSON of images and caches, as it is on the wire.

export interface Image {
  readonly name: string;
  readonly digest?: string;
  readonly size_bytes?: number;
  readonly mount?: string;
  readonly views?: readonly { readonly name: string; readonly description?: string }[];
  readonly signed?: boolean;
  readonly description?: string;
}

export interface ImageList {
  readonly images?: readonly Image[];
  /** The node that looked. */
  readonly node?: string;
}

export interface CachedImage {
  readonly name?: string;
  readonly digest?: string;
  readonly kind?: string;
  readonly size_bytes?: number;
  readonly last_used?: string;
  readonly sticky?: boolean;
  readonly pins?: number;
  /** Further names that it was asked for by. */
  readonly other_names?: readonly string[];
}

export interface NodeCache {
  readonly node: string;
  readonly error?: string;
  readonly size_bytes?: number;
  readonly used_bytes?: number;
  readonly images?: readonly CachedImage[];
}

export interface CacheAnswer {
  readonly nodes?: readonly NodeCache[];
}

/** All connected nodes when neither is named. */
export interface WhichNodes {
  readonly nodes?: readonly string[];
  readonly group?: string;
}
