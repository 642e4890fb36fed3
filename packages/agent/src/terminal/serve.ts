// One terminal from its opening to its end: input comes from the server, output goes to it, at the pace of the slower
// side. When the stream closes, the terminal is hung up; when the command ends, its exit code is the last message.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Client, ClientDuplexStream } from "@grpc/grpc-js";
import { pb } from "@lattice/wire";
import { serveTerminalCall } from "../link/service.ts";
import { idleWatch } from "./idle.ts";
import type { Pty } from "./pty.ts";

export interface ServedTerminal {
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

export function serveTerminal(client: Client, options: ServeOptions): ServedTerminal {
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
