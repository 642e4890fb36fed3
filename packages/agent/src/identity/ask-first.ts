// Requests the first certificate from the servers in turn, with the token. A server that does not issue certificates is
// skipped. A refusal is final: every server would refuse the same token.

import { readFileSync } from "node:fs";
import { create } from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { parseEnrolmentToken, pb } from "@lattice/wire";
import { issueCertificateCall } from "../link/service.ts";
import type { CertificateRequest } from "./renew.ts";

export type FirstAnswer =
  | { readonly kind: "issued"; readonly certificate: string }
  | { readonly kind: "refused"; readonly problem: string }
  /** All servers were reached, and none issues certificates. */
  | { readonly kind: "unavailable"; readonly problem: string }
  | { readonly kind: "later"; readonly problem: string };

interface FirstQuestion {
  readonly servers: readonly string[];
  readonly token: string;
  /** PEM file of the authority that verifies servers. */
  readonly authority: string;
}

const ANSWER_WITHIN_MS = 10_000;
const FINAL: readonly number[] = [status.UNAUTHENTICATED, status.PERMISSION_DENIED, status.INVALID_ARGUMENT];

export async function askForFirst(question: FirstQuestion, asked: CertificateRequest): Promise<FirstAnswer> {
  const problems: string[] = [];
  let unable = 0;
  for (const server of question.servers) {
    try {
      return { kind: "issued", certificate: await askOne(server, question, asked) };
    } catch (error) {
      const { code, details, message } = error as ServiceError;
      const problem = `${server}: ${details ?? message}`;
      if (FINAL.includes(code)) return { kind: "refused", problem };
      if (code === status.UNIMPLEMENTED) unable += 1;
      problems.push(problem);
    }
  }
  const problem = problems.join("; ");
  if (unable < question.servers.length) return { kind: "later", problem };
  // Unlike other tokens, one of an enrolment is good for nothing but a certificate.
  return { kind: parseEnrolmentToken(question.token) === null ? "unavailable" : "refused", problem };
}

function askOne(server: string, { token, authority }: FirstQuestion, asked: CertificateRequest): Promise<string> {
  const how = credentials.createSsl(readFileSync(authority));
  const client = new Client(server, how, { "grpc.use_local_subchannel_pool": 1, "grpc.enable_http_proxy": 0 });
  const { path, serialize, deserialize } = issueCertificateCall;
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  return new Promise<string>((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      serialize,
      deserialize,
      create(pb.IssueCertificateRequestSchema, { ...asked }),
      metadata,
      { deadline: Date.now() + ANSWER_WITHIN_MS },
      (error, response) => {
        if (error !== null || response === undefined) reject(error ?? new Error("nothing was answered"));
        else resolve(response.certificate);
      },
    );
  }).finally(() => client.close());
}
