// A user at a terminal: runs the built `lattice` program inside tmux, types keys and reads the screen. The tmux server
// belongs to the test and ends with it.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { Cluster } from "./cluster.ts";
import { eventually } from "./eventually.ts";
import { cleanEnvironment, programPath } from "./program.ts";

export interface Screen {
  /** Types text; "\n" is Enter. */
  type(text: string): void;
  /** Presses keys by tmux names, such as "C-c". */
  keys(...names: string[]): void;
  text(): string;
  /** Waits until the screen matches. */
  shows(pattern: RegExp): Promise<RegExpMatchArray>;
  resize(size: { readonly cols: number; readonly rows: number }): void;
  /** Closes the window, as when a laptop is closed. */
  kill(): void;
}

export interface Tmux {
  /** Runs `lattice LINE` in a shell in a window of this size. */
  open(line: string, size: { readonly cols: number; readonly rows: number }): Screen;
}

export function useTmux(cluster: Cluster): Tmux {
  const socket = () => join(cluster.dir, "tmux");
  let count = 0;
  const tmux = (...args: string[]): string => {
    const env = cleanEnvironment({ ...cluster.cliEnvironment(), TERM: "xterm-256color", LANG: "C.UTF-8" });
    const done = spawnSync("tmux", ["-S", socket(), "-f", "/dev/null", ...args], { encoding: "utf8", env });
    if (done.status !== 0) throw new Error(`tmux ${args[0]}: ${done.stderr}${done.error?.message ?? ""}`);
    return done.stdout;
  };
  afterAll(() => {
    if (count > 0) spawnSync("tmux", ["-S", socket(), "kill-server"]);
  });
  return {
    open(line, { cols, rows }) {
      count += 1;
      const name = `w${count}`;
      // The window stays open after the program has ended, so that its last output can be read.
      const command = `${process.execPath} ${programPath("lattice")} ${line}; sleep 600`;
      tmux("new-session", "-d", "-s", name, "-x", String(cols), "-y", String(rows), command);
      // The status line would take a line of the window.
      tmux("set-option", "-t", name, "status", "off");
      const text = () => tmux("capture-pane", "-p", "-J", "-t", name);
      return {
        type: (typed) => void tmux("send-keys", "-t", name, "-l", typed.replaceAll("\n", "\r")),
        keys: (...names) => void tmux("send-keys", "-t", name, ...names),
        text,
        resize: (size) => void tmux("resize-window", "-t", name, "-x", String(size.cols), "-y", String(size.rows)),
        kill: () => void spawnSync("tmux", ["-S", socket(), "kill-session", "-t", name]),
        async shows(pattern) {
          let seen = "";
          try {
            return await eventually({ what: `the screen shows ${pattern}` }, () => {
              seen = text().trimEnd();
              return `${seen} `.match(pattern) ?? seen.match(pattern);
            });
          } catch (error) {
            throw new Error(`${String(error)}; the screen:\n${seen}`);
          }
        },
      };
    },
  };
}
