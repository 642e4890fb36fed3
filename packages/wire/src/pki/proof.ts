// The message that an agent signs with a new key when it requests a certificate. It binds the key to the node id, so that
// an agent cannot obtain a certificate for a foreign key.

const encoder = /* @__PURE__ */ new TextEncoder();

export function renewalText(node: string, publicKey: Uint8Array): Uint8Array<ArrayBuffer> {
  const words = encoder.encode(`lattice renew\n${node}\n`);
  const text = new Uint8Array(words.length + publicKey.length + 1);
  text.set(words);
  text.set(publicKey, words.length);
  text[text.length - 1] = 0x0a;
  return text;
}
