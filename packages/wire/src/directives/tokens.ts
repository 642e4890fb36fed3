// The words of a directive line, as Slurm splits them: blanks separate, quotes join, a backslash
// takes the next character as it is, and a `#` after a blank starts a comment.

/** Returns `null` for an unclosed quote. */
export function tokens(line: string): string[] | null {
  const out: string[] = [];
  let word = "";
  let inWord = false;
  let quote = "";
  for (let i = 0; i < line.length; i++) {
    const char = line[i] ?? "";
    if (quote !== "") {
      if (char === quote) quote = "";
      else if (char === "\\" && quote === '"' && i + 1 < line.length) word += line[++i] ?? "";
      else word += char;
    } else if (char === " " || char === "\t" || char === "\r") {
      if (inWord) out.push(word);
      word = "";
      inWord = false;
    } else if (char === "#" && !inWord) break;
    else {
      inWord = true;
      if (char === '"' || char === "'") quote = char;
      else if (char === "\\" && i + 1 < line.length) word += line[++i] ?? "";
      else word += char;
    }
  }
  if (quote !== "") return null;
  if (inWord) out.push(word);
  return out;
}
