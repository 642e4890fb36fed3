// The TLS identity of this agent: certificate, key, and the authority that servers are checked by. It comes from SPIRE
// or from files and may be renewed at any time; open connections keep the old one, the next connection uses the new
// one.

export interface TlsIdentity {
  /** PEM. */
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer;
}

export interface IdentitySource {
  current(): TlsIdentity;
  onChange(taken: (identity: TlsIdentity) => void): void;
  close(): void;
}
