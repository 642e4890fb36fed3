// What an agent signs with a new key when it asks for its next certificate: it binds the key to the node's name, so
// that nobody gets a certificate for a key that is another's.

const encoder = /* @__PURE__ */ new TextEncoder();

export function renewalText(node: string, publicKey: Uint8Array): Uint8Array<ArrayBuffer> {
  const words = encoder.encode(`lattice renew\n${node}\n`);
  const text = new Uint8Array(words.length + publicKey.length + 1);
  text.set(words);
  text.set(publicKey, words.length);
  text[text.length - 1] = 0x0a;
  return text;
}
