// Puts the caller's terminal into raw mode while a task has a terminal: every key goes to the task, which echoes and
// interprets it.

interface RawTerminal {
  restore(): void;
}

/** Returns null when standard input is no terminal. */
export function rawTerminal(stdin: NodeJS.ReadStream): RawTerminal | null {
  if (stdin.isTTY !== true) return null;
  stdin.setRawMode(true);
  return { restore: () => void stdin.setRawMode(false) };
}
