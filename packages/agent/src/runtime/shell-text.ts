// Words as shell text that means exactly these words.

export const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

export const quotedAll = (words: readonly string[]): string => words.map(quoted).join(" ");
