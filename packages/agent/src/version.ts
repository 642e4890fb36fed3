// The version that the agent tells servers and people.

export const version = "0.1.0";
