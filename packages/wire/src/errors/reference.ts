// Generates the reference page of the error catalogue.

import { ERRORS } from "./catalogue.ts";

export function errorReference(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, e]) =>
      `| \`${code}\` | ${e.http} | ${e.grpc} | ${e.exit} | ${e.retryable ? "yes" : "no"} | ${e.title} | ${e.hint} |`,
  );
  return `# Errors

Every refusal has a code. REST answers it as \`application/problem+json\` (RFC 9457) with \`code\`, \`title\`, \`status\`,
\`detail\`, \`hint\`, \`fields\` and \`retryable\`; gRPC carries the same as \`lattice.v1.Problem\` in the status details; the CLI
prints it and exits with the status below. Printed from the catalogue in \`packages/wire/src/errors/catalogue.ts\`.

| code | HTTP | gRPC | exit | retry | meaning | what to do |
|---|---|---|---|---|---|---|
${rows.join("\n")}
`;
}
