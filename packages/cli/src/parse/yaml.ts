// The YAML library, imported dynamically by the code that needs it. It is CommonJS: once bundled, a dynamic
// import of the library itself would have no named exports.

export { parse as parseYaml, stringify as stringifyYaml } from "yaml";
