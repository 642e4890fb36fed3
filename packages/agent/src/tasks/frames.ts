// The protocol between an agent and a shepherd, over a socket that either end may lose. A frame is four bytes of
// length, one byte of kind, and its body: JSON, or raw output and input. Reports are numbered; unconfirmed ones are
// repeated to the next agent and to a new leader, together with what that leader must know.

import type { NameReply, PmiEntry, PmiNameQuestion } from "./name-types.ts";

export interface ShepherdSpec {
  readonly launchId: string;
  readonly size: number;
  readonly firstRank: number;
  readonly tasks: number;
  readonly mapping: string;
  /** Several nodes take part: fences go through the agent. */
  readonly spread: boolean;
  readonly pmi: boolean;
  /** Served by a helper; `null` when not requested. */
  readonly pmix: PmixSpec | null;
  readonly command: readonly string[];
  readonly workdir: string;
  /** In octal digits; "" for the shepherd's own. */
  readonly umask: string;
  /** The attempt has its own file system, so its paths differ from the node's. */
  readonly ownFiles: boolean;
  /** Variables of every rank; the shepherd adds the ones that differ. */
  readonly environment: Readonly<Record<string, string>>;
  readonly slurmEnv: boolean;
  readonly prefix: readonly string[];
  readonly pty: { readonly rows: number; readonly columns: number } | null;
  readonly input: boolean;
  readonly fenceTimeoutMs: number;
  /** Library to preload into ranks that use PMI, or "". */
  readonly preload: string;
}

export interface PmixSpec {
  /** The program that serves it. */
  readonly helper: string;
  /** Words before it: the namespace and the user. */
  readonly prefix: readonly string[];
  /** For its files, which ranks must be able to reach; ends with XXXXXX. */
  readonly folder: string;
  readonly nodes: readonly { readonly node: string; readonly firstRank: number; readonly tasks: number }[];
  /** Index of this node. */
  readonly place: number;
}

export type ShepherdReport =
  | { readonly kind: "output"; readonly rank: number; readonly stream: "stdout" | "stderr"; readonly data: Uint8Array }
  | {
      readonly kind: "exit";
      readonly rank: number;
      readonly code: number;
      readonly signal: number;
      readonly message: string;
    }
  | { readonly kind: "fence"; readonly number: number; readonly entries: readonly PmiEntry[] }
  | { readonly kind: "abort"; readonly rank: number; readonly code: number; readonly message: string }
  | ({ readonly kind: "names" } & PmiNameQuestion)
  /** The launch was killed, with this exit code. */
  | { readonly kind: "killed"; readonly code: number; readonly reason: string }
  | { readonly kind: "done" };

export interface NumberedReport {
  readonly number: number;
  readonly report: ShepherdReport;
}

export type ShepherdOrder =
  | { readonly kind: "spec"; readonly spec: ShepherdSpec }
  | { readonly kind: "taken"; readonly number: number }
  /** The server did not receive the latest reports. */
  | { readonly kind: "again" }
  | { readonly kind: "fence_done"; readonly number: number; readonly entries: readonly PmiEntry[] }
  /** Offset of the next input. */
  | { readonly kind: "input_at"; readonly offset: number }
  | { readonly kind: "input"; readonly data: Uint8Array; readonly end: boolean }
  /** Size of the terminal, before the input that follows. */
  | { readonly kind: "resize"; readonly rows: number; readonly columns: number }
  | ({ readonly kind: "named"; readonly id: number } & NameReply)
  /** The remaining reports will not be read: the shepherd may exit when the ranks have ended. */
  | { readonly kind: "forgotten" }
  | { readonly kind: "kill"; readonly reason: string; readonly code: number };

const JSON_BODY = 0;
const OUTPUT_BODY = 1;
const INPUT_BODY = 2;
const HEAD_BYTES = 5;
const OUTPUT_HEAD_BYTES = 9;
/** All addresses of a very large launch. */
const MAX_FRAME_BYTES = 256 * 1024 * 1024;

export function encodeReport({ number, report }: NumberedReport): Buffer {
  if (report.kind !== "output") return frame(JSON_BODY, Buffer.from(JSON.stringify({ number, report })));
  const head = Buffer.alloc(OUTPUT_HEAD_BYTES);
  head.writeUInt32LE(number, 0);
  head.writeUInt32LE(report.rank, 4);
  head.writeUInt8(report.stream === "stdout" ? 1 : 2, 8);
  return frame(OUTPUT_BODY, head, report.data);
}

export function decodeReport({ kind, body }: ShepherdFrame): NumberedReport {
  if (kind === JSON_BODY) return JSON.parse(body.toString("utf8")) as NumberedReport;
  const stream = body.readUInt8(8) === 1 ? "stdout" : "stderr";
  const data = body.subarray(OUTPUT_HEAD_BYTES);
  return { number: body.readUInt32LE(0), report: { kind: "output", rank: body.readUInt32LE(4), stream, data } };
}

export function encodeOrder(order: ShepherdOrder): Buffer {
  if (order.kind !== "input") return frame(JSON_BODY, Buffer.from(JSON.stringify(order)));
  return frame(INPUT_BODY, Buffer.from([order.end ? 1 : 0]), order.data);
}

export function decodeOrder({ kind, body }: ShepherdFrame): ShepherdOrder {
  if (kind === JSON_BODY) return JSON.parse(body.toString("utf8")) as ShepherdOrder;
  return { kind: "input", data: body.subarray(1), end: body[0] === 1 };
}

interface ShepherdFrame {
  readonly kind: number;
  readonly body: Buffer;
}

/** Collects bytes and calls back for every complete frame. */
export function frameReader(take: (frame: ShepherdFrame) => void): (bytes: Buffer) => void {
  let parts: Buffer[] = [];
  let have = 0;
  let wanted = HEAD_BYTES;
  return (bytes) => {
    parts.push(bytes);
    have += bytes.length;
    while (have >= wanted) {
      const all = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
      parts = [all];
      const length = all.readUInt32LE(0);
      if (length > MAX_FRAME_BYTES) throw new RangeError(`a frame of ${length} bytes`);
      wanted = HEAD_BYTES + length;
      if (have < wanted) return;
      const body = all.subarray(HEAD_BYTES, wanted);
      parts = have > wanted ? [all.subarray(wanted)] : [];
      have -= wanted;
      wanted = HEAD_BYTES;
      take({ kind: all.readUInt8(4), body });
    }
  };
}

function frame(kind: number, ...body: readonly Uint8Array[]): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(
    body.reduce((sum, part) => sum + part.length, 0),
    0,
  );
  head.writeUInt8(kind, 4);
  return Buffer.concat([head, ...body]);
}
