// The library as it is asked for: what it needs is there first, and keys are the platform's.

import "reflect-metadata";
import * as x509 from "@peculiar/x509";

x509.cryptoProvider.set(crypto);

export { x509 };
