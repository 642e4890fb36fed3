// YAML in one place of its own, loaded only by who reads or writes it. The library is CommonJS: a
// dynamic import of it alone would lose its names once bundled.

export { parse as parseYaml, stringify as stringifyYaml } from "yaml";
