// `lattice admin job-key`: the key with which a cluster signs the tokens of its jobs where people's come from an identity provider.

import { randomUUID } from "node:crypto";
import { parseWalltime } from "@lattice/wire";
import type { Command } from "commander";
import { createContext } from "../../context.ts";
import { askFirst } from "../../output/ask-first.ts";
import { localTime } from "../../output/time.ts";

interface RotateFlags {
  readonly keep?: number;
  readonly yes?: boolean;
}

export function defineJobKey(command: Command): void {
  const rotate = command.command("rotate").description("Sign the tokens of jobs with another key from now on");
  rotate
    .option("--keep <time>", "how long tokens of the key before stay good (30d); 0: not at all", parseKeep)
    .option("-y, --yes", "do not ask")
    .action(async (flags: RotateFlags) => {
      const { client, print } = await createContext(rotate);
      if (flags.keep === 0)
        await askFirst(flags.yes, "Tokens of all jobs that run now end at once. Rotate?", "The key is not rotated");
      const answer = await client.jobKey.rotate({
        ...(flags.keep === undefined ? {} : { keep_seconds: flags.keep }),
        requestId: randomUUID(),
      });
      if (print.structured) return print.document(answer);
      const [before] = answer.earlier ?? [];
      const kept =
        before === undefined
          ? "what earlier keys have signed is refused"
          : `the one before counts until ${localTime(before.until)}`;
      print.done("jobs", `jobs that start from now on have tokens of another key; ${kept}`);
    });
}

const parseKeep = (text: string): number => (/^0[smhd]?$/.test(text) ? 0 : parseWalltime(text, "--keep"));
