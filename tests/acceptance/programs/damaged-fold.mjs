// Preloaded into a server: it folds one bit of the entries with a given word differently, as damaged memory or a defect would. The stored
// entries and their hashes stay as they are.
const decode = TextDecoder.prototype.decode;
const word = process.env.DAMAGED_WORD ?? "";

TextDecoder.prototype.decode = function damaged(...args) {
  const text = decode.apply(this, args);
  return word !== "" && text.includes('"prevHash"') ? text.replaceAll(word, word.toUpperCase()) : text;
};
