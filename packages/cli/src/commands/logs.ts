// `lattice logs`: the output of an allocation, byte for byte. Standard output takes its time and
// we wait for it, so that following a job that prints gigabytes needs no memory.

import type { LogsFilter } from "@lattice/sdk";
import type { Command } from "commander";
import { createContext } from "../context.ts";
import { writeBytes } from "../output/write-bytes.ts";
import { parseCount } from "../parse/count.ts";

interface LogsFlags {
  readonly follow?: boolean;
  readonly stderr?: boolean;
  readonly node?: string;
  readonly tail?: number;
  readonly attempt?: number;
}

export function define(command: Command): void {
  command
    .argument("<id>", "allocation")
    .option("-f, --follow", "go on until the allocation ends")
    .option("--stderr", "what it wrote to standard error")
    .option("--node <name>", "only of this node")
    .option("--tail <lines>", "only the last lines", (text) => parseCount(text, 1, 10_000_000))
    .option("--attempt <number>", "of this attempt; the newest otherwise", (text) => parseCount(text, 1, 1_000_000))
    .action(async (id: string, flags: LogsFlags) => {
      const { client, print, settings } = await createContext(command);
      const filter: LogsFilter = {
        stream: flags.stderr === true ? "stderr" : "stdout",
        ...(flags.node === undefined ? {} : { node: flags.node }),
        ...(flags.tail === undefined ? {} : { tail: flags.tail }),
        ...(flags.attempt === undefined ? {} : { attempt: flags.attempt }),
      };
      const bytes = flags.follow === true ? client.streamLogs(id, filter) : client.logs(id, filter);
      if (!print.structured) return writeBytes(bytes);
      const decoder = new TextDecoder();
      for await (const chunk of bytes) {
        await print.streamed({ id, stream: filter.stream, data: decoder.decode(chunk, { stream: true }) });
      }
      print.debug(`end of the output, ${settings.output}`);
    });
}
