// A progress bar for long replays, drawn only on a terminal and only after a change of one per cent, so that it costs
// little and never ends up in a file.

interface Progress {
  update(done: number): void;
  end(): void;
}

export interface ProgressTerminal {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const WIDTH = 30;

export function progressOn(terminal: ProgressTerminal, total: number): Progress {
  if (terminal.isTTY !== true || total === 0) return { update: () => {}, end: () => {} };
  let shown = -1;
  return {
    update(done) {
      const percent = Math.floor((done * 100) / total);
      if (percent === shown) return;
      shown = percent;
      const filled = Math.floor((WIDTH * done) / total);
      terminal.write(`\r[${"#".repeat(filled).padEnd(WIDTH)}] ${String(percent).padStart(3)} %`);
    },
    end() {
      if (shown >= 0) terminal.write(`\r${" ".repeat(WIDTH + 10)}\r`);
    },
  };
}
