// Reads the words that would have been ssh's: options, a host, and a command whose words the remote
// shell puts together again. Pure.

export interface RemoteCommand {
  readonly host: string;
  /** For a shell. */
  readonly line: string;
}

/** Options of ssh that take a value as the next word. */
const WITH_VALUE = new Set("BbcDEeFIiJLlmOopQRSWw");

/** The command, or what is wrong with the words. */
export function remoteCommand(words: readonly string[]): RemoteCommand | string {
  let at = 0;
  while (at < words.length) {
    const word = words[at] ?? "";
    if (word === "--") {
      at += 1;
      break;
    }
    if (!word.startsWith("-")) break;
    at += word.length === 2 && WITH_VALUE.has(word.charAt(1)) ? 2 : 1;
  }
  const [host = "", ...command] = words.slice(at);
  if (host === "") return "no host is named";
  if (command.length === 0) return "no command is given";
  // Nobody logs in: a name before the host means nothing.
  return { host: host.slice(host.lastIndexOf("@") + 1), line: command.join(" ") };
}
