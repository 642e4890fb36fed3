// Nothing is charged before entries of this version are in use: servers before it know no ledger.
export const LEDGER_VERSION = 2;
