// The interface of a terminal in a running allocation: input, output and an exit code.

import { problem, problemFromJson, type WebSocketConnection } from "@lattice/wire";
import { LatticeError } from "./error.ts";

export interface TerminalSize {
  readonly rows: number;
  readonly cols: number;
}

/** Rows or columns that a server accepts. */
export const MAX_TERMINAL_SIDE = 4_096;

export interface AttachOptions {
  /** One of the allocation's nodes. Default: the first. */
  readonly node?: string | undefined;
  /** A command line. Default: the user's shell. */
  readonly command?: string | undefined;
  readonly size?: TerminalSize | undefined;
  /** The value of TERM. */
  readonly term?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type TerminalSignalName = "int" | "tstp" | "hup" | "quit" | "term" | "kill" | "cont" | "usr1" | "usr2";

export interface TerminalEnd {
  /** -1: the terminal was ended from outside; `reason` says why. */
  readonly code: number;
  readonly reason: string;
}

export interface Terminal {
  readonly node: string;
  /** The output of the terminal, for one reader. */
  readonly output: AsyncIterable<Uint8Array>;
  /** Resolves when there is room for more. */
  write(bytes: Uint8Array): Promise<void>;
  resize(size: TerminalSize): Promise<void>;
  signal(name: TerminalSignalName): Promise<void>;
  /** Hangs up. */
  close(): void;
  /** Resolves once all output is read; rejects with the problem when the connection was lost. */
  readonly ended: Promise<TerminalEnd>;
}

interface ServerText {
  readonly started?: { readonly node?: string };
  readonly exit?: { readonly code?: number; readonly reason?: string };
  readonly problem?: unknown;
}

export async function terminalOver(connection: WebSocketConnection): Promise<Terminal> {
  const messages = connection.messages[Symbol.asyncIterator]();
  const first = await messages.next();
  const started = first.done !== true && first.value.kind === "text" ? textOf(first.value.text).started : undefined;
  let settle: { resolve: (end: TerminalEnd) => void; reject: (error: Error) => void } | null = null;
  const ended = new Promise<TerminalEnd>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // The reader of the output receives the failure as well.
  ended.catch(() => undefined);

  async function* output(): AsyncGenerator<Uint8Array> {
    for (let next = await messages.next(); next.done !== true; next = await messages.next()) {
      if (next.value.kind === "binary") {
        yield next.value.bytes;
        continue;
      }
      const { exit, problem } = textOf(next.value.text);
      if (exit !== undefined) {
        settle?.resolve({ code: exit.code ?? 0, reason: exit.reason ?? "" });
        return;
      }
      if (problem !== undefined) {
        settle?.reject(new LatticeError(problemFromJson(problem, 0), 0));
        return;
      }
    }
    settle?.resolve({ code: -1, reason: "connection to the server lost" });
  }

  const send = (value: object): Promise<void> => connection.sendText(JSON.stringify(value));
  return {
    node: started?.node ?? "",
    output: output(),
    ended,
    write: (bytes) => connection.sendBinary(bytes),
    resize: async (size) => send({ resize: checkedSize(size) }),
    signal: (name) => send({ signal: name }),
    close: () => connection.close(1000, ""),
  };
}

/** Refuses an invalid size before anything is sent: servers silently ignore it. */
export function checkedSize(size: TerminalSize): TerminalSize {
  const wrong = (
    [
      ["rows", size.rows],
      ["cols", size.cols],
    ] as const
  ).find(([, side]) => !Number.isInteger(side) || side < 1 || side > MAX_TERMINAL_SIDE);
  if (wrong === undefined) return { rows: size.rows, cols: size.cols };
  const [field, side] = wrong;
  const detail = `is ${side}; a whole number from 1 to ${MAX_TERMINAL_SIDE}`;
  throw new LatticeError(
    problem("invalid_argument", { detail: `size.${field} ${detail}`, fields: [{ field: `size.${field}`, detail }] }),
    0,
  );
}

function textOf(text: string): ServerText {
  try {
    return JSON.parse(text) as ServerText;
  } catch {
    return {};
  }
}
