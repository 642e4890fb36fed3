// The public surface: an agent inside another program, as tests and local clusters use it.

export { type Agent, type AgentSurroundings, startAgent } from "./agent.ts";
export { type AgentOptions, parseOptions } from "./options.ts";
export { version } from "./version.ts";
