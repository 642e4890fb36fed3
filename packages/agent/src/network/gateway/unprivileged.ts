// The user that gateways become once they listen.

export const UNPRIVILEGED = 65_534;
