// Requests the next certificate from the servers in turn, each over a new connection with the current one: an open
// connection may have started with a certificate that has expired.

import { create } from "@bufbuild/protobuf";
import { Client, type ServiceError } from "@grpc/grpc-js";
import { pb } from "@lattice/wire";
import { renewCertificateCall } from "../link/service.ts";
import { credentialsOf } from "./credentials.ts";
import type { TlsIdentity } from "./identity.ts";
import type { CertificateRequest } from "./renew.ts";

const ANSWER_WITHIN_MS = 10_000;

export async function askServers(
  servers: readonly string[],
  identity: TlsIdentity,
  asked: CertificateRequest,
): Promise<string> {
  const problems: string[] = [];
  for (const server of servers) {
    try {
      return await askOne(server, identity, asked);
    } catch (error) {
      problems.push(`${server}: ${(error as ServiceError).details ?? (error as Error).message}`);
    }
  }
  throw new Error(problems.join("; "));
}

function askOne(server: string, identity: TlsIdentity, asked: CertificateRequest): Promise<string> {
  const source = { current: () => identity, onChange: () => undefined, close: () => undefined };
  const client = new Client(server, credentialsOf(source, true), { "grpc.use_local_subchannel_pool": 1 });
  const { path, serialize, deserialize } = renewCertificateCall;
  return new Promise<string>((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      serialize,
      deserialize,
      create(pb.RenewCertificateRequestSchema, { ...asked }),
      { deadline: Date.now() + ANSWER_WITHIN_MS },
      (error, response) => {
        if (error !== null || response === undefined) reject(error ?? new Error("nothing was answered"));
        else resolve(response.certificate);
      },
    );
  }).finally(() => client.close());
}
