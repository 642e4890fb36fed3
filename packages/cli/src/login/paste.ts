// A token as a person hands it over: pasted at a terminal, where it is not shown and one Enter ends it, or from a pipe.

import { text } from "node:stream/consumers";
import { ProblemError } from "@lattice/wire";

/** Far beyond any token; what is longer was pasted by mistake. */
const MOST_CHARACTERS = 65_536;
const ENTER = /[\r\n\u0004]/;
const INTERRUPT = "\u0003";
const BACKSPACE = "\u007f";

export const pastedToken = async (): Promise<string> =>
  (process.stdin.isTTY === true ? await hidden("Paste the token and press Enter: ") : await text(process.stdin)).trim();

/** Key by key, since a terminal that edits lines itself cuts them at 4,096 characters. */
function hidden(question: string): Promise<string> {
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
        if (ENTER.test(key) || typed.length > MOST_CHARACTERS) {
          end();
          return void resolve(typed);
        }
        if (key === INTERRUPT) {
          end();
          return void reject(
            new ProblemError("invalid_argument", { detail: "not logged in: it was broken off", hint: "" }),
          );
        }
        typed = key === BACKSPACE ? typed.slice(0, -1) : typed + key;
      }
    };
    // First nothing is shown, then it is asked for.
    stdin.setRawMode(true);
    stderr.write(question);
    stdin.on("data", take);
    stdin.resume();
  });
}
