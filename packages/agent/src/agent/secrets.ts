// Takes the secrets of the agent out of its environment once they are read: a program that inherited them by mistake
// would show them to its user in /proc.

const SECRETS = /^(AWS_.*|LATTICE_AGENT_TOKEN)$/;

/** Returns the environment as it was. */
export function takeSecrets(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const before = { ...environment };
  for (const name of Object.keys(environment)) if (SECRETS.test(name)) delete environment[name];
  return before;
}
