// Connects the user's terminal to a terminal on a node: raw bytes both ways and every size change. The settings of
// the user's terminal are restored at the end, also after an error.

import { MAX_TERMINAL_SIDE, type Terminal, type TerminalEnd } from "@lattice/sdk";

/** Ctrl-D, which a terminal interprets as end of file. */
const END_OF_INPUT = new Uint8Array([4]);

export function currentSize(): { readonly rows: number; readonly cols: number } | undefined {
  const { rows, columns } = process.stdout;
  if (process.stdout.isTTY !== true || !(rows > 0 && columns > 0)) return undefined;
  // Programs that do not want wrapped lines report 10,000 columns and more.
  return { rows: Math.min(rows, MAX_TERMINAL_SIDE), cols: Math.min(columns, MAX_TERMINAL_SIDE) };
}

/** Resolves when the command on the node has ended and all of its output is written. */
export async function runTerminal(terminal: Terminal): Promise<TerminalEnd> {
  const restore = goRaw();
  const input = (bytes: Buffer) => {
    process.stdin.pause();
    void terminal.write(bytes).then(() => process.stdin.resume());
  };
  // A terminal protocol has no end of input, so the end of a pipe is sent as Ctrl-D.
  const endOfInput = () => void terminal.write(END_OF_INPUT);
  const resized = () => {
    const size = currentSize();
    if (size !== undefined) void terminal.resize(size);
  };
  const hangUp = () => terminal.close();
  process.stdin.on("data", input);
  process.stdin.on("end", endOfInput);
  process.stdout.on("resize", resized);
  for (const name of HANG_UP) process.on(name, hangUp);
  try {
    for await (const bytes of terminal.output) {
      if (!process.stdout.write(bytes)) await new Promise<void>((resolve) => process.stdout.once("drain", resolve));
    }
    return await terminal.ended;
  } finally {
    process.stdin.off("data", input);
    process.stdin.off("end", endOfInput);
    process.stdout.off("resize", resized);
    for (const name of HANG_UP) process.off(name, hangUp);
    restore();
    process.stdin.pause();
    // An open pipe or terminal on standard input would keep the process alive.
    (process.stdin as { unref?: () => void }).unref?.();
    terminal.close();
  }
}

const HANG_UP = ["SIGHUP", "SIGTERM"] as const;

/** Enters raw mode, in which every key goes to the node, Ctrl-C included. Returns the function that leaves it. */
function goRaw(): () => void {
  if (process.stdin.isTTY !== true) return () => undefined;
  process.stdin.setRawMode(true);
  return () => void process.stdin.setRawMode(false);
}
