// A certificate provider for gRPC channels: the next connection uses a renewed certificate, open connections keep theirs.
// Agents and servers share it. It implements the interface of gRPC without importing the library; `B` is its buffer type.

interface CertificateMaterial<B> {
  readonly ca: B;
  readonly cert: B;
  readonly key: B;
}

interface RenewedMaterial<B> {
  current(): CertificateMaterial<B>;
  onChange(listener: () => void): void;
}

type CaListener<B> = (update: { readonly caCertificate: B } | null) => void;
type IdentityListener<B> = (update: { readonly certificate: B; readonly privateKey: B } | null) => void;

interface CertificateProvider<B> {
  addCaCertificateListener(listener: CaListener<B>): void;
  removeCaCertificateListener(listener: CaListener<B>): void;
  addIdentityCertificateListener(listener: IdentityListener<B>): void;
  removeIdentityCertificateListener(listener: IdentityListener<B>): void;
}

export function certificateProvider<B>({ current, onChange }: RenewedMaterial<B>): CertificateProvider<B> {
  const cas = new Set<CaListener<B>>();
  const identities = new Set<IdentityListener<B>>();
  const ca = () => ({ caCertificate: current().ca });
  const identity = () => ({ certificate: current().cert, privateKey: current().key });
  onChange(() => {
    for (const listener of cas) listener(ca());
    for (const listener of identities) listener(identity());
  });
  return {
    addCaCertificateListener(listener) {
      cas.add(listener);
      queueMicrotask(() => listener(ca()));
    },
    removeCaCertificateListener: (listener) => void cas.delete(listener),
    addIdentityCertificateListener(listener) {
      identities.add(listener);
      queueMicrotask(() => listener(identity()));
    },
    removeIdentityCertificateListener: (listener) => void identities.delete(listener),
  };
}
