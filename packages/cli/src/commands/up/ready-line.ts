// Waits for the log line in which a server reports its addresses when it is ready. No other line of the log is parsed.

import { closeSync, openSync, readSync, statSync } from "node:fs";
import { sleep } from "@lattice/sdk";
import { ProblemError } from "@lattice/wire";
import type { Child } from "./child.ts";

export interface Addresses {
  readonly rest: string;
  readonly grpc: string;
}

const POLL_MS = 15;
const MAX_LOG_BYTES = 1024 * 1024;
const TAIL_LINES = 15;

export async function readyLine(child: Child, deadlineMs: number, signal: AbortSignal): Promise<Addresses> {
  const startedAt = Date.now();
  for (;;) {
    const text = readFrom(child.logFile, child.logOffset());
    const found = text
      .split("\n")
      .map(parseReady)
      .find((addresses) => addresses !== null);
    if (found !== undefined && found !== null) return found;
    const ended = child.running() ? null : child.lastEnd();
    if (ended !== null || Date.now() - startedAt > deadlineMs) {
      const why = ended === null ? `is not ready after ${deadlineMs / 1000} s` : `ended (${ended})`;
      throw new ProblemError("internal", {
        detail: [`${child.name} ${why}. The end of its log:`, ...tail(text)].join("\n"),
        hint: `Read the whole log: ${child.logFile}`,
      });
    }
    await sleep(POLL_MS, signal);
  }
}

export function parseReady(line: string): Addresses | null {
  if (!line.startsWith("{") || !line.includes('"ready"')) return null;
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null || !("ready" in value) || value.ready !== true) return null;
    const { rest, grpc } = value as { rest?: unknown; grpc?: unknown };
    return typeof rest === "string" && typeof grpc === "string" ? { rest, grpc } : null;
  } catch {
    return null;
  }
}

function readFrom(path: string, offset: number): string {
  const size = Math.min(MAX_LOG_BYTES, statSync(path).size - offset);
  if (size <= 0) return "";
  const buffer = Buffer.alloc(size);
  const file = openSync(path, "r");
  try {
    return buffer.toString("utf8", 0, readSync(file, buffer, 0, size, offset));
  } finally {
    closeSync(file);
  }
}

const tail = (text: string): readonly string[] =>
  text
    .trimEnd()
    .split("\n")
    .slice(-TAIL_LINES)
    .map((line) => `  ${line}`);
