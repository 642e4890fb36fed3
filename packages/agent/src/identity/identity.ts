// Who this agent is to the servers: a certificate with its key, and the authority that servers are checked by. It comes
// from SPIRE where its socket is there, else from files. It may be renewed at any time; connections that are open go on
// with what they began with, and the next one takes the new.

export interface Identity {
  /** PEM. */
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer;
}

export interface IdentitySource {
  current(): Identity;
  onChange(taken: (identity: Identity) => void): void;
  close(): void;
}
