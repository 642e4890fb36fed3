// Quotes a value of a caller in a message: control characters are visible, and long values are shortened.

const MAX_SHOWN = 60;

export const quoted = (text: string): string =>
  JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text);
