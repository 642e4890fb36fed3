// Quotes words for a shell, so that the shell reads exactly these words.

export const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

export const quotedAll = (words: readonly string[]): string => words.map(quoted).join(" ");
