// Reads a token from a pipe, or pasted at a terminal, without echo, up to Enter.

import { text } from "node:stream/consumers";
import { ProblemError } from "@lattice/wire";

/** Longer than any token: more is a paste by mistake. */
const MAX_CHARACTERS = 65_536;
const ENTER = /[\r\n\u0004]/;
const INTERRUPT = "\u0003";
const BACKSPACE = "\u007f";

export const readPastedToken = async (): Promise<string> =>
  (process.stdin.isTTY === true
    ? await readHidden("Paste the token and press Enter: ")
    : await text(process.stdin)
  ).trim();

/** Reads key by key, because a terminal in line mode cuts lines at 4,096 characters. */
function readHidden(question: string): Promise<string> {
  const { stdin, stderr } = process;
  return new Promise((resolve, reject) => {
    let typed = "";
    const end = (): void => {
      stdin.off("data", take);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write("\n");
    };
    const take = (chunk: Buffer): void => {
      for (const key of chunk.toString()) {
        if (ENTER.test(key) || typed.length > MAX_CHARACTERS) {
          end();
          return void resolve(typed);
        }
        if (key === INTERRUPT) {
          end();
          return void reject(new ProblemError("invalid_argument", { detail: "login cancelled", hint: "" }));
        }
        typed = key === BACKSPACE ? typed.slice(0, -1) : typed + key;
      }
    };
    // Echo off before the question, so that an early paste is not shown.
    stdin.setRawMode(true);
    stderr.write(question);
    stdin.on("data", take);
    stdin.resume();
  });
}
