// `lattice admin job-key`: the key that signs job tokens in clusters whose user tokens come from an identity provider.

import { randomUUID } from "node:crypto";
import { parseWalltime } from "@lattice/wire";
import type { Command } from "commander";
import { createContext } from "../../context.ts";
import { requireConfirmation } from "../../output/confirm.ts";
import { localTime } from "../../output/time.ts";

interface RotateFlags {
  readonly keep?: number;
  readonly yes?: boolean;
}

export function defineJobKey(command: Command): void {
  const rotate = command.command("rotate").description("Replace the key that signs job tokens");
  rotate
    .option("--keep <time>", "how long tokens of the old key stay valid; 0 ends them at once (default: 30d)", parseKeep)
    .option("-y, --yes", "do not ask for confirmation")
    .action(async (flags: RotateFlags) => {
      const { client, print } = await createContext(rotate);
      if (flags.keep === 0)
        await requireConfirmation(
          flags.yes,
          "This invalidates the tokens of all running jobs. Rotate?",
          "job key not rotated",
        );
      const answer = await client.jobKey.rotate({
        ...(flags.keep === undefined ? {} : { keep_seconds: flags.keep }),
        requestId: randomUUID(),
      });
      if (print.structured) return print.document(answer);
      const [before] = answer.previous_keys ?? [];
      const kept =
        before === undefined
          ? "tokens of earlier keys are rejected"
          : `tokens of the old key are valid until ${localTime(before.valid_until)}`;
      print.done("jobs", `Rotated the job key: new jobs get tokens of the new key; ${kept}`);
    });
}

const parseKeep = (text: string): number => (/^0[smhd]?$/.test(text) ? 0 : parseWalltime(text, "--keep"));
