// The open terminals of this node by attempt: opened by order, bounded in number, notified when their attempt is
// stopped, and closed with it or with the agent.

import type { Client } from "@grpc/grpc-js";
import type { pb } from "@lattice/wire";
import { intoWorkdir, isEnterProgram } from "../base/enter-program.ts";
import type { FirstProcess } from "../host/first-process.ts";
import { wayIn } from "../host/user/way-in.ts";
import { attemptKey } from "../lifecycle/attempt.ts";
import { enter } from "./enter.ts";
import { openPty, type Pty, VARIABLES_FD } from "./pty.ts";
import { type ServedTerminal, serveTerminal } from "./serve.ts";

/** Each is three processes or more. */
const MAX_TERMINALS = 128;

interface TerminalHost {
  readonly nodeId: string;
  /** The first process of a running attempt; resolves to null when it does not run here. */
  firstProcess(key: string): Promise<FirstProcess | null>;
  /** Returns null without a limit. */
  walltimeLeftMs(key: string): number | null;
}

export interface Terminals {
  open(client: Client, order: pb.OpenTerminal): void;
  /** Shows a notice at all terminals of an attempt. */
  notice(key: string, text: string): void;
  /** Closes all terminals of an attempt. */
  end(key: string, reason: string): void;
  readonly count: number;
  closeAll(): Promise<void>;
}

export function terminals(host: TerminalHost): Terminals {
  const open = new Map<string, { readonly key: string; readonly terminal: ServedTerminal }>();

  const of = (key: string): ServedTerminal[] =>
    [...open.values()].filter((entry) => entry.key === key).map((entry) => entry.terminal);

  return {
    open(client, order) {
      if (open.has(order.streamId)) return;
      const full = open.size >= MAX_TERMINALS;
      const key = attemptKey(order.allocationId, order.attempt);
      const terminal = serveTerminal(client, {
        streamId: order.streamId,
        started: { id: order.allocationId, attempt: order.attempt, node: host.nodeId },
        idleMs: order.idleWarningSeconds * 1000,
        walltimeLeftMs: () => host.walltimeLeftMs(key),
        open: () => (full ? Promise.reject(new Error(TOO_MANY)) : openIn(host, key, order)),
      });
      open.set(order.streamId, { key, terminal });
      void terminal.over.finally(() => open.delete(order.streamId));
    },
    notice(key, text) {
      for (const terminal of of(key)) terminal.notice(text);
    },
    end(key, reason) {
      for (const terminal of of(key)) terminal.end(reason);
    },
    get count() {
      return open.size;
    },
    async closeAll() {
      const all = [...open.values()].map((entry) => entry.terminal);
      for (const terminal of all) terminal.end("the agent of the node stops");
      await Promise.all(all.map((terminal) => terminal.over));
    },
  };
}

const TOO_MANY = `this node has ${MAX_TERMINALS} terminals open, and takes no more`;
const DEFAULT_SIZE = { rows: 24, cols: 80 };

async function openIn(host: TerminalHost, key: string, order: pb.OpenTerminal): Promise<Pty> {
  const first = await host.firstProcess(key);
  const entered = first === null ? null : await enter({ ...first, line: order.command, term: order.term });
  if (first === null || entered === null) throw new Error("the allocation does not run on this node now");
  const { rows, cols } = order.size ?? DEFAULT_SIZE;
  const isOther = isEnterProgram(entered.prefix);
  const { environment, prefix, variables } = wayIn(entered.environment, intoWorkdir(entered.prefix), VARIABLES_FD);
  return openPty({
    command: [...prefix, ...entered.shell],
    environment,
    variables,
    // The directory itself and not its path, which may lead elsewhere by now. Another user's is entered as that user.
    cwd: isOther || entered.cwd === "/" ? "/" : `/proc/${first.pid}/cwd`,
    umask: entered.umask,
    joinBy: first.joinBy,
    size: rows > 0 && cols > 0 ? { rows, cols } : DEFAULT_SIZE,
  });
}
