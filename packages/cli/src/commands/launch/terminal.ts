// The caller's terminal while a task has one of its own: every key goes to the task, which echoes and
// interprets it, and the terminal is put back as it was.

export interface RawTerminal {
  restore(): void;
}

/** Null: standard input is no terminal, and there is nothing to change. */
export function rawTerminal(stdin: NodeJS.ReadStream): RawTerminal | null {
  if (stdin.isTTY !== true) return null;
  stdin.setRawMode(true);
  return { restore: () => void stdin.setRawMode(false) };
}
