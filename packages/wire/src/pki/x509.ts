// The X.509 library, prepared for use: its dependencies are loaded and it uses the keys of the platform.

import "reflect-metadata";
import * as x509 from "@peculiar/x509";

x509.cryptoProvider.set(crypto);

export { x509 };
