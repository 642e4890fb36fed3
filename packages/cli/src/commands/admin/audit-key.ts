// `lattice admin audit-key`: the key that signs audit records.

import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { createContext } from "../../context.ts";
import { requireConfirmation } from "../../output/confirm.ts";

interface RotateFlags {
  readonly lost?: boolean;
  readonly yes?: boolean;
}

export function defineAuditKey(command: Command): void {
  const rotate = command.command("rotate").description("Replace the key that signs audit records");
  rotate
    .option("--lost", "no server has the private key any more: begin a key that the old one does not endorse")
    .option("-y, --yes", "do not ask for confirmation")
    .action(async (flags: RotateFlags) => {
      const { client, print } = await createContext(rotate);
      if (flags.lost === true)
        await requireConfirmation(
          flags.yes,
          "Verifiers cannot derive their trust in the new key from the old one. Rotate?",
          "audit key not rotated",
        );
      const answer = await client.auditKey.rotate({
        ...(flags.lost === true ? { lost: true } : {}),
        requestId: randomUUID(),
      });
      if (print.structured) return print.document(answer);
      print.done(
        answer.key_id,
        `Rotated the audit key: new records are signed with ${answer.key_id}, which ${answer.servers} servers hold`,
      );
    });
}
