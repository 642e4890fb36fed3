// `lattice logs`: the output of an allocation, byte for byte, each stream to its own. Whoever reads
// takes their time and we wait for it, so that following a job that prints gigabytes needs no memory.
// How the allocation stands, where that explains missing output, is a remark on standard error.

import type { Allocation, LatticeClient, LogsFilter } from "@lattice/sdk";
import type { Command } from "commander";
import { type Context, createContext } from "../context.ts";
import { clean } from "../output/text.ts";
import { writeBytes } from "../output/write-bytes.ts";
import { parseCount } from "../parse/count.ts";
import { parseMoment } from "../parse/moment.ts";
import { endText, pendingText } from "./status/sentence.ts";

interface LogsFlags {
  readonly follow?: boolean;
  readonly stdout?: boolean;
  readonly stderr?: boolean;
  readonly node?: string;
  readonly tail?: number;
  readonly attempt?: number;
  readonly since?: string;
  readonly until?: string;
  readonly offset?: number;
  readonly limit?: number;
}

type Stream = "stdout" | "stderr";

export function define(command: Command): void {
  command
    .argument("<id>", "allocation")
    .option("-f, --follow", "go on until the allocation ends")
    .option("--stdout", "only what it wrote to standard output")
    .option("--stderr", "only what it wrote to standard error")
    .option("--node <name>", "only of this node")
    .option("--tail <lines>", "only the last lines", (text) => parseCount(text, 1, 10_000_000))
    .option("--attempt <number>", "of this attempt; the newest otherwise", (text) => parseCount(text, 1, 1_000_000))
    .option(
      "--since <time>",
      "what was written from then on: 2026-03-01T10:00:00Z, or 10m for ten minutes ago",
      parseMoment,
    )
    .option("--until <time>", "what was written before", parseMoment)
    .option("--offset <bytes>", "from this position of each log on", (text) => parseCount(text, 0, MAX_OFFSET))
    .option("--limit <bytes>", "at most so many bytes of each stream", (text) => parseCount(text, 1, MAX_LIMIT))
    .action(async (id: string, flags: LogsFlags) => showLogs(await createContext(command), id, flags));
}

async function showLogs(context: Context, id: string, flags: LogsFlags): Promise<void> {
  const { client, print } = context;
  const allocation = await client.get(id);
  const waits = allocation.state === "pending";
  if (waits) print.note(clean(pendingText(allocation)));
  if (flags.follow === true) {
    await followAll(context, allocation, flags);
    const end = endText(await client.get(id));
    if (end !== null) print.note(clean(end));
    return;
  }
  // An earlier attempt may have left output behind, for whoever asks for it by name.
  if (waits && flags.attempt === undefined) return;
  for (const stream of streamsOf(flags)) {
    await pass(context, client.logs(id, filterOf(flags, stream)), { id, stream });
  }
}

/** Both at once; when one breaks off, so does the other. */
async function followAll(context: Context, { id }: Allocation, flags: LogsFlags): Promise<void> {
  const stop = new AbortController();
  const follow = (stream: Stream): ReturnType<LatticeClient["streamLogs"]> =>
    context.client.streamLogs(id, filterOf(flags, stream), { signal: stop.signal });
  try {
    await Promise.all(streamsOf(flags).map((stream) => pass(context, follow(stream), { id, stream })));
  } finally {
    stop.abort();
  }
}

/** Neither flag means both, as do both. */
const streamsOf = ({ stdout, stderr }: LogsFlags): readonly Stream[] => {
  if (stdout === stderr) return ["stdout", "stderr"];
  return stdout === true ? ["stdout"] : ["stderr"];
};

const MAX_OFFSET = 10 ** 15 - 1;
const MAX_LIMIT = 2 ** 32 - 1;

const filterOf = (flags: LogsFlags, stream: Stream): LogsFilter => {
  const { since, until, offset, limit } = flags;
  return {
    ...whereOf(flags, stream),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(offset === undefined ? {} : { offset: String(offset) }),
    ...(limit === undefined ? {} : { limit }),
  };
};

const whereOf = ({ node, tail, attempt }: LogsFlags, stream: Stream): LogsFilter => ({
  stream,
  ...(node === undefined ? {} : { node }),
  ...(tail === undefined ? {} : { tail }),
  ...(attempt === undefined ? {} : { attempt }),
});

async function pass(
  { print }: Context,
  bytes: AsyncIterable<Uint8Array>,
  { id, stream }: { readonly id: string; readonly stream: Stream },
): Promise<void> {
  if (!print.structured) return writeBytes(bytes, stream === "stdout" ? process.stdout : process.stderr);
  const decoder = new TextDecoder();
  for await (const chunk of bytes) {
    await print.streamed({ id, stream, data: decoder.decode(chunk, { stream: true }) });
  }
}
