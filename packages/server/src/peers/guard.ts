// With an authority, only servers may call the service between servers: a caller must present a certificate of a server
// before its peer token is checked.

import type { PeerCertificate } from "node:tls";
import type { ServiceError } from "@grpc/grpc-js";
import { bearerOf, problem } from "@lattice/wire";
import type { GrpcService } from "../base/grpc/service.ts";
import { statusOf } from "../base/grpc/status.ts";
import type { AccessLine } from "../base/observe/access-log.ts";
import { type CertifiedCall, certificateOf } from "../base/tls/shown.ts";

interface PeerCall extends CertifiedCall {
  getPeer?(): string;
  emit(event: "error", error: Partial<ServiceError>): unknown;
}
type Method = (call: PeerCall, reply?: (error: Partial<ServiceError>) => void) => void;

export function guardedByCertificate(
  { definition, implementation }: GrpcService,
  isRevoked: (certificate: PeerCertificate) => boolean,
  refused: (line: AccessLine) => void = () => undefined,
): GrpcService {
  const wrap =
    (name: string, method: Method): Method =>
    (call, reply) => {
      const refusal = refusalOf(call, isRevoked);
      if (refusal === null) return method(call, reply);
      const shown = certificateOf(call);
      const user = (shown === null ? undefined : bearerOf(shown).names[0]) ?? "";
      const remote = call.getPeer?.() ?? "";
      refused({ interface: "peer", rpc: `PeerService.${name}`, user, tenant: "", remote, code: "unauthenticated" });
      const status = statusOf(problem("unauthenticated", { detail: refusal }));
      if (reply !== undefined) return reply(status);
      call.emit("error", Object.assign(new Error(status.details), status));
    };
  const entries = Object.entries(implementation as unknown as Readonly<Record<string, Method>>);
  const wrapped = Object.fromEntries(entries.map(([name, method]) => [name, wrap(name, method)]));
  return { definition, implementation: wrapped as unknown as GrpcService["implementation"] };
}

function refusalOf(call: CertifiedCall, isRevoked: (certificate: PeerCertificate) => boolean): string | null {
  const certificate = certificateOf(call);
  if (certificate === null) return "Servers must present a certificate of the cluster's authority.";
  if (isRevoked(certificate)) return "The certificate was revoked by its authority.";
  const { kind, names } = bearerOf(certificate);
  return kind === "server" ? null : `The certificate of ${names.join(", ")} is of kind ${kind || "none"}, not server.`;
}
