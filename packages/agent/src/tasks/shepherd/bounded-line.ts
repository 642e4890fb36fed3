// Text from a user's process for a message of the shepherd: one line without control characters, of bounded length.

const MAX_CHARACTERS = 1_000;

export const boundedLine = (text: string): string =>
  text
    .slice(0, MAX_CHARACTERS)
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim();
