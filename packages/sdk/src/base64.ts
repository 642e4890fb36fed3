// Base64 for bytes inside JSON, on every platform; uses Node's converter where available.

export const fromBase64 = (text: string): Uint8Array =>
  typeof Buffer === "undefined" ? Uint8Array.from(atob(text), byteOf) : Buffer.from(text, "base64");

export const toBase64 = (bytes: Uint8Array): string =>
  typeof Buffer === "undefined"
    ? btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    : Buffer.from(bytes).toString("base64");

const byteOf = (character: string): number => character.charCodeAt(0);
