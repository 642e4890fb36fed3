// The open terminals of this node by attempt: opened by order, bounded in number, notified when their attempt is
// stopped, and closed with it or with the agent.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Client, ClientDuplexStream } from "@grpc/grpc-js";
import { pb } from "@lattice/wire";
import { intoWorkdir, isEnterProgram } from "../base/enter-program.ts";
import type { FirstProcess } from "../host/first-process.ts";
import { wayIn } from "../host/user/way-in.ts";
import { attemptKey } from "../lifecycle/attempt.ts";
import { serveTerminalCall } from "../link/service.ts";
import { enter } from "./enter.ts";
import { idleWatch } from "./idle.ts";
import { openPty, type Pty, VARIABLES_FD } from "./pty.ts";

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

interface ServedTerminal {
  /** A message of Lattice on its own line. */
  notice(text: string): void;
  /** Closes the terminal with a reason for the user. */
  end(reason: string): void;
  /** Resolves when both the command and the stream are over. */
  readonly over: Promise<void>;
}

interface ServeOptions {
  readonly streamId: string;
  readonly started: MessageInitShape<typeof pb.AttachStartedSchema>;
  /** 0 disables the warning. */
  readonly idleMs: number;
  /** Walltime left of the attempt; null without a limit. */
  readonly walltimeLeftMs: () => number | null;
  readonly open: () => Promise<Pty>;
}

function serveTerminal(client: Client, options: ServeOptions): ServedTerminal {
  const call = openStream(client);
  let pty: Pty | null = null;
  let why: string | null = null;
  let cut = false;

  const write = (message: pb.AttachResponse["message"]): boolean =>
    call.write(create(pb.ServeTerminalRequestSchema, { streamId: options.streamId, output: { message } }));
  const notice = (text: string): void => {
    if (!cut) write({ case: "stdout", value: Buffer.from(`\r\n[lattice] ${text}\r\n`) });
  };
  const idle = idleWatch(options.idleMs, options.walltimeLeftMs, notice);

  const cutOff = (): void => {
    if (cut) return;
    cut = true;
    void pty?.hangup();
  };
  call.on("error", cutOff);
  call.on("end", cutOff);
  call.on("data", ({ input }: pb.ServeTerminalResponse) => {
    if (pty === null || input === undefined) return;
    // In sequence: input after a resize sees the new size, and a paste into a busy program waits.
    call.pause();
    void obey(pty, input, () => idle.typed()).finally(() => call.resume());
  });

  async function run(): Promise<void> {
    try {
      pty = await options.open();
    } catch (error) {
      call.write(
        create(pb.ServeTerminalRequestSchema, { streamId: options.streamId, error: (error as Error).message }),
      );
      call.end();
      return;
    }
    if (cut) await pty.hangup();
    write({ case: "started", value: create(pb.AttachStartedSchema, options.started) });
    pump(call, pty, write, () => cut);
    const code = await pty.exited;
    if (cut) return;
    const exit = create(pb.TerminalExitSchema, { code: why === null ? code : -1, reason: why ?? "" });
    write({ case: "exit", value: exit });
    call.end();
  }

  return {
    notice,
    end(reason) {
      why ??= reason;
      void pty?.hangup();
    },
    over: run().finally(() => idle.close()),
  };
}

type Stream = ClientDuplexStream<pb.ServeTerminalRequest, pb.ServeTerminalResponse>;

function openStream(client: Client): Stream {
  const { path, serialize, deserialize } = serveTerminalCall;
  return client.makeBidiStreamRequest(path, serialize, deserialize);
}

/** Output follows the pace of the stream: a slow client slows down the program. */
function pump(
  call: Stream,
  pty: Pty,
  write: (message: pb.AttachResponse["message"]) => boolean,
  isCut: () => boolean,
): void {
  pty.output.on("data", (data: Buffer) => {
    if (isCut() || write({ case: "stdout", value: data })) return;
    pty.output.pause();
    const go = (): void => {
      call.off("drain", go);
      call.off("error", go);
      pty.output.resume();
    };
    call.on("drain", go);
    call.on("error", go);
  });
}

const SIGNALS: Readonly<Partial<Record<pb.TerminalSignal, NodeJS.Signals>>> = {
  [pb.TerminalSignal.INT]: "SIGINT",
  [pb.TerminalSignal.TSTP]: "SIGTSTP",
  [pb.TerminalSignal.HUP]: "SIGHUP",
  [pb.TerminalSignal.QUIT]: "SIGQUIT",
  [pb.TerminalSignal.TERM]: "SIGTERM",
  [pb.TerminalSignal.KILL]: "SIGKILL",
  [pb.TerminalSignal.CONT]: "SIGCONT",
  [pb.TerminalSignal.USR1]: "SIGUSR1",
  [pb.TerminalSignal.USR2]: "SIGUSR2",
};

async function obey(pty: Pty, { message }: pb.AttachRequest, typed: () => void): Promise<void> {
  switch (message.case) {
    case "stdin":
      typed();
      return pty.write(message.value);
    case "resize":
      return pty.resize(message.value);
    case "signal": {
      const name = SIGNALS[message.value];
      return name === undefined ? undefined : pty.signal(name);
    }
    default:
      // The order carries the start, and a keepalive needs no action.
      return;
  }
}
